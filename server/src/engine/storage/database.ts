import type { Writable } from 'node:stream';
import type { PostgresConnection } from '@purser/embedded-postgres';
import pg from 'pg';
import { arrayLiteral } from '../array-literal.ts';
import { type Engine, HAS_CITUS, isDistributed, noteEngine } from '../citus/engine.ts';
import { splitByWorkspace } from '../citus/one-workspace.ts';
import type { StatementsSpan, Tracing } from '../tracing.ts';

export type Client = pg.PoolClient;

/** A connection pool, or one client inside a transaction. */
export interface Queryable {
  query<R extends pg.QueryResultRow>(config: Statement): Promise<pg.QueryResult<R>>;
}

/** A statement. One over several workspaces may leave out those whose worker of Citus does not answer: see `splitByWorkspace`. */
export type Statement = pg.QueryConfig & { leaves_out_lost?: boolean };

/** The address of the database: a URL, or the embedded server's socket. */
export type DatabaseAddress = { url: string } | PostgresConnection;

/** The role that the service works as: it can add to history, but neither change nor remove it. */
export const SERVICE_ROLE = 'purser_service';

/** PostgreSQL ends a statement that runs longer, and a transaction that stays idle longer. */
const STATEMENT_TIMEOUT_MS = 5_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Added to the statement timeout, so that only a silent connection exceeds the sum. */
const ANSWER_TIMEOUT_MARGIN_MS = 500;

const INSUFFICIENT_PRIVILEGE = '42501';

const BIGINT = 20;
const TIMESTAMPTZ = 1184;

/** Throws on a bigint that JavaScript cannot represent exactly, rather than rounding it. */
function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError('a bigint of the database is beyond the safe integers');
  return value;
}

/** Converts `2026-11-21 08:30:00.12+00`, which PostgreSQL writes with TimeZone UTC, to `2026-11-21T08:30:00.120Z`. */
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

/** Values that the service could not have written stay PostgreSQL's text, so that they equal none that it wrote. */
const lenientTypes = makeTypes(
  (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text),
  (text) => (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,3})?\+00$/.test(text) ? parseTimestamp(text) : text),
);

function addressConfig(address: DatabaseAddress): pg.ClientConfig {
  if ('url' in address) return { connectionString: address.url };
  return { host: address.host, port: address.port, user: address.user, database: address.database };
}

export interface PoolOptions {
  /** The largest number of connections. */
  max: number;
  /** Sends several statements without waiting for the answers, which come in order. */
  pipeline?: boolean;
  /**
   * `index_lookup`: every statement looks rows up by their keys; it is planned once and always uses the index.
   * `index_scan`: every statement reads a page in the order of an index, for lists.
   */
  plan?: 'index_lookup' | 'index_scan';
  /** Works as this role instead of the one that connects. */
  role?: string;
  /** The time limit of one statement; 5 s when left out. */
  statement_timeout_ms?: number;
  /** The time that a transaction may be idle between statements; 10 s when left out. */
  idle_timeout_ms?: number;
  /** Values that the service never wrote are read as text instead of throwing, so that verification can report them. */
  lenient_types?: boolean;
  /** The engine, which each new connection finds again. Pools of one process share it; the default is the pool's own. */
  engine?: Engine;
  /** The sample workspace whose own clock comes before the database's: see `samples/sample-clocks.ts`. */
  sample?: string | undefined;
  /** With `pipeline`: told of the statements that are sent together. */
  tracing?: Tracing | null;
  /** Called when a connection breaks; the pool replaces it by itself. */
  onBroken: (error: Error) => void;
}

/** Settings of a session by their names; numbers are milliseconds, lists are names. */
type SessionSettings = Readonly<Record<string, string | number | readonly [string, ...string[]]>>;

/** Timestamps are parsed as these let PostgreSQL write them. */
const DATE_SETTINGS: SessionSettings = { TimeZone: 'UTC', DateStyle: 'ISO' };

/** A connection that did not keep the role or the settings of the service, and was closed. */
export class WrongSession extends Error {
  override name = 'WrongSession';
}

/** SQL that is true where a setting has its value, however PostgreSQL writes it. */
function holds(name: string, value: SessionSettings[string]): string {
  const current = `current_setting(${pg.escapeLiteral(name)})`;
  if (typeof value === 'object') return `${current} = ${pg.escapeLiteral(value.join(', '))}`;
  if (typeof value === 'number') return `extract(epoch from ${current}::interval) * 1000 = ${value}`;
  return `split_part(${current}, ',', 1) = ${pg.escapeLiteral(value)}`;
}

/** The role and the settings of a new connection. */
interface Session {
  settings: SessionSettings;
  /** Settings that only plain PostgreSQL may have. */
  planner?: SessionSettings;
  role: string | null;
  engine?: Engine | undefined;
}

