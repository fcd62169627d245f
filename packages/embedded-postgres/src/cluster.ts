import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { EmbeddedPostgresError } from './error.ts';
import { type FileLock, tryLock, waitForLock } from './file-lock.ts';
import { spawnGuarded } from './guarded-process.ts';
import { endLeftPostmaster, PORT } from './postmaster-file.ts';
import { nameOfUser, openTemporaryDirectory, type PostgresRunner, type SystemUser } from './system-user.ts';

/** Makes the entry of a file or directory in its parent survive a power cut. */
async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  await handle.sync().finally(() => handle.close());
}

async function makePrivateDirectory(dir: string, user: SystemUser | null): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (user !== null) await chown(dir, user.uid, user.gid);
}

async function runToEnd(
  runner: PostgresRunner,
  lock: FileLock,
  args: readonly string[],
): Promise<{ is_ok: boolean; output: string }> {
  const { child, exited } = spawnGuarded(runner.command('initdb', args), lock, 'pipe');
  const read = (stream: Readable | null) => (stream === null ? '' : text(stream).catch(() => ''));
  const [reason, ...output] = await Promise.all([exited, read(child.stdout), read(child.stderr)]);
  const is_ok = reason === 'exit code 0';
  return { is_ok, output: is_ok || output.join('') !== '' ? output.join('') : reason };
}

/** The last lines of a program's output, as one indented block for an error message. */
export function lastLines(output: string, count = 12): string {
  const lines = output.trimEnd().split('\n').slice(-count);
  return lines.map((line) => `\n  ${line}`).join('');
}

async function isEmptyOrMissing(dir: string): Promise<boolean> {
  return (await readdir(dir).catch(() => [])).length === 0;
}

