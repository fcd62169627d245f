import { accessSync, constants, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const TMPFS = 0x01021994;
/** Runs of parts were seen with 50 to 120 MB; PostgreSQL's log may grow to all of this. Containers often have 64 MB. */
const ENOUGH_BYTES = 2 * 2 ** 30;
const DAY_MS = 86_400_000;

function isRoomy(dir: string): boolean {
  if (process.platform !== 'linux' || process.env.TMPDIR !== undefined) return false;
  try {
    accessSync(dir, constants.W_OK);
    const { type, bavail, bsize } = statfsSync(dir);
    return type === TMPFS && bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/**
 * The directory in which tests make data directories: in memory where there is room for it and TMPDIR names no other,
 * else that for temporary files. A database is 800 files, and ext4 searches long for free inodes while others are
 * removed (measured, a copy of the template and its removal: 110 to 600 ms of CPU, in memory 18 ms). It may forbid to
 * run programs.
 */
export const DATA_PARENT = isRoomy(MEMORY) ? MEMORY : tmpdir();

/** Removes from memory what runs left that were killed a day ago or earlier. */
export function removeLeftData(): void {
  if (DATA_PARENT !== MEMORY) return;
  for (const name of readdirSync(MEMORY)) {
    if (!name.startsWith('purser-')) continue;
    const dir = join(MEMORY, name);
    // Another run may remove its own directory at this moment.
    const found = statSync(dir, { throwIfNoEntry: false });
    if (found === undefined || found.uid !== process.geteuid?.()) continue;
    if (Date.now() - found.mtimeMs > DAY_MS) rmSync(dir, { recursive: true, force: true });
  }
}
