import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './postgres-error.ts';
import { openTemporaryDirectory, type PostgresRunner, type SystemUser } from './postgres-user.ts';
import { PORT } from './postmaster-file.ts';
import { isAlive } from './process-identity.ts';

/** Only what PostgreSQL needs: settings of libpq and of the locale in our own environment must not reach it. */
export const POSTGRES_ENVIRONMENT: Readonly<Record<string, string>> = Object.freeze({
  PATH: process.platform === 'win32' ? '' : '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
});

/** Makes the entry of a file or directory in its parent survive a power cut. */
async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  await handle.sync().finally(() => handle.close());
}

async function makePrivateDirectory(dir: string, user: SystemUser | null): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (user !== null) await chown(dir, user.uid, user.gid);
}

function runToEnd(
  runner: PostgresRunner,
  program: 'initdb' | 'postgres',
  args: readonly string[],
): Promise<{ is_ok: boolean; output: string }> {
  const { file, args: all_args, ...user } = runner.command(program, args);
  return new Promise((resolve) => {
    // In a process group of its own, as the server is: Ctrl-C is for the service to handle.
    const child = spawn(file, all_args, {
      ...user,
      cwd: '/',
      detached: true,
      env: { ...POSTGRES_ENVIRONMENT },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString('utf8');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ is_ok: false, output: error.message }));
    child.on('close', (code) => resolve({ is_ok: code === 0, output }));
  });
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
      `${cluster_dir} is not empty and holds no PostgreSQL database. Move it away, or set DATA_DIR to another directory.`,
    );
  }
  if (found !== ours) {
    throw new EmbeddedPostgresError(
      `${cluster_dir} was made by PostgreSQL ${found}, and this version of the service brings PostgreSQL ${ours}, which cannot read it. Dump it with the version that made it and restore it into a new DATA_DIR.`,
    );
  }
}

/**
 * Makes the cluster unless there is one. It is made beside its place and renamed when complete, so that an
 * interruption leaves no half-made cluster. `is_durable` false saves the waiting for the disk, for tests.
 */
export async function prepareCluster(
  cluster_dir: string,
  runner: PostgresRunner,
  is_durable: boolean,
): Promise<void> {
  const parent_dir = dirname(cluster_dir);
  const draft_prefix = `${basename(cluster_dir)}.new-`;
  for (const name of await readdir(parent_dir)) {
    const pid = name.startsWith(draft_prefix) ? Number(name.slice(draft_prefix.length)) : Number.NaN;
    if (pid === process.pid || (pid > 0 && !isAlive(pid))) {
      await rm(join(parent_dir, name), { recursive: true, force: true });
    }
  }
  if (!(await isEmptyOrMissing(cluster_dir))) return checkCluster(cluster_dir, runner);

  const draft = join(parent_dir, `${draft_prefix}${process.pid}`);
  await makePrivateDirectory(draft, runner.user);
  const { is_ok, output } = await runToEnd(runner, 'initdb', [
    `--pgdata=${draft}`,
    '--username=postgres',
    '--encoding=UTF8',
    // Compares bytes, as --locale=C does, and folds the case of all letters, not of ASCII alone. It is built in:
    // an update of the operating system cannot change the order of an index.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    // Only the Unix socket, which lies in a directory that only we can enter.
    '--auth-local=trust',
    '--auth-host=reject',
    '--no-instructions',
    ...(is_durable ? [] : ['--no-sync']),
  ]);
  if (!is_ok) {
    await rm(draft, { recursive: true, force: true });
    throw new EmbeddedPostgresError(`PostgreSQL could not make its database:${lastLines(output)}`);
  }
  await rename(draft, cluster_dir);
  await syncDirectory(parent_dir);
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
