import { execFile, execFileSync } from 'node:child_process';
import { access, chown, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type pg from 'pg';
import { freePort } from '../demo/purser-process.ts';
import { queryOnce } from './invariants.ts';
import { type Daemon, makeDaemon } from './patroni.ts';

const POSTGRES_DIR = '/usr/lib/postgresql';
const READY_WITHIN_MS = 60_000;
const POLL_MS = 200;
/** The name of the database on every node. */
const DATABASE = 'purser';

const run = promisify(execFile);

interface Programs {
  bin_dir: string;
  /** PostgreSQL refuses to run as root; null: it runs as we do. */
  user: { uid: number; gid: number } | null;
}

/** A PostgreSQL that has the extension, or a sentence that says what is missing. */
export async function findCitus(): Promise<Programs | string> {
  const versions = (await readdir(POSTGRES_DIR).catch(() => [])).map(Number).sort((a, b) => b - a);
  for (const version of versions) {
    const dir = join(POSTGRES_DIR, String(version));
    const has_extension = await access(join(dir, 'lib', 'citus.so')).then(
      () => true,
      () => false,
    );
    if (!has_extension) continue;
    const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
    const is_root = process.getuid?.() === 0;
    return { bin_dir: join(dir, 'bin'), user: is_root ? { uid: id('-u'), gid: id('-g') } : null };
  }
  return `no PostgreSQL below ${POSTGRES_DIR} has the extension citus (lib/citus.so): install Citus 12.1 or newer for one of them`;
}

/** One PostgreSQL with the extension. */
export interface CitusNode {
  /** `host:port` */
  name: string;
  port: number;
  superuser: pg.ClientConfig;
  /** Starts it, with these settings besides its own, and waits until it answers. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends it without a word of warning. */
  kill(): Promise<void>;
  /** Runs one statement as the superuser. */
  sql<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** All that it has written to its log. */
  log(): Promise<string>;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  shared_preload_libraries: 'citus',
  max_connections: '300',
  max_prepared_transactions: '200',
  wal_level: 'logical',
  // Nodes are killed here, never the machine.
  fsync: 'off',
  log_line_prefix: '%p ',
  'citus.recover_2pc_interval': '5s',
  'citus.node_conninfo': 'sslmode=disable',
};

async function placeNode({ bin_dir, user }: Programs, parent: string, name: string): Promise<CitusNode> {
  const dir = join(parent, name);
  await mkdir(dir, { mode: 0o700 });
  if (user !== null) await chown(dir, user.uid, user.gid);
  const cluster_dir = join(dir, 'data');
  const owner = user === null ? {} : user;
  await run(
    join(bin_dir, 'initdb'),
    ['-D', cluster_dir, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8'],
    { cwd: dir, ...owner },
  );
  const port = await freePort();
  const superuser = { host: '127.0.0.1', port, user: 'postgres', database: DATABASE };
  let daemon: Daemon | null = null;
  return {
    name: `127.0.0.1:${port}`,
    port,
    superuser,
    async start(settings = {}) {
      const all = { ...SETTINGS, port: String(port), unix_socket_directories: dir, ...settings };
      const args = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
      const deadline_ms = performance.now() + READY_WITHIN_MS;
      for (;;) {
        daemon = makeDaemon({
          command: join(bin_dir, 'postgres'),
          args: ['-D', cluster_dir, ...args],
          dir,
          name,
          user,
        });
        await daemon.start();
        for (let tries = 0; tries < 25; tries++) {
          await wait(POLL_MS);
          const answers = await queryOnce({ ...superuser, database: 'postgres' }, 'select 1').catch(
            () => null,
          );
          if (answers !== null) return;
        }
        // Processes of the one that was killed may still hold its memory.
        await daemon.kill();
        if (performance.now() > deadline_ms) throw new Error(`${name} did not get ready.`);
      }
    },
    async kill() {
      await daemon?.kill();
    },
    sql: (text, values) => queryOnce(superuser, text, values),
    log: () => readFile(join(dir, `${name}.log`), 'utf8'),
  };
}

/** A coordinator, workers that it knows, and one more that it does not. */
export interface CitusCluster {
  coordinator: CitusNode;
  workers: readonly [CitusNode, CitusNode];
  spare: CitusNode;
  url: string;
  close(): Promise<void>;
}

/** Makes the nodes below `dir`, each with an empty database that has the extension, and starts them. */
export async function startCitus(programs: Programs, dir: string): Promise<CitusCluster> {
  const nodes: CitusNode[] = [];
  const close = async () => {
    for (const node of nodes) await node.kill();
  };
  try {
    if (programs.user !== null) await chown(dir, programs.user.uid, programs.user.gid);
    for (const name of ['coordinator', 'worker1', 'worker2', 'worker3']) {
      const node = await placeNode(programs, dir, name);
      nodes.push(node);
      await node.start();
      await queryOnce({ ...node.superuser, database: 'postgres' }, `create database ${DATABASE}`);
      await node.sql('create extension citus');
    }
    const [coordinator, one, two, spare] = nodes as [CitusNode, CitusNode, CitusNode, CitusNode];
    await coordinator.sql('select citus_set_coordinator_host($1, $2)', ['127.0.0.1', coordinator.port]);
    for (const { port } of [one, two])
      await coordinator.sql('select citus_add_node($1, $2)', ['127.0.0.1', port]);
    const url = `postgresql://postgres@127.0.0.1:${coordinator.port}/${DATABASE}`;
    return { coordinator, workers: [one, two], spare, url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
