import { randomBytes } from 'node:crypto';
import { chown, cp, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  answersFor,
  type GuardedProcess,
  locatePostgresBinaries,
  lockCluster,
  makePostgresRunner,
  PORT,
  type PostgresRunner,
  prepareCluster,
  prepareSocketDirectory,
  readPostmasterFile,
  removeLeftLockFiles,
  SUPERUSER,
  spawnGuarded,
  withClient,
  writeAccess,
} from '@purser/embedded-postgres';
import { makeJsonClient } from '../demo/json-client.ts';
import {
  freePort,
  makeDataDirectory,
  type ServeProcess,
  serviceEnvironment,
  startServing,
} from '../demo/purser-process.ts';
import { type Proxy as DatabaseProxy, openProxy } from './connections.ts';
import { findViolations } from './invariants.ts';
import { shown } from './kills.ts';
import { between } from './random.ts';
import { makeRecorder, type Wanted } from './recorder.ts';
import { type Finding, makeAgents, PATIENCE_MS, type ScenarioContext } from './stage.ts';

const READY_WITHIN_MS = 60_000;
const POLL_MS = 50;
const STANDBY = 'standby';
const CLIENTS = 16;
/** A bound for what does not come back: on a busy machine it may take its time, and the figures tell how much. */
const BACK_WITHIN_MS = 60_000;
/** How many spends an old primary is asked for, new ones and such as it may have kept itself. */
const ASKED_OF_THE_OLD = 16;

/** A PostgreSQL of its own, from the binaries that the service brings. */
interface Server {
  cluster_dir: string;
  socket_dir: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  connection: { host: string; port: number; user: string; database: string };
  socket: { path: string };
}

async function placeServer(dir: string): Promise<{ server: Server; runner: PostgresRunner }> {
  await mkdir(dir, { recursive: true });
  const cluster_dir = join(dir, 'postgres');
  const runner = await makePostgresRunner(await locatePostgresBinaries(), dir, cluster_dir);
  const socket_dir = await prepareSocketDirectory(dir, runner);
  const connection = { host: socket_dir, port: PORT, ...SUPERUSER };
  let running: GuardedProcess | null = null;
  const server: Server = {
    cluster_dir,
    socket_dir,
    connection,
    socket: { path: join(socket_dir, `.s.PGSQL.${PORT}`) },
    async start() {
      const settings = {
        listen_addresses: '',
        port: String(PORT),
        unix_socket_directories: socket_dir,
        wal_keep_size: '1GB',
        hot_standby: 'on',
        max_connections: '60',
      };
      const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const lock = await lockCluster(cluster_dir);
      await removeLeftLockFiles(cluster_dir, socket_dir);
      await writeAccess(cluster_dir, runner);
      const log = await open(join(dir, 'postgres.log'), 'a', 0o600);
      const started = spawnGuarded(runner.command('postgres', ['-D', cluster_dir, ...options]), lock, log.fd);
      running = started;
      lock.release();
      await log.close();
      const deadline_ms = performance.now() + READY_WITHIN_MS;
      while (!(await answersFor(connection, cluster_dir))) {
        if (performance.now() > deadline_ms || started.child.exitCode !== null) {
          const output = await readFile(join(dir, 'postgres.log'), 'utf8');
          throw new Error(`PostgreSQL did not get ready:\n${output.slice(-2_000)}`);
        }
        await wait(POLL_MS);
      }
    },
    async kill() {
      const file = await readPostmasterFile(cluster_dir);
      if (running === null || running.child.exitCode !== null || file === null) return;
      process.kill(file.pid, 'SIGKILL');
      await running.exited;
    },
  };
  return { server, runner };
}

