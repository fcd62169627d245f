import type { Writable } from 'node:stream';
import type { PostgresConnection } from '@purser/embedded-postgres';
import pg from 'pg';

export type Client = pg.PoolClient;
/** What a read needs: the pool, or one client inside a transaction. */
export interface Queryable {
  query<R extends pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<R>>;
}

/** Where the database is: a URL, or the embedded server's socket. */
export type DatabaseAddress = { url: string } | PostgresConnection;

/** The role that the service works as: it can add to history, not change it. Owned objects belong to the owner. */
export const SERVICE_ROLE = 'purser_service';

/** How long one statement may run, and one transaction stay idle, before PostgreSQL ends it. */
const STATEMENT_TIMEOUT_MS = 5_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Beyond the statement's own limit: only a connection that answers nothing gets here. */
const ANSWER_TIMEOUT_BEYOND_MS = 500;

const BIGINT = 20;
const TIMESTAMPTZ = 1184;

/** A bigint that JavaScript cannot carry exactly is refused rather than rounded. */
function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError('a bigint of the database is beyond the safe integers');
  return value;
}

/** `2026-11-21 08:30:00.12+00`, as PostgreSQL writes it with TimeZone UTC, to `2026-11-21T08:30:00.120Z`. */
function parseTimestamp(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(text);
  if (match === null) throw new RangeError(`an unexpected timestamp of the database: ${text}`);
  return `${match[1]}T${match[2]}.${(match[3] ?? '').slice(0, 3).padEnd(3, '0')}Z`;
}

function makeTypes(
  bigint: (text: string) => unknown,
  timestamp: (text: string) => unknown,
): pg.CustomTypesConfig {
  return {
    getTypeParser(oid: number, format?: 'text' | 'binary'): never {
      if (format !== 'binary' && oid === BIGINT) return bigint as never;
      if (format !== 'binary' && oid === TIMESTAMPTZ) return timestamp as never;
      return pg.types.getTypeParser(oid, format as 'text') as never;
    },
  };
}

const types = makeTypes(parseBigint, parseTimestamp);

/** What the service could not have written comes as PostgreSQL writes it, so that it equals nothing of ours. */
const typesOfDoubtfulRows = makeTypes(
  (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text),
  (text) => (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,3})?\+00$/.test(text) ? parseTimestamp(text) : text),
);

function addressConfig(address: DatabaseAddress): pg.ClientConfig {
  if ('url' in address) return { connectionString: address.url };
  return { host: address.host, port: address.port, user: address.user, database: address.database };
}

export interface PoolOptions {
  /** Most connections at a time. */
  max: number;
  /** Several statements on the wire at once, answered in order. For the lane. */
  pipeline?: boolean;
  /** Every statement looks rows up by their keys: plan once, and always take the index. */
  by_key?: boolean;
  /** Work as this role instead of the one that connects. */
  role?: string;
  /** Every statement reads pages in the order of an index. For lists. */
  in_order?: boolean;
  /** How long one statement may run; 5 s when left out. */
  statement_timeout_ms?: number;
  /** How long a transaction may wait for its next statement; 10 s when left out. */
  idle_timeout_ms?: number;
  /** Rows may hold what the service never wrote: that must be noticed, not thrown. For verification. */
  doubtful_rows?: boolean;
  /** Told of connections that broke; the pool replaces them by itself. */
  onBroken: (error: Error) => void;
}

/**
 * A pool of connections. bigint arrives as a number (or throws when it is not a safe integer), timestamptz as
 * `2026-11-21T08:30:00.000Z`; every statement has a time limit.
 */
