import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERRORS } from '@purser/contract/errors';
import { SUPERUSER } from '@purser/embedded-postgres';
import type { Plan } from '@purser/rules/domain/workspace';
import { Ajv } from 'ajv';
import pg from 'pg';
import pino from 'pino';
import { type Service, startService } from '../../src/app.ts';
import type { ClockWatch } from '../../src/engine/clock-watch.ts';
import type { DatabaseAddress } from '../../src/engine/storage/database.ts';
import { makeApiRoutes, makePeopleServices, makePersonRoutes } from '../../src/service/api/routes.ts';
import { readConfig } from '../../src/service/config/config.ts';
import { makeOwnLimiter } from '../../src/service/http/limiters.ts';
import type { Route } from '../../src/service/http/route.ts';
import { ErrorBody } from '../../src/service/http/schemas.ts';
import { addWorkspace, type Core, makeCore } from '../../src/service/installation/runtime.ts';
import { errorsOf, KEYED_ERRORS } from '../../src/service/openapi/error-responses.ts';
import { TRUSTING_CLOCK } from './clock.ts';
import { createMigratedDatabase, lookLikeCitus, ON_CITUS, type TestDatabase } from './postgres.ts';

export const SECRET_KEY = createHash('sha256').update('the secret key of tests').digest();
/** For a core that signs nothing: a directory that is not there. */
export const NO_CHECKPOINT_FILES = join(tmpdir(), 'purser-no-checkpoint-files');

/** Lane, connections and secrets on a database of a test, without a service. It logs nothing. */
export function makeTestCore(address: DatabaseAddress, checkpoint_dir = NO_CHECKPOINT_FILES): Core {
  return makeCore(
    { address, secret_key: SECRET_KEY, guarded: true, checkpoint_dir, clock: TRUSTING_CLOCK },
    pino({ level: 'silent' }),
  );
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

export interface CallOptions {
  key?: string | null;
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  raw?: string | Buffer;
  idempotency_key?: string;
  headers?: Record<string, string>;
}

export interface RunningService {
  url: string;
  workspace_id: string;
  admin_key: string;
  database: TestDatabase;
  /** Where the service keeps its files of checkpoints. */
  checkpoint_dir: string;
  service: Service;
  /** Calls the API; the answer is checked against what the route declares. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Runs SQL as the superuser: behind the service's back. */
  sql(text: string, values?: unknown[]): Promise<pg.QueryResult>;
  /** Moves a clock that was stopped with `stopped_at_ms`. */
  setClock(time_ms: number): Promise<void>;
  addWorkspace(options: {
    plan: Plan;
    trial_days?: number;
  }): Promise<{ workspace_id: string; admin_key: string }>;
  /** Stops the service alone: the database and the files stay as they are. */
  halt(): Promise<void>;
  stop(): Promise<void>;
}

/** A schema whose parts have no names: Ajv takes no name twice within one schema, not even of the same part. */
const withoutNames = (schema: object) =>
  JSON.parse(JSON.stringify(schema), (keyword, value) => (keyword === '$id' ? undefined : value));

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, addUsedSchema: false });
const isError = ajv.compile(ErrorBody);
/** By schema, since every service of this process declares the same ones, and a test calls few of its routes. */
const compiled = new WeakMap<object, ReturnType<typeof ajv.compile>>();
function checkOf(schema: object): ReturnType<typeof ajv.compile> {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const check = ajv.compile(withoutNames(schema));
  compiled.set(schema, check);
  return check;
}