/** Copies a running cluster as its documentation says: between the start and the stop of a backup. */
async function copyCluster(from: Server, to: Server, runner: PostgresRunner): Promise<void> {
  await withClient(from.connection, async (client) => {
    await client.query("select pg_backup_start('standby', true)");
    const left_out = ['postmaster.pid', 'postmaster.opts', 'pg_wal'].map((name) =>
      join(from.cluster_dir, name),
    );
    await cp(from.cluster_dir, to.cluster_dir, {
      recursive: true,
      filter: (path) => !left_out.some((each) => path === each),
    });
    const stopped = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await writeFile(join(to.cluster_dir, 'backup_label'), stopped.rows[0]?.labelfile ?? '');
  });
  await mkdir(join(to.cluster_dir, 'pg_wal', 'archive_status'), { recursive: true });
  await mkdir(join(to.cluster_dir, 'pg_wal', 'summaries'), { recursive: true });
  await writeFile(join(to.cluster_dir, 'standby.signal'), '');
  const primary = `host=${from.socket_dir} port=${PORT} user=${SUPERUSER.user} application_name=${STANDBY}`;
  const settings = join(to.cluster_dir, 'postgresql.auto.conf');
  await writeFile(settings, `primary_conninfo = '${primary}'\n`);
  await giveTo(to.cluster_dir, runner);
}

async function giveTo(dir: string, runner: PostgresRunner): Promise<void> {
  if (runner.user === null) return;
  const { uid, gid } = runner.user;
  await chown(dir, uid, gid);
  for (const name of await readdir(dir, { recursive: true })) await chown(join(dir, name), uid, gid);
}

/** A primary that answers a commit only once its standby has it, and that standby. */
async function startPair(dir: string): Promise<{ primary: Server; standby: Server }> {
  const { server: primary, runner } = await placeServer(join(dir, 'primary'));
  const { server: standby } = await placeServer(join(dir, 'standby'));
  await prepareCluster(primary.cluster_dir, runner, true);
  await primary.start();
  await withClient(primary.connection, async (client) => {
    await client.query('create role purser login createrole');
    await client.query('create database purser owner purser');
  });
  await copyCluster(primary, standby, runner);
  await standby.start();
  await withClient(primary.connection, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${STANDBY}'`);
    await client.query('select pg_reload_conf()');
    const deadline_ms = performance.now() + READY_WITHIN_MS;
    for (;;) {
      const { rows } = await client.query("select from pg_stat_replication where sync_state = 'sync'");
      if (rows.length === 1) return;
      if (performance.now() > deadline_ms) throw new Error('The standby does not follow its primary.');
      await wait(POLL_MS);
    }
  });
  return { primary, standby };
}

async function promote(server: Server): Promise<void> {
  await withClient(server.connection, async (client) => {
    const { rows } = await client.query<{ promoted: boolean }>('select pg_promote(true, 30) as promoted');
    if (rows[0]?.promoted !== true) throw new Error('The standby could not be promoted.');
  });
}

/** Asks the node on the old primary for spends, and gives what it should not have answered. */
async function askTheOld(base_url: string, spends: readonly Wanted[]): Promise<string[]> {
  const problems: string[] = [];
  await Promise.all(
    spends.map(async ({ key, agent_key, body }) => {
      const client = makeJsonClient(base_url, agent_key);
      try {
        const asked = await client.send('POST', '/v1/decisions', JSON.parse(body), {
          'idempotency-key': key,
        });
        if (asked.status !== 503) problems.push(`The old primary answered ${asked.status} to ${key}.`);
        if (asked.took_ms > PATIENCE_MS) {
          problems.push(`The old primary answered after ${Math.round(asked.took_ms)} ms.`);
        }
      } finally {
        client.close();
      }
    }),
  );
  return problems;
}

/** A pair, a proxy that leads to its primary, a node behind the proxy, and one that knows only the first primary. */
interface Place {
  primary: Server;
  standby: Server;
  proxy: DatabaseProxy;
  node: ServeProcess;
  left_behind: ServeProcess;
  admin_key: string;
}

