import { randomBytes } from 'node:crypto';
import { ftruncateSync, writeSync } from 'node:fs';
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type FileLock, FileLockError, tryLock } from '@purser/embedded-postgres';

/** The data directory cannot be used. The message is one line with the problem and what the operator can do. */
export class DataDirectoryError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'DataDirectoryError';
  }
}

/** Another process has locked the data directory. */
export class DataDirectoryInUse extends DataDirectoryError {
  override name = 'DataDirectoryInUse';
}

/** A data directory that exists, is writable, and is locked by this process. */
export interface DataDirectory {
  /** Absolute. */
  dir: string;
  /** Releases the lock. May be called twice. */
  release(): void;
}

const LOCK_FILE = 'purser.lock';
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

/** A recursive `mkdir`. The one of Node 20 never returns below /proc. */
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

/** Returns the owner of the lock as written into it, for an operator who has to find that process. */
async function readHolder(file: string): Promise<string> {
  const holder = (await readFile(file, 'utf8').catch(() => '')).trim();
  return holder === '' ? 'another Purser service' : `another Purser service, ${holder}`;
}

/**
 * Makes the directory unless it exists (mode 0700), checks that it is writable and locks it for this process. The
 * kernel holds the lock for as long as the process lives. Throws `DataDirectoryError` if one of these fails, and
 * `DataDirectoryInUse` if another process has locked it; it then changes nothing in the directory.
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const dir = resolve(path);
  const file = join(dir, LOCK_FILE);
  let lock: FileLock | null;
  try {
    await makeDirectory(dir);
    const probe = join(dir, `.write-probe-${randomBytes(6).toString('hex')}`);
    await (await open(probe, 'wx', 0o600)).close();
    await rm(probe);
    lock = await tryLock(file);
  } catch (error) {
    if (error instanceof FileLockError) throw new DataDirectoryError(error.message, { cause: error });
    throw cannotWrite(dir, error);
  }
  if (lock === null) {
    throw new DataDirectoryInUse(
      `The data directory ${dir} is in use by ${await readHolder(file)}. Stop that service first, or set DATA_DIR to another directory.`,
    );
  }
  ftruncateSync(lock.fd);
  writeSync(lock.fd, `process ${process.pid} on ${hostname()}\n`);
  return { dir, release: lock.release };
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
      `The secret key ${file} is damaged: it must contain ${KEY_BYTES} bytes in base64. Restore it from a backup; without it no existing key works.`,
    );
  }
  return key;
}

/** Creates a complete file unless one exists. Returns whether it was created. */
async function placeNewFile(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (reasonOf(error) === 'EEXIST') return false;
    // Some file systems do not support hard links.
    if ((await stat(file).catch(() => null)) !== null) return false;
    await rename(draft, file);
    return true;
  }
}

/**
 * Makes a file of the data directory that holds a line of text (mode 0600), unless there is one. It is on the disk when this
 * resolves. Throws `DataDirectoryError` if it cannot be written.
 */
export async function makeSecretFile(data_dir: string, name: string, text: string): Promise<void> {
  const file = join(data_dir, name);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await makeDirectory(data_dir);
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${text}\n`);
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
}

/**
 * Returns the secret key of the data directory: 32 bytes from `secret-key` (base64, mode 0600), made with `random` if
 * there is none. It must be called before the database is made: a database whose key is missing is refused, because a
 * new key would invalidate every existing API key. Throws `DataDirectoryError` if the file is damaged or missing.
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
      `The secret key ${file} is missing, but the database exists. Restore it from a backup, or set SECRET_KEY to the value used when the database was created; with another key no existing key works.`,
    );
  }

  await makeSecretFile(data_dir, KEY_FILE, random(KEY_BYTES).toString('base64'));
  // The file may have been made by another process that was faster, so its content counts.
  const key = await readSecretKey(file);
  if (key === null) throw cannotWrite(data_dir, new Error(`${file} vanished`));
  return key;
}
