import { execFile } from 'node:child_process';
import { access, constants, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type PostgresConnection, SUPERUSER, withClient } from '@purser/embedded-postgres';
import type pg from 'pg';
import { type Percentiles, percentilesOf } from '../demo/totals.ts';

const run = promisify(execFile);

/**
 * Two forms of the same test. Widened: ten branches, so that transactions seldom wait for each other, statements
 * prepared, two threads. As it comes: pgbench with no option but clients and time, which is one branch that every
 * transaction updates, as every decision of a workspace updates its head.
 */
const FORMS = {
  widened: { database: 'bench_tpcb', scale: 10, options: ['-j', '2', '-M', 'prepared'], prepared: true },
  as_it_comes: { database: 'bench_tpcb_as_it_comes', scale: 1, options: [], prepared: false },
} as const;
type Form = (typeof FORMS)[keyof typeof FORMS];
const TPCB_CLIENTS = 16;
/** Run and thrown away before the first measurement, so that the tables are in memory, as the service's are. */
const WARM_UP_SECONDS = 1;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Something that can be run for its rate. */
export interface Rated {
  /** What does the work, for people. */
  method: string;
  /** Transactions a second. */
  run(seconds: number): Promise<number>;
}

/** TPC-B as pgbench has it, widened, on a database of its own beside the service's. */
export interface Tpcb extends Rated {
  /** Makes the other form, for who compares with it. May be called once. */
  prepareAsItComes(): Promise<Rated>;
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

async function initialiseWithSql(client: pg.Client, scale: number): Promise<void> {
  await client.query(`
    create table pgbench_branches (bid int not null, bbalance int, filler char(88)) with (fillfactor = 100);
    create table pgbench_tellers (tid int not null, bid int, tbalance int, filler char(84)) with (fillfactor = 100);
    create table pgbench_accounts (aid int not null, bid int, abalance int, filler char(84)) with (fillfactor = 100);
    create table pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
    insert into pgbench_branches (bid, bbalance) select n, 0 from generate_series(1, ${scale}) n;
    insert into pgbench_tellers (tid, bid, tbalance)
      select n, (n - 1) / 10 + 1, 0 from generate_series(1, ${10 * scale}) n;
    insert into pgbench_accounts (aid, bid, abalance, filler)
      select n, (n - 1) / 100000 + 1, 0, '' from generate_series(1, ${100_000 * scale}) n;
    alter table pgbench_branches add primary key (bid);
    alter table pgbench_tellers add primary key (tid);
    alter table pgbench_accounts add primary key (aid);
  `);
  await client.query('vacuum analyze');
}

function upTo(limit: number): number {
  return 1 + Math.floor(Math.random() * limit);
}

/** The transaction of pgbench, statement by statement, each a round trip of its own. */
async function transact(client: pg.Client, { scale, prepared }: Form): Promise<void> {
  const aid = upTo(100_000 * scale);
  const bid = upTo(scale);
  const tid = upTo(10 * scale);
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
  for (const [name, text, values] of statements) {
    await client.query(prepared ? { name, text, values } : { text, values });
  }
}

async function runWithSql(connection: PostgresConnection, form: Form, seconds: number): Promise<number> {
  let transactions = 0;
  const begun_at_ms = performance.now();
  const end_ms = begun_at_ms + seconds * 1000;
  const runClient = () =>
    withClient(connection, async (client) => {
      while (performance.now() < end_ms) {
        await transact(client, form);
        transactions += 1;
      }
    });
  await Promise.all(Array.from({ length: TPCB_CLIENTS }, runClient));
  return (transactions * 1000) / (performance.now() - begun_at_ms);
}

/**
 * Makes the databases for TPC-B on the service's own server. `server` is any connection to it. Takes pgbench where
 * it is installed (`path` is the environment's PATH), else the same statements through `pg`.
 */
export async function prepareTpcb(
  server: PostgresConnection,
  path: string,
  signal: AbortSignal,
): Promise<Tpcb> {
  const pgbench = await findPgbench(path);
  const prepare = async (form: Form): Promise<Rated> => {
    const connection = { ...server, user: SUPERUSER.user, database: form.database };
    await withClient({ ...server, ...SUPERUSER }, (client) =>
      client.query(`create database ${form.database}`),
    );
    return pgbench === null
      ? prepareWithSql(connection, form)
      : preparePgbench({ pgbench, path, connection, signal }, form);
  };
  const widened = await prepare(FORMS.widened);
  const connection = { ...server, user: SUPERUSER.user, database: FORMS.widened.database };
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
  return { ...widened, prepareAsItComes: () => prepare(FORMS.as_it_comes), commitInserts };
}

const shownForm = ({ scale, prepared }: Form): string =>
  `${prepared ? 'statements prepared' : 'statements not prepared'}, ${TPCB_CLIENTS} clients, scale ${scale}`;

async function prepareWithSql(connection: PostgresConnection, form: Form): Promise<Rated> {
  await withClient(connection, (client) => initialiseWithSql(client, form.scale));
  await runWithSql(connection, form, WARM_UP_SECONDS);
  return {
    method: `the statements of pgbench through pg, ${shownForm(form)} (pgbench is not installed)`,
    run: (seconds) => runWithSql(connection, form, seconds),
  };
}

async function preparePgbench(
  by: { pgbench: string; path: string; connection: PostgresConnection; signal: AbortSignal },
  form: Form,
): Promise<Rated> {
  const { pgbench, path, connection, signal } = by;
  const place = ['-h', connection.host, '-p', String(connection.port), '-U', connection.user];
  const call = async (args: readonly string[]) => {
    const { stdout } = await run(pgbench, [...place, ...args, connection.database], {
      env: { PATH: path, LC_ALL: 'C' },
      maxBuffer: MAX_OUTPUT_BYTES,
      signal,
    });
    return stdout;
  };
  await call(['-i', '-q', '-s', String(form.scale)]);
  const load = ['-c', String(TPCB_CLIENTS), ...form.options];
  await call([...load, '-T', String(WARM_UP_SECONDS)]);
  const version = (await run(pgbench, ['--version'])).stdout.trim();
  return {
    method: `${version}, ${load.join(' ')}, scale ${form.scale}`,
    run: async (seconds) => {
      const output = await call([...load, '-T', String(Math.max(1, Math.round(seconds)))]);
      const tps = Number(/^tps = ([\d.]+)/m.exec(output)?.[1]);
      if (!(tps > 0)) throw new Error(`pgbench gave no rate:\n${output}`);
      return tps;
    },
  };
}
