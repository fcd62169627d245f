import { Ajv } from 'ajv';
import pg from 'pg';
import pino from 'pino';
import { addWorkspace, makeApiRoutes, makeCore, type Service, startService } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import type { Plan } from '../src/domain/workspace.ts';
import { ERRORS } from '../src/errors.ts';
import { KEYED_ERRORS } from '../src/http/openapi.ts';
import type { Route } from '../src/http/route.ts';
import { ErrorBody } from '../src/http/schemas.ts';
import { SUPERUSER } from '../src/storage/embedded-postgres.ts';
import { migrate } from '../src/storage/migrate.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

export const SECRET_KEY = Buffer.alloc(32, 7);

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
  service: Service;
  /** Calls the API; the answer is checked against what the route declares. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Runs SQL as the superuser: behind the service's back. */
  sql(text: string, values?: unknown[]): Promise<pg.QueryResult>;
  addWorkspace(options: {
    plan: Plan;
    trial_days?: number;
  }): Promise<{ workspace_id: string; admin_key: string }>;
  stop(): Promise<void>;
}

/** Throws when an answer is not what its route declares. */
function makeAnswerCheck(routes: readonly Route[]): (method: string, path: string, reply: Reply) => void {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, addUsedSchema: false });
  const compiled = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replace(/:[a-z]+/g, '[^/]+')}$`),
    answers: new Map(
      Object.entries(route.responses).map(([status, { schema }]) => [
        Number(status),
        schema === null ? null : ajv.compile(schema),
      ]),
    ),
  }));
  const isError = ajv.compile(ErrorBody);
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
    const found = compiled.find(({ route, pattern }) => route.method === method && pattern.test(plain));
    if (found === undefined) return;
    if (reply.status >= 400) {
      const known = [...found.route.errors, ...KEYED_ERRORS, 'not_found'];
      if (!known.includes(reply.body.error.code)) {
        throw new Error(`${method} ${path}: does not declare ${reply.body.error.code}`);
      }
      return;
    }
    const check = found.answers.get(reply.status);
    if (check === undefined)
      throw new Error(`${method} ${path}: does not declare the status ${reply.status}`);
    if (check !== null && !check(reply.body)) {
      throw new Error(`${method} ${path}: ${ajv.errorsText(check.errors)}\n${reply.text}`);
    }
  };
}

/** The service in this process, on a database of its own or on the one of another node. */
export async function startTestService(
  options: {
    env?: Record<string, string>;
    beside?: RunningService;
    database?: TestDatabase;
    plan?: Plan;
  } = {},
): Promise<RunningService> {
  const database = options.beside?.database ?? options.database ?? (await createTestDatabase());
  const guarded = options.beside !== undefined || (await migrate(database.connection)).guarded;
  if (!guarded) throw new Error('the test database has no service role');
  const log = pino({ level: 'silent' });
  const config = readConfig({
    PORT: '0',
    RATE_LIMIT_PER_MINUTE: '1000000',
    UNKNOWN_KEY_LIMIT_PER_MINUTE: '1000000',
    BOOTSTRAP_PLAN: options.plan ?? 'team',
    ...options.env,
  });
  const opened = { address: database.connection, secret_key: SECRET_KEY, guarded: true };
  const service = await startService(config, opened, log);
  const core = makeCore(opened, log);
  const checkAnswer = makeAnswerCheck(makeApiRoutes(core, config));
  const superuser = new pg.Client({ ...database.connection, user: SUPERUSER.user });
  superuser.on('error', () => {});
  await superuser.connect();
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

  return {
    url: service.url,
    workspace_id,
    admin_key,
    database,
    service,
    call,
    sql: (text, values) => superuser.query(text, values),
    addWorkspace: ({ plan, trial_days }) =>
      addWorkspace(core, { name: 'Another', plan, trial_days: trial_days ?? null, by: 'operator' }),
    async stop() {
      await service.stop();
      await core.close();
      await superuser.end();
      if (options.beside === undefined) await database.drop();
    },
  };
}

/** A purpose that the spends of `spend()` plainly serve. */
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