/**
 * Takes the role, sets the settings and reads both back, in two round trips of a new connection. They are not sent as
 * startup parameters, which poolers refuse or drop. Closes the connection and throws WrongSession where they do not hold.
 */
async function setUp(
  client: pg.ClientBase,
  { settings, planner = {}, role, engine }: Session,
): Promise<void> {
  const all = Object.entries({ ...settings, ...planner });
  const literal = (value: SessionSettings[string]) =>
    typeof value === 'object' ? value.map(pg.escapeIdentifier).join(', ') : pg.escapeLiteral(String(value));
  const statements = [
    ...(role === null ? [] : [`set role ${pg.escapeIdentifier(role)}`]),
    ...all.map(([name, value]) => `set ${name} = ${literal(value)}`),
  ];
  const checks = all.map(
    ([name, value]) => `case when ${holds(name, value)} then null else ${pg.escapeLiteral(name)} end`,
  );
  const ask = <R extends pg.QueryResultRow>(text: string) =>
    client.query<R>({ text, query_timeout: CONNECT_TIMEOUT_MS } as pg.QueryConfig);
  try {
    await ask(statements.join('; '));
    const found = await ask<{ role: string; lost: string[]; has_citus: boolean }>(
      `select current_user::text as role, array_remove(array[${checks.join(', ')}], null) as lost, ${HAS_CITUS} as has_citus`,
    );
    const {
      role: taken,
      lost,
      has_citus,
    } = found.rows[0] as { role: string; lost: string[]; has_citus: boolean };
    const wrong = role !== null && taken !== role ? [`the role is ${taken} and not ${role}`] : [];
    for (const name of lost) wrong.push(`${name} was not kept`);
    if (wrong.length > 0) throw new WrongSession(wrong.join(', '));
    if (engine === undefined) return;
    engine.kind = has_citus && (await isDistributed(client)) ? 'citus' : 'postgres';
    if (engine.kind === 'postgres') return;
    // Citus plans by the value of the workspace, which a generic plan hides, and its own plans need all kinds of scans.
    await ask(
      Object.keys(planner)
        .map((name) => `reset ${name}`)
        .join('; '),
    );
    splitByWorkspace(client, isUnavailable);
  } catch (error) {
    const is_refused = sqlState(error) === INSUFFICIENT_PRIVILEGE;
    const reason = is_refused
      ? new WrongSession(`the role ${role} cannot be taken (${(error as Error).message})`, { cause: error })
      : (error as Error);
    cut(client as Client, reason);
    throw reason;
  }
}

/** Puts the clock of a sample before the database's. Its commits need not reach the disk one by one: it is kept whole or not at all. */
const sampleSettings = (workspace_id: string): SessionSettings => ({
  'purser.sample': workspace_id,
  search_path: ['public', 'pg_catalog'],
  synchronous_commit: 'off',
});

/**
 * Makes a pool of connections. bigint is read as a number (and throws if it is not a safe integer), timestamptz as
 * `2026-11-21T08:30:00.000Z`. Every statement has a time limit.
 */
