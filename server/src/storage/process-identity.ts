import { readFileSync } from 'node:fs';

/** Whether the system knows a process with this id, ours or not. It may have ended and wait for its parent. */
export function isKnown(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The fields of /proc/<pid>/stat from the third (the state) on; null where the system does not tell. */
function readStatus(pid: number): string[] | null {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the program's name, may hold spaces and parentheses.
    return status.slice(status.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** Whether a process with this id runs, ours or not. */
export function isAlive(pid: number): boolean {
  return isKnown(pid) && readStatus(pid)?.[0] !== 'Z';
}

/**
 * When a process started, in the kernel's clock ticks since boot, as text: with the process id it names one
 * process for good, since ids are used again. Null where the system does not tell (other than Linux) or when
 * there is no such process.
 */
export function processStartTime(pid: number): string | null {
  return readStatus(pid)?.[19] ?? null;
}