export function makePool(address: DatabaseAddress, options: PoolOptions): pg.Pool {
  const statement_timeout_ms = options.statement_timeout_ms ?? STATEMENT_TIMEOUT_MS;
  const idle_timeout_ms = options.idle_timeout_ms ?? IDLE_IN_TRANSACTION_TIMEOUT_MS;
  const settings = [
    '-c TimeZone=UTC',
    '-c DateStyle=ISO',
    `-c statement_timeout=${statement_timeout_ms}`,
    `-c idle_in_transaction_session_timeout=${idle_timeout_ms}`,
    ...(options.role === undefined ? [] : [`-c role=${options.role}`]),
    // Rows are looked up by key only, so a statement needs one plan for good; otherwise look-ups that take arrays
    // are planned anew each time (measured: a fifth of PostgreSQL's time). Plans made while the tables were empty
    // would scan them whole: these leave the planner the index, whatever it knew when it planned.
    ...(options.by_key === true
      ? [
          '-c plan_cache_mode=force_generic_plan',
          '-c enable_seqscan=off',
          '-c enable_bitmapscan=off',
          '-c enable_hashjoin=off',
          '-c enable_mergejoin=off',
        ]
      : []),
    // A page is the first rows of an index. Where a filter seems rarer than it is, the planner would rather gather
    // all rows that meet it and sort them, for each page anew (measured with 12,000 decisions: 57 pages a second
    // instead of 275).
    ...(options.in_order === true
      ? ['-c enable_sort=off', '-c enable_seqscan=off', '-c enable_bitmapscan=off']
      : []),
  ];
  const pool = new pg.Pool({
    ...addressConfig(address),
    max: options.max,
    pipeline: options.pipeline === true,
    // A connection that went silent is given up; the lane has a deadline of its own for a whole batch.
    ...(options.pipeline === true ? {} : { query_timeout: statement_timeout_ms + ANSWER_TIMEOUT_BEYOND_MS }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    options: settings.join(' '),
    types: options.doubtful_rows === true ? typesOfDoubtfulRows : types,
    application_name: 'purser',
  } as pg.PoolConfig);
  pool.on('error', options.onBroken);
  // A connection in use can break between two statements; without a listener of its own that ends the process.
  pool.on('connect', (client) => {
    client.on('error', options.onBroken);
    if (options.pipeline === true) sendTogether(client);
  });
  const open = new Set<pg.PoolClient>();
  pool.on('connect', (client) => {
    open.add(client);
    client.once('end', () => open.delete(client));
  });
  connections.set(pool, open);
  return pool;
}

/**
 * Statements that are given in one turn of the event loop leave in one write to the socket, instead of one each:
 * the driver corks the stream for each statement alone, and a batch of the lane has some twenty (measured with 64 clients:
 * about 5 µs of CPU a decision).
 */
function sendTogether(client: Client): void {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    if (stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(() => stream.uncork());
    }
    return query(...args);
  }) as typeof client.query;
}

/** The open connections of each pool. */
const connections = new WeakMap<pg.Pool, Set<pg.PoolClient>>();
/** A connection that went silent says no goodbye. */
const GOODBYE_MS = 3_000;

/**
 * Ends a pool made by `makePool`, after what was asked of it was answered, and waits for its connections to be gone:
 * `end` alone resolves once it has sent their goodbyes, and a PostgreSQL that is stopped then would call them broken.
 */
export async function endPool(pool: pg.Pool): Promise<void> {
  const open = connections.get(pool) ?? new Set();
  await pool.end();
  if (open.size === 0) return;
  const gone = Promise.all([...open].map((client) => new Promise((resolve) => client.once('end', resolve))));
  let late: NodeJS.Timeout | undefined;
  await Promise.race([
    gone,
    new Promise((resolve) => {
      late = setTimeout(resolve, GOODBYE_MS);
    }),
  ]);
  clearTimeout(late);
}

/** Ends a connection at once, whatever it waits for. */
export function cut(client: Client, error: Error): void {
  const inside = client as unknown as { connection?: { stream: { destroy: (error: Error) => void } } };
  inside.connection?.stream.destroy(error);
}

/** One connection of its own, for migrations and the operator's command line. The caller ends it. */
export async function connectOnce(address: DatabaseAddress): Promise<pg.Client> {
  const client = new pg.Client({
    ...addressConfig(address),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    options: '-c TimeZone=UTC -c DateStyle=ISO',
    types,
    application_name: 'purser-operator',
  });
  // Without a listener a connection that breaks would end the process; the pending query is told anyway.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Does `work` while no other node or command does anything under the same number. */
export async function exclusively<T>(
  address: DatabaseAddress,
  lock: number,
  work: () => Promise<T>,
): Promise<T> {
  const client = await connectOnce(address);
  try {
    await client.query('select pg_advisory_lock($1)', [lock]);
    return await work();
  } finally {
    // Ending the session frees the lock.
    await client.end();
  }
}

/**
 * Whether this session may take the role. Tried rather than asked: since PostgreSQL 16 being a member of a role
 * and being allowed to take it are two things.
 */
export async function canWorkAs(client: pg.Client, role: string): Promise<boolean> {
  try {
    await client.query(`set role ${pg.escapeIdentifier(role)}`);
  } catch {
    return false;
  }
  await client.query('reset role');
  return true;
}

/** SQLSTATE of a failed statement, or undefined when the connection itself failed. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined;
  return error.code;
}

/** The server is shutting down, starting, full, out of connections, read-only or out of time. */
const NOT_NOW = /^(57P|53|08|55P03|57014|25006|58)/;

/** Whether the database could not be reached or cannot work now, so that the same thing may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return NOT_NOW.test(state);
  if (!(error instanceof Error) || error.name !== 'Error') return false;
  const { code } = error as { code?: string };
  if (code !== undefined && /^E[A-Z]+$/.test(code)) return true;
  return /timeout|terminated|not queryable|connection/i.test(error.message);
}
