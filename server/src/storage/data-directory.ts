import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { lockDataDirectory } from './data-directory-lock.ts';

/** The data directory cannot be used. The message is one line: what is wrong and what the operator can do. */
export class DataDirectoryError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'DataDirectoryError';
  }
}

/** Another process has the data directory for itself. */
export class DataDirectoryInUse extends DataDirectoryError {
  override name = 'DataDirectoryInUse';
}

/** A data directory that exists and can be written. */
export interface DataDirectory {
  /** Absolute. */
  dir: string;
  /** Gives the lock back, if it was taken. May be called twice. */
  release(): Promise<void>;
}

export interface OpenDataDirectoryOptions {
  /**
   * `exclusive` is for the service: no second one may run on the directory. `none` is for commands that work
   * beside it.
   */
  lock: 'exclusive' | 'none';
  /** Called with a sentence when opening takes a while, since a lock of unclear state is being watched. */
  onWait?: (message: string) => void;
  /** Called when the lock file was removed or replaced while we held it. */
  onLockLost?: () => void;
}

const KEY_FILE = 'secret-key';
const KEY_BYTES = 32;

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

function cannotWrite(dir: string, error: unknown): DataDirectoryError {
  const uid = process.getuid?.();
  const who = uid === undefined ? '' : ` by user ${uid}`;
  return new DataDirectoryError(
    `The data directory ${dir} cannot be written${who} (${reasonOf(error)}). Let that user write there, or set DATA_DIR to another directory.`,
    { cause: error },
  );
}

/** Like a recursive `mkdir`, which in Node 20 never returns below /proc. */
async function makeDirectory(dir: string): Promise<void> {
  try {
    await mkdir(dir, { mode: 0o700 });
  } catch (error) {
    if (reasonOf(error) === 'EEXIST' && (await stat(dir)).isDirectory()) return;
    const parent_dir = dirname(dir);
    const is_parent_missing = (await stat(parent_dir).catch(reasonOf)) === 'ENOENT';
    if (reasonOf(error) !== 'ENOENT' || !is_parent_missing) throw error;
    await makeDirectory(parent_dir);
    await mkdir(dir, { mode: 0o700 });
  }
}

/**
 * Makes the directory unless it exists (mode 0700), checks that it can be written and takes its lock. Throws
 * `DataDirectoryError` when it cannot be written, `DataDirectoryInUse` when another process holds the lock; nothing in it is changed then.
 */
export async function openDataDirectory(
  path: string,
  options: OpenDataDirectoryOptions,
): Promise<DataDirectory> {
  const dir = resolve(path);
  try {
    await makeDirectory(dir);
    const probe = join(dir, `.write-probe-${randomBytes(6).toString('hex')}`);
    await (await open(probe, 'wx', 0o600)).close();
    await rm(probe);
  } catch (error) {
    throw cannotWrite(dir, error);
  }
  if (options.lock === 'none') return { dir, release: async () => undefined };

  const result = await lockDataDirectory(dir, options);
  if ('held_by' in result) {
    throw new DataDirectoryInUse(
      `The data directory ${dir} is in use by ${result.held_by}. Stop that one first, or set DATA_DIR to another directory.`,
    );
  }
  return { dir, release: result.release };
}

async function readSecretKey(file: string): Promise<Buffer | null> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (reasonOf(error) === 'ENOENT') return null;
    throw new DataDirectoryError(
      `The secret key ${file} cannot be read (${reasonOf(error)}). Let the service's user read it.`,
      { cause: error },
    );
  }
  const key = Buffer.from(text, 'base64');
  if (key.length !== KEY_BYTES || key.toString('base64') !== text) {
    throw new DataDirectoryError(
      `The secret key ${file} is damaged: it must hold ${KEY_BYTES} bytes in base64. Restore it from a backup; without it no existing key works.`,
    );
  }
  return key;
}

/** Puts a complete file in place unless there is one; whether this one was put there. */
async function placeNewFile(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (reasonOf(error) === 'EEXIST') return false;
    // Some file systems have no hard links.
    if ((await stat(file).catch(() => null)) !== null) return false;
    await rename(draft, file);
    return true;
  }
}

/**
 * The secret key of the data directory: 32 bytes from `secret-key` (base64, mode 0600), made with `random` when
 * there is none. To be called before the database is made, since a database without its key is refused: a new
 * key would shut out every existing one. Throws `DataDirectoryError` when the file is damaged or missing.
 */
export async function loadSecretKey(
  data_dir: string,
  random: (bytes: number) => Buffer = randomBytes,
): Promise<Buffer> {
  const file = join(data_dir, KEY_FILE);
  const found = await readSecretKey(file);
  if (found !== null) {
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600).catch(() => undefined);
    return found;
  }
  if ((await stat(join(data_dir, 'postgres')).catch(() => null)) !== null) {
    throw new DataDirectoryError(
      `The secret key ${file} is missing although the database exists. Restore it from a backup, or set SECRET_KEY as it was set when the database was made; with another key no existing key works.`,
    );
  }

  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${random(KEY_BYTES).toString('base64')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await placeNewFile(draft, file);
    const directory = await open(data_dir, 'r');
    await directory.sync().finally(() => directory.close());
  } catch (error) {
    throw cannotWrite(data_dir, error);
  } finally {
    await rm(draft, { force: true });
  }
  // Ours, or that of a process which was first: the file is what counts.
  const key = await readSecretKey(file);
  if (key === null) throw cannotWrite(data_dir, new Error(`${file} vanished`));
  return key;
}
