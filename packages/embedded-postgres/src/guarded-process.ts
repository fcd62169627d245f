import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import type { FileLock } from './file-lock.ts';
import type { PostgresCommand } from './system-user.ts';

/** Only what PostgreSQL needs: settings of libpq and of the locale in our own environment must not reach it. */
export const POSTGRES_ENVIRONMENT: Readonly<Record<string, string>> = Object.freeze({
  PATH: process.platform === 'win32' ? '' : '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  // What a batch of writes needed, glibc gives back to the kernel, and faults in anew with the next batch, unless it may
  // keep some megabytes a connection (measured: an eighth of PostgreSQL's processor time a decision).
  MALLOC_TRIM_THRESHOLD_: String(8 * 1024 * 1024),
  MALLOC_MMAP_THRESHOLD_: String(4 * 1024 * 1024),
});

/** How long the program may take to end when asked (a fast shutdown), and when told (an immediate one), seconds. */
const END_FAST_S = 8;
const END_AT_ONCE_S = 3;

/**
 * Runs the program of its arguments and ends it when the other end of file 3 is closed, which the kernel does for a
 * process that is killed. SIGTERM comes first because a shell's background process ignores SIGINT until the program
 * has a handler of its own; to a PostgreSQL that runs, SIGINT says the more urgent thing. The program does not have
 * file 3 open; what watches it does not hold its lock (file 4) nor its output. SIGINT to all of them is for the
 * program alone.
 */
const GUARD = `
"$@" 3<&- &
program=$!
{
  read -r _ <&3
  kill -TERM "$program"
  kill -INT "$program"
  sleep ${END_FAST_S}
  kill -QUIT "$program"
  sleep ${END_AT_ONCE_S}
  kill -KILL "$program"
} 4<&- >/dev/null 2>&1 &
watch=$!
trap '' INT
exec 3<&-
wait "$program"
status=$?
kill "$watch"
exit "$status"
`;

/** A program that runs no longer than we do. */
export interface GuardedProcess {
  child: ChildProcess;
  /** Resolves with the reason when it has ended; never rejects. */
  exited: Promise<string>;
  /** Ends it: as its guard does when we are killed. */
  end(): void;
}

/** The exit code as a shell reports it: the program's own, or 128 plus the signal that ended it. */
function reasonOf(code: number | null, signal: string | null): string {
  if (signal !== null) return `signal ${signal}`;
  const ended_by = Object.entries(constants.signals).find(([, number]) => number + 128 === code);
  return ended_by === undefined ? `exit code ${code}` : `signal ${ended_by[0]}`;
}

/**
 * Starts a program of PostgreSQL which ends when this process does, even when that is killed or stopped and killed:
 * within 11 seconds, and at once as a rule. The program and all its children hold the lock, so that it is free when
 * the last of them is gone.
 */
export function spawnGuarded(
  command: PostgresCommand,
  lock: FileLock,
  output: number | 'pipe',
): GuardedProcess {
  const { file, args, ...user } = command;
  // In a session of its own: a terminal's Ctrl-C goes to its whole process group, and the database has to outlive
  // the requests that are still in flight.
  const child = spawn('/bin/sh', ['-c', GUARD, 'purser-guard', file, ...args], {
    ...user,
    cwd: '/',
    detached: true,
    env: { ...POSTGRES_ENVIRONMENT },
    stdio: ['ignore', output, output, 'pipe', lock.fd],
  });
  const lifeline = child.stdio[3] as Socket | undefined;
  const end = () => void lifeline?.destroy();
  // A guard of which any part was killed ends nothing any more; its program is still of its process group.
  const endUnguarded = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    } catch {
      // Nothing is left of it.
    }
  };
  const exited = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => resolve(reasonOf(code, signal)));
  });
  void exited.then(end).then(endUnguarded);
  lifeline?.on('error', () => undefined).on('end', endUnguarded);
  lifeline?.resume();
  return { child, exited, end };
}
