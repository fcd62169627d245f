import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

/** A lock that was got: an open file that the kernel holds locked until the last process that has it open is gone. */
export interface FileLock {
  /** To be handed to a child, which then holds the lock too, and hands it on to its own children. */
  fd: number;
  /** Closes the file here. May be called twice. */
  release(): void;
}

/** The file system or the machine has no locks; the message is one line. */
export class FileLockError extends Error {
  override name = 'FileLockError';
}

/** The open(2) flag of macOS and the BSDs that locks the file on opening; Node has no name for it. */
const O_EXLOCK = 0x20;
const { O_RDWR, O_CREAT, O_NONBLOCK } = constants;
const POLL_MS = 25;

function heldBy(fd: number): FileLock {
  let is_open = true;
  return {
    fd,
    release() {
      if (is_open) closeSync(fd);
      is_open = false;
    },
  };
}

/**
 * Linux has flock(2) only, which Node does not call. The lock belongs to the open file and not to a process: what
 * the program locks for us on our open file stays locked when the program has ended.
 */
async function flock(file: string, fd: number): Promise<boolean> {
  const child = spawn('flock', ['-x', '-n', '3'], { stdio: ['ignore', 'ignore', 'pipe', fd] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  }).catch((error: Error) => {
    const message = `The program flock (of util-linux or BusyBox), which locks ${file}, cannot be run (${error.message}). Install it, or set DATABASE_URL.`;
    throw new FileLockError(message, { cause: error });
  });
  const [code, output] = await Promise.all([ended, text(child.stderr as Readable).catch(() => '')]);
  if (code === 0 || (code === 1 && output === '')) return code === 0;
  throw new FileLockError(
    `${file} cannot be locked (${output.trim() || `flock ended with ${code}`}). Set DATA_DIR to a file system that has locks.`,
  );
}

/**
 * Locks a file for this process, or answers null when any other open file has it locked: of another process or of
 * this one, in another container too. The file is made (mode 0600) unless it exists, and is never to be removed. The
 * kernel lets go of the lock when the process ends, however it does, and never before.
 */
export async function tryLock(file: string): Promise<FileLock | null> {
  if (process.platform !== 'linux') {
    try {
      return heldBy(openSync(file, O_RDWR | O_CREAT | O_NONBLOCK | O_EXLOCK, 0o600));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null;
      throw error;
    }
  }
  const lock = heldBy(openSync(file, O_RDWR | O_CREAT, 0o600));
  try {
    if (await flock(file, lock.fd)) return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
  lock.release();
  return null;
}

/** Locks a file as soon as nobody else has it locked. Rejects when the signal is aborted. */
export async function waitForLock(file: string, signal: AbortSignal | undefined): Promise<FileLock> {
  for (;;) {
    signal?.throwIfAborted();
    const lock = await tryLock(file);
    if (lock !== null) return lock;
    await wait(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}
