import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { ConfigError } from '../config.ts';

/** The open(2) flag of macOS and the BSDs that locks the file on opening; Node has no name for it. */
const O_EXLOCK = 0x20;
const { O_RDWR, O_CREAT, O_NONBLOCK } = constants;

const taken = (directory: string) =>
  new ConfigError(
    `GATEWAY_DATA_DIR is ${JSON.stringify(directory)}, and must be a directory that no other gateway uses: one is running there.`,
  );

/**
 * Locks a directory for this process, until it ends, however it ends; the kernel keeps the lock. Returns a function that
 * ends it earlier. Rejects with a `ConfigError` if another gateway has it, or where files cannot be locked.
 */
export async function lockDirectory(directory: string, file: string): Promise<() => void> {
  if (process.platform !== 'linux') {
    try {
      const fd = openSync(file, O_RDWR | O_CREAT | O_NONBLOCK | O_EXLOCK, 0o600);
      return () => closeSync(fd);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') throw taken(directory);
      throw error;
    }
  }
  const fd = openSync(file, O_RDWR | O_CREAT, 0o600);
  // Node does not call flock(2). The lock belongs to the open file, so what the program locks for us stays locked.
  const child = spawn('flock', ['-x', '-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null));
    child.on('close', resolve);
  });
  if (code === 0) return () => closeSync(fd);
  closeSync(fd);
  if (code === 1) throw taken(directory);
  throw new ConfigError(
    `GATEWAY_DATA_DIR is ${JSON.stringify(directory)}, and must be on a file system with locks, on a machine with the program flock (util-linux or BusyBox).`,
  );
}