export function makePool(address: DatabaseAddress, options: PoolOptions): pg.Pool {
  const statement_timeout_ms = options.statement_timeout_ms ?? STATEMENT_TIMEOUT_MS;
  const idle_timeout_ms = options.idle_timeout_ms ?? IDLE_IN_TRANSACTION_TIMEOUT_MS;
  const settings: SessionSettings = {
    ...DATE_SETTINGS,
    statement_timeout: statement_timeout_ms,
    idle_in_transaction_session_timeout: idle_timeout_ms,
    ...(options.sample === undefined ? {} : sampleSettings(options.sample)),
  };
  const planner: SessionSettings = {
    // Rows are looked up by key only, so one generic plan is always right; without the setting, look-ups that take
    // arrays are planned each time (measured: a fifth of PostgreSQL's time). A plan made while the tables were empty
    // would scan them whole; these settings leave the planner only the index, whatever its statistics said.
    ...(options.plan === 'index_lookup'
      ? {
          plan_cache_mode: 'force_generic_plan',
          enable_seqscan: 'off',
          enable_bitmapscan: 'off',
          enable_hashjoin: 'off',
          enable_mergejoin: 'off',
        }
      : {}),
    // A page is the first rows of an index. If the planner underestimates how many rows match a filter, it would
    // collect and sort all of them for each page (measured with 12,000 decisions: 57 pages a second instead of 275).
    ...(options.plan === 'index_scan'
      ? { enable_sort: 'off', enable_seqscan: 'off', enable_bitmapscan: 'off' }
      : {}),
  };
  const engine: Engine = options.engine ?? { kind: 'postgres' };
  const pool = new pg.Pool({
    ...addressConfig(address),
    max: options.max,
    pipeline: options.pipeline === true,
    // A silent connection is closed. The lane has its own deadline for a whole batch instead.
    ...(options.pipeline === true ? {} : { query_timeout: statement_timeout_ms + ANSWER_TIMEOUT_MARGIN_MS }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    onConnect: (client: pg.ClientBase) =>
      setUp(client, { settings, planner, role: options.role ?? null, engine }),
    types: options.lenient_types === true ? lenientTypes : types,
    application_name: 'purser',
  } as pg.PoolConfig);
  noteEngine(pool, engine);
  pool.on('error', options.onBroken);
  // A connection in use can break between two statements; without its own listener that would end the process.
  pool.on('connect', (client) => {
    client.on('error', options.onBroken);
    if (options.pipeline === true) sendTogether(client, options.tracing ?? null);
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
 * Sends statements that are issued in one turn of the event loop in one write to the socket. The driver alone makes one
 * write for each statement, and a batch of the lane has some twenty (measured with 64 clients: about 5 µs of CPU a
 * decision).
 */
function sendTogether(client: Client, tracing: Tracing | null): void {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  let span: StatementsSpan | null = null;
  client.query = ((...args: unknown[]) => {
    if (stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(() => stream.uncork());
      span = tracing?.beginStatements(client) ?? null;
    }
    const [statement, ...rest] = args;
    const answer = query(withLiterals(statement), ...rest);
    if (span !== null && answer instanceof Promise) span.add(nameOf(args[0]), answer);
    return answer;
  }) as typeof client.query;
}

/** A statement whose arrays of texts and numbers are written already. The driver takes twice as long, and as much memory again. */
function withLiterals(statement: unknown): unknown {
  const { values } = statement as { values?: readonly unknown[] };
  if (values === undefined) return statement;
  const isPlain = (value: unknown) =>
    Array.isArray(value) && (typeof value[0] === 'string' || typeof value[0] === 'number');
  return {
    ...(statement as object),
    values: values.map((value) => (isPlain(value) ? arrayLiteral(value as unknown[]) : value)),
  };
}

/** The name of a statement in traces: its own, or its first word. */
function nameOf(statement: unknown): string {
  const { name, text = String(statement) } = statement as { name?: string; text?: string };
  return name ?? (text.trim().split(/\s/, 1)[0] as string);
}

/** The open connections of each pool. */
const connections = new WeakMap<pg.Pool, Set<pg.PoolClient>>();
/** A silent connection never confirms its end, so the wait for it is limited. */
const CLOSE_TIMEOUT_MS = 3_000;

/**
 * Ends a pool made by `makePool` once its queries are answered, and waits until its connections are closed. `end` alone
 * resolves when the Terminate messages are sent; a PostgreSQL that is stopped at that moment reports broken connections.
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
      late = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    }),
  ]);
  clearTimeout(late);
}

/** Closes a connection at once, whatever it waits for. */
export function cut(client: Client, error: Error): void {
  const inside = client as unknown as { connection?: { stream: { destroy: (error: Error) => void } } };
  inside.connection?.stream.destroy(error);
}

/** Closes all connections of a pool at once, those that are used too; it opens new ones. */
export function closeConnections(pool: pg.Pool, reason: Error): void {
  for (const client of connections.get(pool) ?? []) cut(client, reason);
}

/** Opens a single connection, for migrations and the operator's command line. The caller ends it. */
export async function connectOnce(address: DatabaseAddress): Promise<pg.Client> {
  const client = new pg.Client({
    ...addressConfig(address),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types,
    application_name: 'purser-operator',
  });
  // Without a listener a connection that breaks would end the process; the pending query is rejected anyway.
  client.on('error', () => {});
  await client.connect();
  await setUp(client, { settings: DATE_SETTINGS, role: null });
  return client;
}

/** Runs `work` while holding the advisory lock `lock`, so that no other node or command holds it meanwhile. */
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
    // Ending the session releases the lock.
    await client.end();
  }
}

/**
 * Returns whether this session can take the role, by trying: since PostgreSQL 16 a member of a role need not be allowed
 * to take it.
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

/** Returns the SQLSTATE of a failed statement, or undefined if the connection itself failed. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined;
  return error.code;
}

/**
 * SQLSTATEs of a server that is shutting down, starting, full, out of connections, read-only or out of time; of a statement that
 * it ended because of a deadlock; and of a server whose tables were distributed a moment ago, which refuses what was planned
 * before.
 */
const NOT_NOW = /^(57P|53|08|55P03|57014|40P01|25006|58|0A000)/;

/** Returns whether the database is unreachable or cannot work now, so that a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return NOT_NOW.test(state);
  if (error instanceof WrongSession) return true;
  if (!(error instanceof Error) || error.name !== 'Error') return false;
  const { code } = error as { code?: string };
  if (code !== undefined && /^E[A-Z]+$/.test(code)) return true;
  return /timeout|terminated|not queryable|connection/i.test(error.message);
}