/** The cluster is of the major version that we bring; PostgreSQL reads no other. */
async function checkCluster(cluster_dir: string, runner: PostgresRunner): Promise<void> {
  const found = (await readFile(join(cluster_dir, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  const ours = runner.binaries.version.split('.')[0] ?? '';
  if (found === '') {
    throw new EmbeddedPostgresError(
      `${cluster_dir} is not empty and is not a PostgreSQL database. Move it away, or set DATA_DIR to another directory.`,
    );
  }
  if (found !== ours) {
    throw new EmbeddedPostgresError(
      `${cluster_dir} was created by PostgreSQL ${found}, but this version of the service includes PostgreSQL ${ours}, which cannot read it. Dump it with the version that created it and restore it into a new DATA_DIR.`,
    );
  }
}

/** `onWait` is called once if there is something to wait for. */
export interface Waiting {
  signal?: AbortSignal;
  onWait?: () => void;
}

/**
 * Locks a cluster as soon as no process of an earlier PostgreSQL is left on it. Whoever holds this may start one, and
 * what an earlier one left in files is of no meaning any more.
 */
export async function lockCluster(cluster_dir: string, waiting: Waiting = {}): Promise<FileLock> {
  const file = `${cluster_dir}.lock`;
  const lock = await tryLock(file);
  if (lock !== null) return lock;
  waiting.onWait?.();
  await endLeftPostmaster(cluster_dir);
  return waitForLock(file, waiting.signal);
}

/**
 * Makes the cluster unless there is one. It is made beside its place and renamed when complete, so that an
 * interruption leaves no half-made cluster. `is_durable` false saves the waiting for the disk, for tests.
 */
export async function prepareCluster(
  cluster_dir: string,
  runner: PostgresRunner,
  is_durable: boolean,
  waiting: Waiting = {},
): Promise<void> {
  const lock = await lockCluster(cluster_dir, waiting);
  try {
    await prepareLocked(cluster_dir, runner, is_durable, lock);
  } finally {
    lock.release();
  }
}

async function prepareLocked(
  cluster_dir: string,
  runner: PostgresRunner,
  is_durable: boolean,
  lock: FileLock,
): Promise<void> {
  const parent_dir = dirname(cluster_dir);
  const draft = `${cluster_dir}.new`;
  for (const name of await readdir(parent_dir)) {
    if (name.startsWith(basename(draft))) await rm(join(parent_dir, name), { recursive: true, force: true });
  }
  if (!(await isEmptyOrMissing(cluster_dir))) return checkCluster(cluster_dir, runner);

  await makePrivateDirectory(draft, runner.user);
  const { is_ok, output } = await runToEnd(runner, lock, [
    `--pgdata=${draft}`,
    '--username=postgres',
    '--encoding=UTF8',
    // Compares bytes, as --locale=C does, and folds the case of all letters, not of ASCII alone. It is built in:
    // an update of the operating system cannot change the order of an index.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    // Until `writeAccess` says more.
    '--auth-local=reject',
    '--auth-host=reject',
    '--no-instructions',
    ...(is_durable ? [] : ['--no-sync']),
  ]);
  if (!is_ok) {
    await rm(draft, { recursive: true, force: true });
    throw new EmbeddedPostgresError(`PostgreSQL could not create its database:${lastLines(output)}`);
  }
  await rename(draft, cluster_dir);
  await syncDirectory(parent_dir);
}

const ACCESS_MAP = 'purser';

/** The settings that name the files of `writeAccess`, so that no file in the cluster names others. */
export function accessSettings(cluster_dir: string): { hba_file: string; ident_file: string } {
  return { hba_file: join(cluster_dir, 'pg_hba.conf'), ident_file: join(cluster_dir, 'pg_ident.conf') };
}

/**
 * Says who may connect, in place of what the cluster's files said: through the Unix socket, by what the kernel tells
 * of the other end, root and the system users that run us and PostgreSQL. Each as any role, since whoever may be
 * the superuser may be everyone. To be called before each start of PostgreSQL, with the cluster locked.
 * Throws `EmbeddedPostgresError` when our own system user has no name, by which alone PostgreSQL knows users.
 */
export async function writeAccess(cluster_dir: string, runner: PostgresRunner): Promise<void> {
  const own_name = await nameOfUser(null);
  if (own_name === null) {
    throw new EmbeddedPostgresError(
      `User ${process.geteuid?.()}, who runs the service, has no name on this system, but PostgreSQL authenticates by name. Add the user to /etc/passwd, run the service as another user, or set DATABASE_URL.`,
    );
  }
  // Root could become the others anyway; named, it can run a command beside a service of another user.
  const names = new Set(['root', own_name, (await nameOfUser(runner.user)) ?? own_name]);
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
  const { hba_file, ident_file } = accessSettings(cluster_dir);
  const mapped = [...names].map((name) => `${ACCESS_MAP} ${quoted(name)} all`);
  await replaceFile(ident_file, mapped, runner.user);
  await replaceFile(hba_file, [`local all,replication all peer map=${ACCESS_MAP}`], runner.user);
}

/** The directory is another user's, who could have put a link there for root to write through. */
async function replaceFile(file: string, lines: readonly string[], user: SystemUser | null): Promise<void> {
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', 0o600);
  try {
    const header = '# Rewritten at each start of the service.';
    await handle.writeFile([header, ...lines, ''].join('\n'));
    if (user !== null) await handle.chown(user.uid, user.gid);
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

/** The longest path of a Unix socket is 103 bytes on macOS and 107 on Linux. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Makes the directory of the Unix socket, which only the user who runs PostgreSQL (and root) can enter: in the
 * data directory, or, where that path is too long for a socket, below the directory for temporary files.
 */
export async function prepareSocketDirectory(data_dir: string, runner: PostgresRunner): Promise<string> {
  const inside = join(data_dir, 'socket');
  if (Buffer.byteLength(join(inside, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_PATH_BYTES) {
    await makePrivateDirectory(inside, runner.user);
    await chmod(inside, 0o700);
    return inside;
  }

  const parent_dir = runner.user === null ? tmpdir() : await openTemporaryDirectory(runner.user);
  const name = `purser-${createHash('sha256').update(data_dir).digest('hex').slice(0, 16)}`;
  const dir = join(parent_dir, name);
  await mkdir(dir, { mode: 0o700 }).then(
    () => makePrivateDirectory(dir, runner.user),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  // Another user of this machine could have made a directory of that name first, to listen in.
  const found = await lstat(dir);
  const uid = runner.user?.uid ?? process.getuid?.();
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new EmbeddedPostgresError(
      `${dir}, the directory for PostgreSQL's socket, is not a directory that only user ${uid} can enter. Remove it and start again, or set DATA_DIR to a shorter path.`,
    );
  }
  return dir;
}
