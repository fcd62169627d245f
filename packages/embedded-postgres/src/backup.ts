import { chown, copyFile, lstat, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './error.ts';
import { type PostgresConnection, SUPERUSER, withClient } from './postmaster-file.ts';

/** Directories whose content PostgreSQL makes again; the write-ahead log is copied by itself, at the end. */
const EMPTIED = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|pgsql_tmp.*|pg_internal\.init.*)$/;
const WAL_FILE = /^[0-9A-F]{24}$|^[0-9A-F]{8}\.history$/;

const isGone = (error: unknown) => (error as { code?: string }).code === 'ENOENT';

/** Copies a file to disk with its owner. A file that PostgreSQL has removed meanwhile is left out. */
async function copyOne(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to);
    const { uid, gid } = await lstat(from);
    if (process.getuid?.() === 0) await chown(to, uid, gid);
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  const file = await open(to, 'r+');
  await file.sync().finally(() => file.close());
}

async function makeLike(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  const { uid, gid } = await lstat(from);
  if (process.getuid?.() === 0) await chown(to, uid, gid);
}

async function copyTree(from: string, to: string, depth: number): Promise<void> {
  await makeLike(from, to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (LEFT_OUT.test(entry.name)) continue;
    if (entry.isDirectory()) {
      if (depth === 0 && EMPTIED.has(entry.name)) await makeLike(source, target);
      else await copyTree(source, target, depth + 1);
    } else if (entry.isFile()) await copyOne(source, target);
  }
}

/**
 * Copies the cluster of a running server to `to`, which must not exist, while it serves. PostgreSQL can start on the copy:
 * it holds everything that was committed when this resolves. Throws EmbeddedPostgresError where the server keeps too little
 * of its log for that.
 */
export async function backUpCluster(
  connection: PostgresConnection,
  cluster_dir: string,
  to: string,
): Promise<void> {
  await withClient({ ...connection, ...SUPERUSER }, async (client) => {
    const level = await client.query<{ wal_level: string }>('show wal_level');
    if (level.rows[0]?.wal_level === 'minimal')
      throw new EmbeddedPostgresError('The wal_level of PostgreSQL is too low for a backup while it runs.');
    // Keeps the log from now on, and is gone with this session.
    await client.query(
      "select pg_create_physical_replication_slot('purser_backup_' || pg_backend_pid(), true, true)",
    );
    await client.query("select pg_backup_start('purser', true)");
    await copyTree(cluster_dir, to, 0);
    const stopped = await client.query<{ labelfile: string; spcmapfile: string }>(
      'select labelfile, spcmapfile from pg_backup_stop(false)',
    );
    await client.query('select pg_switch_wal()');
    const label = join(to, 'backup_label');
    await writeFile(label, stopped.rows[0]?.labelfile ?? '', { mode: 0o600 });
    const { uid, gid } = await lstat(cluster_dir);
    if (process.getuid?.() === 0) await chown(label, uid, gid);
    for (const name of await readdir(join(cluster_dir, 'pg_wal'))) {
      if (WAL_FILE.test(name)) await copyOne(join(cluster_dir, 'pg_wal', name), join(to, 'pg_wal', name));
    }
  });
}
