import { readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgresError } from './error.ts';

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

/** The file that a running PostgreSQL writes into its cluster directory. */
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

/** The error for a system user that `pg_hba.conf` does not admit. */
const NOT_LET_IN = '28000';

/**
 * Whether a PostgreSQL answers there and works on this very cluster.
 * Throws `EmbeddedPostgresError` when it does not let our system user in.
 */
export async function answersFor(connection: PostgresConnection, cluster_dir: string): Promise<boolean> {
  const real_dir = await realpath(cluster_dir);
  return withClient({ ...connection, ...SUPERUSER }, async (client) => {
    const shown = await client.query<{ data_directory: string }>('show data_directory');
    return (await realpath(shown.rows[0]?.data_directory ?? '')) === real_dir;
  }).catch((error: { code?: string; message?: string }) => {
    if (error.code !== NOT_LET_IN) return false;
    throw new EmbeddedPostgresError(
      `PostgreSQL runs on ${cluster_dir} and accepts only root, its own system user and the service's user (${error.message}). Run this as one of them.`,
    );
  });
}

/**
 * Asks the server on a cluster to shut down which nobody may need any more: one that lost its service and its guard
 * at once. It sends the signal itself, since its process id means nothing in another container. One that does not
 * answer ends within a minute, when it finds its file gone. The caller holds the lock of the data directory.
 */
export async function endLeftPostmaster(cluster_dir: string): Promise<void> {
  const file = await readPostmasterFile(cluster_dir);
  if (file === null) return;
  const connection = { host: file.socket_dir, port: file.port, ...SUPERUSER };
  if (await answersFor(connection, cluster_dir).catch(() => false)) {
    const text = `copy (select) to program 'kill -INT "$(head -n 1 postmaster.pid)"'`;
    await withClient(connection, (client) => client.query(text)).catch(() => undefined);
  }
  await rm(join(cluster_dir, 'postmaster.pid'), { force: true });
}

/**
 * Removes the lock files that a PostgreSQL left in its cluster and beside its socket. The process id in them may
 * belong to another process by now (a container started again counts from the same numbers), and PostgreSQL would
 * take that for a running server and refuse to start. The caller holds the cluster's lock, which no PostgreSQL has
 * any more.
 */
export async function removeLeftLockFiles(cluster_dir: string, socket_dir: string): Promise<void> {
  await rm(join(cluster_dir, 'postmaster.pid'), { force: true });
  await rm(join(socket_dir, `.s.PGSQL.${PORT}.lock`), { force: true });
}
