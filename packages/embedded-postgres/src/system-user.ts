import { execFile } from 'node:child_process';
import { chmod, chown, readFile, realpath, stat } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { copyForOtherUser, type PostgresBinaries } from './binaries.ts';
import { EmbeddedPostgresError } from './error.ts';

const run = promisify(execFile);

/** A user of the operating system. */
export interface SystemUser {
  uid: number;
  gid: number;
}

/** How PostgreSQL's programs are started: under which user, and through which command. */
export interface PostgresRunner {
  binaries: PostgresBinaries;
  /** The user PostgreSQL runs as when it is not ours; its files have to belong to it. */
  user: SystemUser | null;
  /** File, arguments and spawn options that run one of the programs. */
  command(program: 'postgres' | 'initdb', args: readonly string[]): PostgresCommand;
}

export interface PostgresCommand {
  file: string;
  args: string[];
  uid?: number;
  gid?: number;
}

/** The name of a system user, or our own. Null when there is none, as in a container that is run under any number. */
export async function nameOfUser(user: SystemUser | null): Promise<string | null> {
  try {
    return user === null ? userInfo().username : (await run('id', ['-un'], user)).stdout.trim() || null;
  } catch {
    return null;
  }
}

async function userNamed(name: string): Promise<SystemUser | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    // Some systems print the nobody user's -2 as an unsigned number, which spawn would refuse.
    return { uid: Number(uid.stdout) | 0, gid: Number(gid.stdout) | 0 };
  } catch {
    return null;
  }
}

/**
 * The unprivileged user under whom root runs PostgreSQL, which refuses to run as root: the owner of the cluster
 * if there is one, else `postgres`, else `nobody`. Null when the process is not root and needs no other user.
 */
export async function choosePostgresUser(cluster_dir: string): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null;
  const owner = await stat(cluster_dir).catch(() => null);
  if (owner !== null && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const user = (await userNamed('postgres')) ?? (await userNamed('nobody'));
  if (user !== null && user.uid !== 0) return user;
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and there is no user postgres or nobody to run it as. Start the service as another user, or set DATABASE_URL.',
  );
}

/** By owner, group and mode, as the kernel judges a user without supplementary groups. */
function mayEnter(found: { uid: number; gid: number; mode: number }, user: SystemUser): boolean {
  if (found.uid === user.uid) return (found.mode & 0o100) !== 0;
  if (found.gid === user.gid) return (found.mode & 0o010) !== 0;
  return (found.mode & 0o001) !== 0;
}

/** The first directory on the way from the root to `path`, `path` included, that the user cannot enter. */
export async function firstClosedDirectory(path: string, user: SystemUser): Promise<string | null> {
  const ancestors = [await realpath(path)];
  while (dirname(ancestors[0] ?? '/') !== ancestors[0]) ancestors.unshift(dirname(ancestors[0] ?? '/'));
  for (const ancestor of ancestors) {
    if (!mayEnter(await stat(ancestor), user)) return ancestor;
  }
  return null;
}

/** A directory for temporary files that the user can enter. Throws `EmbeddedPostgresError` when there is none. */
export async function openTemporaryDirectory(user: SystemUser): Promise<string> {
  for (const dir of [tmpdir(), '/tmp', '/var/tmp']) {
    if ((await firstClosedDirectory(dir, user).catch(() => dir)) === null) return dir;
  }
  throw new EmbeddedPostgresError(
    `No directory for temporary files is accessible to user ${user.uid}, who runs PostgreSQL. Set DATABASE_URL, or start the service as another user.`,
  );
}

/**
 * The smallest capability that lets a process pass directories closed to it. Containers are often denied the
 * first, which only reads and searches, and granted the second.
 */
async function passingCapability(): Promise<'dac_read_search' | 'dac_override' | null> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  if ((effective & (1n << 2n)) !== 0n) return 'dac_read_search';
  return (effective & (1n << 1n)) !== 0n ? 'dac_override' : null;
}

/**
 * Decides how to run PostgreSQL for a data directory. As root that is under another user, for whom `data_dir`
 * itself is opened (its group may pass, nobody else); where the programs or the data directory lie below a
 * directory closed to that user, the programs are copied to an open place and the right to pass is handed on.
 * Throws `EmbeddedPostgresError` when that cannot be done here.
 */
export async function makePostgresRunner(
  binaries: PostgresBinaries,
  data_dir: string,
  cluster_dir: string,
): Promise<PostgresRunner> {
  const user = await choosePostgresUser(cluster_dir);
  if (user === null) {
    return {
      binaries,
      user,
      command: (program, args) => ({ file: join(binaries.dir, 'bin', program), args: [...args] }),
    };
  }

  const data = await stat(data_dir);
  if (data.uid === 0 && !mayEnter(data, user)) {
    await chown(data_dir, 0, user.gid);
    await chmod(data_dir, (data.mode & 0o7707) | 0o010);
  }
  const is_reachable = (await firstClosedDirectory(join(binaries.dir, 'bin'), user)) === null;
  const reachable = is_reachable
    ? binaries
    : await copyForOtherUser(binaries, await openTemporaryDirectory(user));
  const program_path = (program: string) => join(reachable.dir, 'bin', program);

  const closed = await firstClosedDirectory(data_dir, user);
  if (closed === null) {
    return {
      binaries: reachable,
      user,
      command: (program, args) => ({ file: program_path(program), args: [...args], ...user }),
    };
  }

  const capability = await passingCapability();
  const set_privileges = [
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    `--inh-caps=+${capability}`,
    `--ambient-caps=+${capability}`,
    '--',
  ];
  const works =
    capability !== null &&
    (await run('setpriv', [...set_privileges, program_path('postgres'), '--version']).then(
      () => true,
      () => false,
    ));
  if (!works) {
    throw new EmbeddedPostgresError(
      `PostgreSQL does not run as root, and user ${user.uid}, who would run it, cannot enter ${closed}, where ${basename(data_dir)} lies. Set DATA_DIR to a place that user can reach, such as /var/lib/purser, install setpriv (util-linux), or set DATABASE_URL.`,
    );
  }
  return {
    binaries: reachable,
    user,
    command: (program, args) => ({
      file: 'setpriv',
      args: [...set_privileges, program_path(program), ...args],
    }),
  };
}
