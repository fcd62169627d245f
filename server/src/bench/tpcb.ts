import { execFile } from 'node:child_process';
import { access, constants, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { type Percentiles, percentilesOf } from '../demo/totals.ts';
import { type PostgresConnection, SUPERUSER, withClient } from '../storage/postmaster-file.ts';

const run = promisify(execFile);

const DATABASE = 'bench_tpcb';
const SCALE = 10;
const TPCB_CLIENTS = 16;
/** Run and thrown away before the first measurement, so that the tables are in memory, as the service's are. */
const WARM_UP_SECONDS = 1;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** TPC-B as pgbench has it, on a database of its own beside the service's. */
export interface Tpcb {
  /** What does the work, for people. */
  method: string;
  /** Transactions a second. */
  run(seconds: number): Promise<number>;
  /** How long one client waits for one committed insert, again and again. Milliseconds. */
  commitInserts(count: number): Promise<Percentiles>;
}

/** The newest pgbench of the usual places; null when there is none. */
async function findPgbench(path: string): Promise<string | null> {
  const debian_dir = '/usr/lib/postgresql';
  const versions = (await readdir(debian_dir).catch(() => [])).sort((a, b) => Number(b) - Number(a));
  const dirs = [...path.split(delimiter), ...versions.map((version) => join(debian_dir, version, 'bin'))];
  for (const dir of dirs.filter((name) => name !== '')) {
    const file = join(dir, 'pgbench');
    if (
      await access(file, constants.X_OK).then(
        () => true,
        () => false,
      )
    ) {
      return file;
    }
  }
  return null;
}

async function initialiseWithSql(client: pg.Client): Promise<void> {
  await client.query(`
    create table pgbench_branches (bid int not null, bbalance int, filler char(88)) with (fillfactor = 100);
    create table pgbench_tellers (tid int not null, bid int, tbalance int, filler char(84)) with (fillfactor = 100);
    create table pgbench_accounts (aid int not null, bid int, abalance int, filler char(84)) with (fillfactor = 100);
    create table pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
    insert into pgbench_branches (bid, bbalance) select n, 0 from generate_series(1, ${SCALE}) n;
    insert into pgbench_tellers (tid, bid, tbalance)
      select n, (n - 1) / 10 + 1, 0 from generate_series(1, ${10 * SCALE}) n;
    insert into pgbench_accounts (aid, bid, abalance, filler)
      select n, (n - 1) / 100000 + 1, 0, '' from generate_series(1, ${100_000 * SCALE}) n;
    alter table pgbench_branches add primary key (bid);
    alter table pgbench_tellers add primary key (tid);
    alter table pgbench_accounts add primary key (aid);
  `);
  await client.query('vacuum analyze');
}

function upTo(limit: number): number {
  return 1 + Math.floor(Math.random() * limit);
}

/** The transaction of pgbench, statement by statement, each prepared and a round trip of its own. */
async function transact(client: pg.Client): Promise<void> {
  const aid = upTo(100_000 * SCALE);
  const bid = upTo(SCALE);
  const tid = upTo(10 * SCALE);
  const delta = upTo(10_001) - 5_001;
  const statements: [name: string, text: string, values: number[]][] = [
    ['begin', 'begin', []],
    ['account', 'update pgbench_accounts set abalance = abalance + $1 where aid = $2', [delta, aid]],
    ['balance', 'select abalance from pgbench_accounts where aid = $1', [aid]],
    ['teller', 'update pgbench_tellers set tbalance = tbalance + $1 where tid = $2', [delta, tid]],
    ['branch', 'update pgbench_branches set bbalance = bbalance + $1 where bid = $2', [delta, bid]],
    [
      'history',
      'insert into pgbench_history (tid, bid, aid, delta, mtime) values ($1, $2, $3, $4, current_timestamp)',
      [tid, bid, aid, delta],
    ],
    ['end', 'end', []],
  ];
  for (const [name, text, values] of statements) await client.query({ name, text, values });
}

async function runWithSql(connection: PostgresConnection, seconds: number): Promise<number> {
  let transactions = 0;
  const begun_at_ms = performance.now();
  const end_ms = begun_at_ms + seconds * 1000;
  const runClient = () =>
    withClient(connection, async (client) => {
      while (performance.now() < end_ms) {
        await transact(client);
        transactions += 1;
      }
    });
  await Promise.all(Array.from({ length: TPCB_CLIENTS }, runClient));
  return (transactions * 1000) / (performance.now() - begun_at_ms);
}

/**
 * Makes the database for TPC-B on the service's own server. `server` is any connection to it. Takes pgbench where
 * it is installed (`path` is the environment's PATH), else the same statements through `pg`.
 */
export async function prepareTpcb(
  server: PostgresConnection,
  path: string,
  signal: AbortSignal,
): Promise<Tpcb> {
  await withClient({ ...server, ...SUPERUSER }, (client) => client.query(`create database ${DATABASE}`));
  const connection = { ...server, user: SUPERUSER.user, database: DATABASE };
  const commitInserts = (count: number) =>
    withClient(connection, async (client) => {
      await client.query(
        'create table if not exists lone_insert (id bigint generated always as identity primary key, body text not null)',
      );
      const took_ms: number[] = [];
      for (let n = 0; n < count && !signal.aborted; n += 1) {
        const begun_at_ms = performance.now();
        await client.query({
          name: 'lone_insert',
          text: 'insert into lone_insert (body) values ($1)',
          values: [`a row of the usual length, number ${n}`],
        });
        took_ms.push(performance.now() - begun_at_ms);
      }
      return percentilesOf(took_ms);
    });

  const pgbench = await findPgbench(path);
  if (pgbench === null) {
    await withClient(connection, initialiseWithSql);
    await runWithSql(connection, WARM_UP_SECONDS);
    return {
      method: `the statements of pgbench through pg, prepared, ${TPCB_CLIENTS} clients, scale ${SCALE} (pgbench is not installed)`,
      run: (seconds) => runWithSql(connection, seconds),
      commitInserts,
    };
  }
  const place = ['-h', connection.host, '-p', String(connection.port), '-U', connection.user];
  const call = async (args: readonly string[]) => {
    const { stdout } = await run(pgbench, [...place, ...args, DATABASE], {
      env: { PATH: path, LC_ALL: 'C' },
      maxBuffer: MAX_OUTPUT_BYTES,
      signal,
    });
    return stdout;
  };
  await call(['-i', '-q', '-s', String(SCALE)]);
  const load = ['-c', String(TPCB_CLIENTS), '-j', '2', '-M', 'prepared'];
  await call([...load, '-T', String(WARM_UP_SECONDS)]);
  const version = (await run(pgbench, ['--version'])).stdout.trim();
  return {
    method: `${version}, -M prepared, ${TPCB_CLIENTS} clients, scale ${SCALE}`,
    run: async (seconds) => {
      const output = await call([...load, '-T', String(Math.max(1, Math.round(seconds)))]);
      const tps = Number(/^tps = ([\d.]+)/m.exec(output)?.[1]);
      if (!(tps > 0)) throw new Error(`pgbench gave no rate:\n${output}`);
      return tps;
    },
    commitInserts,
  };
}
