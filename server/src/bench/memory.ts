import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const BYTES_PER_KIB = 1024;

/** Resident memory of a process in bytes. Throws when it cannot be told, as when the process is gone. */
export async function residentBytes(pid: number): Promise<number> {
  if (process.platform === 'linux') {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * BYTES_PER_KIB;
  }
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) * BYTES_PER_KIB;
}

export interface MemorySample {
  at_ms: number;
  rss_bytes: number;
}

export interface MemoryWatch {
  samples: MemorySample[];
  stop(): void;
}

/** Looks at the memory of a process again and again; `at_ms` counts from now. */
export function watchMemory(pid: number, every_ms: number): MemoryWatch {
  const begun_at_ms = performance.now();
  const samples: MemorySample[] = [];
  const timer = setInterval(() => {
    residentBytes(pid).then(
      (rss_bytes) => samples.push({ at_ms: Math.round(performance.now() - begun_at_ms), rss_bytes }),
      // Gone; whoever waits for its answers will notice.
      () => clearInterval(timer),
    );
  }, every_ms);
  timer.unref();
  return { samples, stop: () => clearInterval(timer) };
}
