import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const BYTES_PER_KIB = 1024;
/** What Linux counts processor time in, on every platform that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Resident memory of a process in bytes. Throws when it cannot be told, as when the process is gone. */
async function residentBytes(pid: number): Promise<number> {
  if (process.platform === 'linux') {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * BYTES_PER_KIB;
  }
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) * BYTES_PER_KIB;
}

/** What `/proc/<pid>/stat` tells: the parent, and the ticks of the process and of its children that ended. */
export function readStat(text: string): { parent: number; own: number; ended: number } {
  // The program's name may hold anything, so the fields are counted from its closing bracket.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const at = (place: number) => fields[place - 3] as number;
  return { parent: at(4), own: at(14) + at(15), ended: at(16) + at(17) };
}

/**
 * Processor time that a process and all its children have used, those that ended among them, seconds. Null where
 * the system does not tell (all but Linux).
 */
export async function processorSeconds(pid: number): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  let ticks = 0;
  for (const each of pids) {
    const text = await readFile(`/proc/${each}/stat`, 'utf8').catch(() => null);
    if (text === null) continue;
    const { parent, own, ended } = readStat(text);
    if (each === pid) ticks += own + ended;
    else if (parent === pid) ticks += own;
  }
  return ticks / TICKS_PER_SECOND;
}

/** Looks at the memory of a process again and again until it is stopped, which gives all samples, bytes. */
export function watchMemory(pid: number, every_ms: number): { stop(): number[] } {
  const samples: number[] = [];
  const timer = setInterval(() => {
    residentBytes(pid).then(
      (bytes) => samples.push(bytes),
      // Gone; whoever waits for its answers will notice.
      () => clearInterval(timer),
    );
  }, every_ms);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      return samples;
    },
  };
}