/** Throws when an answer is not what its route declares. */
function makeAnswerCheck(routes: readonly Route[]): (method: string, path: string, reply: Reply) => void {
  const patterns = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replace(/:[a-z_]+/g, '[^/]+')}$`),
  }));
  return (method, path, reply) => {
    if (!reply.headers.get('x-request-id')) throw new Error(`${method} ${path}: no x-request-id`);
    if (reply.status >= 400) {
      if (!isError(reply.body)) throw new Error(`${method} ${path}: no error body: ${reply.text}`);
      const { code } = reply.body.error;
      if (ERRORS[code as keyof typeof ERRORS]?.status !== reply.status) {
        throw new Error(`${method} ${path}: ${code} has another status than ${reply.status}`);
      }
    }
    const plain = path.split('?')[0] as string;
    const fitting = patterns.filter((each) => each.route.method === method && each.pattern.test(plain));
    // A path that is spelt out goes before one with a parameter, as in the router.
    const route = (fitting.find((each) => each.route.path === plain) ?? fitting[0])?.route;
    if (route === undefined) return;
    if (reply.status >= 400) {
      const known = [...errorsOf(route), ...KEYED_ERRORS, 'not_found'];
      if (!known.includes(reply.body.error.code)) {
        throw new Error(`${method} ${path}: does not declare ${reply.body.error.code}`);
      }
      return;
    }
    const declared = (route.responses as Record<number, Route['responses'][number] | undefined>)[
      reply.status
    ];
    if (declared === undefined)
      throw new Error(`${method} ${path}: does not declare the status ${reply.status}`);
    if (declared.schema === null || declared.content_type !== undefined) return;
    const type = reply.headers.get('content-type')?.split(';')[0] ?? '';
    if (declared.or_as?.includes(type) === true) return;
    const check = checkOf(declared.schema);
    if (!check(reply.body)) {
      throw new Error(`${method} ${path}: ${ajv.errorsText(check.errors)}\n${reply.text}`);
    }
  };
}

/**
 * Puts a clock in front of the database's own, for every connection from now on: it stands at `time_ms` until it
 * is moved.
 */
export async function stopClock(superuser: pg.Client, database: string, time_ms: number): Promise<void> {
  await superuser.query(`
    create schema stopped_clock;
    create table stopped_clock.moment (at timestamptz not null);
    ${ON_CITUS ? "select create_reference_table('stopped_clock.moment');" : ''}
    create function stopped_clock.clock_timestamp() returns timestamptz language sql volatile
      as 'select at from stopped_clock.moment';
    grant usage on schema stopped_clock to public;
    grant select on stopped_clock.moment to public;
    alter database ${pg.escapeIdentifier(database)} set search_path = stopped_clock, pg_catalog, public`);
  await superuser.query('insert into stopped_clock.moment values ($1)', [new Date(time_ms)]);
}

/** The service in this process, on a database of its own or on the one of another node. */
export async function startTestService(
  options: {
    env?: Record<string, string>;
    beside?: RunningService;
    database?: TestDatabase;
    /** The service takes the database for one that Citus spread: see `lookLikeCitus`. */
    looks_like_citus?: boolean;
    plan?: Plan;
    /** The database's clock stands at this moment until `setClock`; else it is the real one. */
    stopped_at_ms?: number;
    /** The watch over the database's clock; by default one that believes a clock which tests move. */
    clock?: ClockWatch;
    /** Gets the lines of the log; without it nothing is logged. */
    log_lines?: string[];
  } = {},
): Promise<RunningService> {
  const database = options.beside?.database ?? options.database ?? (await createMigratedDatabase());
  if (options.looks_like_citus === true) await lookLikeCitus(database);
  const superuser = new pg.Client({ ...database.connection, user: SUPERUSER.user });
  superuser.on('error', () => {});
  await superuser.connect();
  if (options.stopped_at_ms !== undefined) {
    await stopClock(superuser, database.connection.database, options.stopped_at_ms);
  }
  const { log_lines } = options;
  const log =
    log_lines === undefined
      ? pino({ level: 'silent' })
      : pino({ level: 'trace' }, { write: (line) => void log_lines.push(line) });
  const config = readConfig({
    PORT: '0',
    RATE_LIMIT_PER_MINUTE: '1000000',
    UNKNOWN_KEY_LIMIT_PER_MINUTE: '1000000',
    BOOTSTRAP_PLAN: options.plan ?? 'team',
    ...options.env,
  });
  const checkpoint_dir = await mkdtemp(join(tmpdir(), 'purser-checkpoints-'));
  const clock = options.clock ?? TRUSTING_CLOCK;
  const opened = {
    address: database.connection,
    secret_key: SECRET_KEY,
    guarded: true,
    checkpoint_dir,
    clock,
  };
  const service = await startService(config, opened, log);
  const core = makeCore(opened, log);
  const checkAnswer = makeAnswerCheck([
    ...makeApiRoutes(core, config),
    ...makePersonRoutes(core, config, makePeopleServices(core, config, makeOwnLimiter)),
  ]);
  const workspace_id =
    options.beside?.workspace_id ??
    (await superuser.query('select workspace_id from workspaces')).rows[0].workspace_id;
  const admin_key = options.beside?.admin_key ?? (service.first?.admin_key as string);

  const call: RunningService['call'] = async (method, path, given = {}) => {
    const headers: Record<string, string> = { ...given.headers };
    if (given.key !== null) headers['x-api-key'] = given.key ?? admin_key;
    const payload = given.raw ?? (given.body === undefined ? undefined : JSON.stringify(given.body));
    if (payload !== undefined) headers['content-type'] ??= 'application/json';
    if (given.idempotency_key !== undefined) headers['idempotency-key'] = given.idempotency_key;
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers,
      redirect: 'manual',
      ...(payload === undefined ? {} : { body: payload }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type') === 'application/json';
    const reply: Reply = {
      status: response.status,
      headers: response.headers,
      text,
      body: json && text !== '' ? JSON.parse(text) : undefined,
    };
    checkAnswer(method, path, reply);
    return reply;
  };

  let halted: Promise<void> | undefined;
  const halt = () => {
    halted ??= service.stop();
    return halted;
  };

  return {
    url: service.url,
    workspace_id,
    admin_key,
    database,
    checkpoint_dir,
    service,
    call,
    sql: (text, values) => superuser.query(text, values),
    async setClock(time_ms) {
      await superuser.query('update stopped_clock.moment set at = $1', [new Date(time_ms)]);
    },
    addWorkspace: ({ plan, trial_days }) =>
      addWorkspace(core, { name: 'Another', plan, trial_days: trial_days ?? null, by: 'operator' }),
    halt,
    async stop() {
      await halt();
      await core.close();
      await superuser.end();
      await rm(checkpoint_dir, { recursive: true, force: true });
      if (options.beside === undefined) await database.drop();
    },
  };
}

/** A purpose that the spends of `spend()` plainly serve. */
/** A capability's token, wherever it is in a text. */
export const CAPABILITY_TOKEN = /cap_[0-9A-Z]{26}\.[A-Za-z0-9_-]{43}/;

export const AUTHORITY = {
  purpose: { objective: 'Keep the staging servers running: cloud servers and hosting.' },
  currency: 'EUR',
};

let count = 0;
/** A key that no request of this process used before. */
export const freshKey = () => `key-${process.pid}-${++count}`;

/** A spend that serves the purpose of `AUTHORITY`. */
export function spend(agent: string | undefined, amount_minor: number, extra: Record<string, unknown> = {}) {
  const { action, ...rest } = extra as { action?: object };
  return {
    ...(agent === undefined ? {} : { agent }),
    action: {
      type: 'purchase',
      merchant: 'Hetzner Online',
      amount_minor,
      currency: 'EUR',
      description: 'A server for staging',
      ...action,
    },
    ...rest,
  };
}

/** Makes a key and gives back its value; `as` asks with another admin key. */
export async function makeKey(
  service: RunningService,
  body: {
    agent_id?: string;
    scopes?: string[];
    principal_id?: string;
    expires_in_seconds?: number;
    allowance?: string;
  },
  as?: string,
): Promise<{ id: string; key: string; made_by_person: string | null }> {
  const reply = await service.call('POST', '/v1/api-keys', {
    body: { name: 'made for a test', ...body },
    ...(as === undefined ? {} : { key: as }),
  });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.body;
}

/** Status and code: what a refusal is told by. */
export const refusal = (reply: Reply): [number, string | undefined] => [
  reply.status,
  reply.body?.error?.code,
];

/** The field that a 400 names. */
export const fieldOf = (reply: Reply): string => String(reply.body.error.message).split(':')[0] as string;