/** Runs `work` in a place of its own, and ends all of it. */
async function inPlace<Result>(
  context: ScenarioContext,
  work: (place: Place) => Promise<Result>,
): Promise<Result> {
  const dir = await makeDataDirectory(true);
  const nodes: ServeProcess[] = [];
  const servers: Server[] = [];
  let proxy: DatabaseProxy | undefined;
  const admin_key = `sk_${randomBytes(24).toString('hex')}`;
  const secret_key = randomBytes(32).toString('hex');
  const startNode = async (name: string, database_url: string): Promise<ServeProcess> => {
    const node = await startServing({
      env: serviceEnvironment(context.env, [], {
        DATABASE_URL: database_url,
        SECRET_KEY: secret_key,
        DATA_DIR: join(dir, name),
        BOOTSTRAP_ADMIN_KEY: admin_key,
        RATE_LIMIT_PER_MINUTE: '10000000',
        PORT: String(await freePort()),
      }),
      output_file: join(dir, `${name}.log`),
      signal: context.signal,
    });
    nodes.push(node);
    return node;
  };
  try {
    const { primary, standby } = await startPair(dir);
    servers.push(primary, standby);
    proxy = await openProxy(primary.socket);
    const node = await startNode('node', `postgresql://purser@127.0.0.1:${proxy.port}/purser`);
    const socket = encodeURIComponent(primary.socket_dir);
    const direct = `postgresql://purser@localhost/purser?host=${socket}&port=${PORT}`;
    const left_behind = await startNode('left-behind', direct);
    return await work({ primary, standby, proxy, node, left_behind, admin_key });
  } finally {
    for (const node of nodes) await node.end();
    proxy?.close();
    for (const server of servers) await server.kill();
    await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** One pair, one failure. `standby_lags`: the standby is gone for a moment before its primary is. */
async function failOver(
  context: ScenarioContext,
  { primary, standby, proxy, node, left_behind, admin_key }: Place,
  standby_lags: boolean,
): Promise<{ problems: string[]; back_ms: number; figures: Record<string, number> }> {
  const { random } = context;
  const recorder = makeRecorder({
    baseUrl: () => node.base_url,
    agents: await makeAgents(node.base_url, admin_key),
    run_id: randomBytes(6).toString('hex'),
    clients: CLIENTS,
    patience_ms: PATIENCE_MS,
  });
  try {
    recorder.start();
    await context.wait(between(random, 800, 2_000));
    if (standby_lags) {
      await standby.kill();
      await context.wait(between(random, 500, 1_500));
    }
    await primary.kill();
    const began_ms = performance.now();
    const owed = recorder.owed().slice(0, ASKED_OF_THE_OLD);
    if (standby_lags) await standby.start();
    await promote(standby);
    proxy.to(standby.socket);
    proxy.cutAll();
    const problems: string[] = [];
    if ((await recorder.nextAcknowledged(BACK_WITHIN_MS)) === null) {
      problems.push(`No decision within ${BACK_WITHIN_MS} ms of the promotion.`);
    }
    const back_ms = performance.now() - began_ms;

    await primary.start();
    const fresh = owed.map((spend, i) => ({ ...spend, key: `fresh-${i}` }));
    problems.push(...(await askTheOld(left_behind.base_url, [...fresh, ...owed])));
    problems.push(...(await askTheOld(left_behind.base_url, [...fresh, ...owed])));
    await recorder.stop();
    const client = makeJsonClient(node.base_url, admin_key);
    problems.push(...(await findViolations(recorder, client, { ...standby.connection, database: 'purser' })));
    client.close();
    return { problems, back_ms, figures: recorder.figures() };
  } finally {
    await recorder.stop();
  }
}

/**
 * The primary is killed under load and its synchronous standby promoted: nothing that was acknowledged is lost. The
 * old primary, started again, acknowledges nothing: neither what is new nor what it had kept itself when it died.
 */
export async function promotedStandby(context: ScenarioContext): Promise<Finding> {
  const rounds = Math.max(1, Math.round(3 * context.share));
  const problems: string[] = [];
  let acknowledged = 0;
  let slowest_back_ms = 0;
  for (let round = 1; round <= rounds; round++) {
    for (const standby_lags of [false, true]) {
      const found = await inPlace(context, (place) => failOver(context, place, standby_lags));
      problems.push(...found.problems);
      acknowledged += found.figures.acknowledged ?? 0;
      slowest_back_ms = Math.max(slowest_back_ms, found.back_ms);
    }
  }
  return { figures: shown({ failovers: 2 * rounds, acknowledged, slowest_back_ms }), problems };
}
