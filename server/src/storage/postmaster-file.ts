import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { isAlive, isKnown } from './process-identity.ts';

/** How to reach a database of the embedded PostgreSQL; accepted by `pg` as it is. */
export interface PostgresConnection {
  /** Directory of the Unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
}

/** Names the socket; no network port is opened. */
export const PORT = 5432;

/** The superuser that initdb makes, and the database that always exists. */
export const SUPERUSER = { user: 'postgres', database: 'postgres' } as const;

/** What a running PostgreSQL writes about itself into its cluster directory. */
export interface PostmasterFile {
  pid: number;
  port: number;
  socket_dir: string;
}

/** Reads `postmaster.pid`; null when there is none or it is not written completely yet. */
export async function readPostmasterFile(cluster_dir: string): Promise<PostmasterFile | null> {
  const text = await readFile(join(cluster_dir, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port, socket_dir] = text.split('\n');
  const file = { pid: Number(pid), port: Number(port), socket_dir: socket_dir?.trim() ?? '' };
  return file.pid > 0 && file.port > 0 && file.socket_dir !== '' ? file : null;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Runs one piece of work on a connection of its own, which is closed whatever happens. */
export async function withClient<T>(
  connection: PostgresConnection,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'purser-supervisor',
  });
  // A connection that breaks rejects the query in progress; without a listener it would also end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether a PostgreSQL answers there and works on this very cluster. */
export async function answersFor(connection: PostgresConnection, cluster_dir: string): Promise<boolean> {
  const real_dir = await realpath(cluster_dir);
  return withClient({ ...connection, ...SUPERUSER }, async (client) => {
    const shown = await client.query<{ data_directory: string }>('show data_directory');
    return (await realpath(shown.rows[0]?.data_directory ?? '')) === real_dir;
  }).catch(() => false);
}

/**
 * Whether a process works on the cluster. PostgreSQL's processes stay in their cluster directory, which Linux
 * lets us see; null where it cannot be seen.
 */
export async function worksOn(pid: number, cluster_dir: string): Promise<boolean | null> {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return null;
  const current_dir = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  return current_dir === null ? null : current_dir === (await realpath(cluster_dir));
}

/**
 * Removes the lock files of a PostgreSQL that is gone, in its cluster and beside its socket, when the process id
 * in them is still taken: by another process of the same user (a container started again counts from the same
 * numbers) or by its own remains that nobody has collected. PostgreSQL would take that for a running server and
 * refuse to start. Nothing is removed as long as any process is seen in the cluster directory; all other
 * leftovers are PostgreSQL's own business.
 */
export async function removeMisleadingLockFiles(cluster_dir: string, socket_dir: string): Promise<void> {
  if (process.platform !== 'linux') return;
  const misleading: string[] = [];
  for (const file of [join(cluster_dir, 'postmaster.pid'), join(socket_dir, `.s.PGSQL.${PORT}.lock`)]) {
    const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
    if (pid > 0 && isKnown(pid) && (await worksOn(pid, cluster_dir)) === false) misleading.push(file);
  }
  if (misleading.length === 0) return;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids) {
    if ((await worksOn(pid, cluster_dir)) === true) return;
  }
  for (const file of misleading) await rm(file, { force: true });
}
