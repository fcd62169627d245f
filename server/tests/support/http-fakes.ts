import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { Caller } from '@purser/rules/domain/keys';
import { ApiError, authUnavailable } from '@purser/rules/errors';
import pino from 'pino';
import Type from 'typebox';
import { clockSuspect } from '../../src/engine/lane/batch.ts';
import { makeOwnLimiter } from '../../src/service/http/limiters.ts';
import type { Call, Route } from '../../src/service/http/route.ts';
import {
  AmountMinor,
  Currency,
  ErrorBody,
  Fields,
  FreeObject,
  IdIn,
  LimitMinor,
  Line,
  LongText,
  OneOf,
  PageQuery,
  PayeeId,
  PrincipalId,
  page,
  QueryBoolean,
  QueryBound,
  QueryInteger,
  Slug,
  Timestamp,
  TimestampIn,
  WholeNumber,
} from '../../src/service/http/schemas.ts';
import { makeServer } from '../../src/service/http/server.ts';
import type { ServerOptions } from '../../src/service/http/server-options.ts';
import { makeMetrics } from '../../src/service/observability/metrics.ts';

/** Routes, keys and a client for tests of the HTTP machinery; no database behind them. */

const SpendBody = Fields(
  {
    action: Fields({
      type: Line({ max: 64 }, { examples: ['purchase'] }),
      merchant: Line({ max: 200 }, { examples: ['Acme GmbH'] }),
      amount_minor: AmountMinor({ examples: [1250] }),
      currency: Currency(),
      description: Type.Optional(LongText({ max: 2000 })),
      payee_id: Type.Optional(PayeeId()),
    }),
    task: Type.Optional(LongText({ max: 4000 })),
    trace: Type.Optional(
      Type.Array(
        Fields({
          step: Line({ max: 200 }),
          kind: Type.Optional(Line({ max: 64 })),
          at: Type.Optional(TimestampIn()),
        }),
        { maxItems: 25 },
      ),
    ),
    limitable: Type.Optional(Type.Boolean()),
    min_amount_minor: Type.Optional(AmountMinor()),
    agent: Type.Optional(Slug()),
    context: Type.Optional(FreeObject({ max_bytes: 8192 })),
  },
  { $id: 'SpendRequest' },
);

const Spend = Fields(
  { id: Type.String(), amount_minor: LimitMinor(), created_at: Timestamp() },
  { $id: 'Spend' },
);

const KeyBody = Type.Union([
  Fields({ name: Line({ max: 64 }), agent_id: IdIn('agent') }),
  Fields({
    name: Line({ max: 64 }),
    scopes: Type.Array(OneOf(['read', 'admin']), { minItems: 1, uniqueItems: true }),
    principal_id: Type.Optional(PrincipalId()),
    expires_in_seconds: Type.Optional(WholeNumber({ min: 60, max: 31_536_000 })),
  }),
]);

const FILTERS = Fields({
  decision: Type.Optional(OneOf(['ALLOW', 'REVIEW', 'DENY'])),
  q: Type.Optional(Line({ max: 200 })),
  min_amount: Type.Optional(QueryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER })),
  reviewed: Type.Optional(QueryBoolean()),
  from: Type.Optional(QueryBound('from')),
  to: Type.Optional(QueryBound('to')),
  ...PageQuery,
});

/** Resolves whoever waits at `/v1/slow`. */
export const slow = { release: () => {}, entered: Promise.resolve() };

export function armSlow(): void {
  slow.entered = new Promise((entered) => {
    slowRoute.handler = async () => {
      entered();
      await new Promise<void>((resolve) => {
        slow.release = resolve;
      });
      return { status: 200, body: { done: true } };
    };
  });
}

const slowRoute: Route = {
  method: 'GET',
  path: '/v1/slow',
  operationId: 'slow',
  tag: 'Service',
  summary: 'Waits.',
  description: 'Waits until it is released.',
  scopes: ['read'],
  responses: { 200: { description: 'Done.', schema: Fields({ done: Type.Boolean() }) } },
  errors: [],
  handler: async () => ({ status: 200, body: { done: true } }),
};

/** A write at `POST /v1/spends` that is answered when it is released, and a wait until the next one has begun. */
export function heldWrite(): { route: Route; started: () => Promise<void>; release: () => void } {
  const held: (() => void)[] = [];
  let begun = 0;
  let waited_for = 0;
  const spend = FAKE_ROUTES[0] as Route;
  const route: Route = {
    ...spend,
    handler: () => {
      begun += 1;
      return new Promise((resolve) => held.push(() => resolve({ status: 201, body: {} })));
    },
  };
  return {
    route,
    async started() {
      waited_for += 1;
      while (begun < waited_for) await new Promise((resolve) => setImmediate(resolve));
    },
    release: () => held.shift()?.(),
  };
}

const ok = { 200: { description: 'What the handler was given.', schema: Spend } };

export const FAKE_ROUTES: Route[] = [
  {
    method: 'POST',
    path: '/v1/spends',
    operationId: 'createSpend',
    tag: 'Decisions',
    summary: 'Asks for a decision.',
    description: 'The answer is a decision.\n\nA replay answers 200.',
    scopes: ['authorize'],
    idempotent: true,
    body: SpendBody,
    responses: { 201: { description: 'The decision.', schema: Spend } },
    errors: ['agent_mismatch', 'idempotency_conflict', 'agent_required'],
    handler: async (call: Call) => ({
      status: 201,
      body: { body: call.body, hash: call.body_hash?.toString('hex'), address: call.client_address },
    }),
  },
  {
    method: 'GET',
    path: '/v1/spends',
    operationId: 'listSpends',
    tag: 'Decisions',
    summary: 'Lists decisions.',
    description: 'Newest first.',
    scopes: ['read'],
    agentKey: 'own',
    query: FILTERS,
    responses: { 200: { description: 'A page.', schema: page(Spend, { $id: 'SpendPage' }) } },
    errors: [],
    handler: async (call: Call) => ({ status: 200, body: { query: call.query } }),
  },
  {
    method: 'GET',
    path: '/v1/spends/:id',
    operationId: 'getSpend',
    tag: 'Decisions',
    summary: 'One decision.',
    description: 'With its current usage.',
    scopes: ['read'],
    params: Fields({ id: Type.String({ description: 'Its id.', examples: ['dec_1'] }) }),
    responses: ok,
    errors: ['not_found'],
    handler: async (call: Call) => ({ status: 200, json: JSON.stringify({ id: call.params.id }) }),
  },
  {
    method: 'DELETE',
    path: '/v1/spends/:id',
    operationId: 'deleteSpend',
    tag: 'Decisions',
    summary: 'Removes one.',
    description: 'Again 204.',
    scopes: ['admin', 'review'],
    params: Fields({ id: Type.String() }),
    responses: { 204: { description: 'Gone.', schema: null } },
    errors: ['not_found'],
    handler: async () => ({ status: 204 }),
  },
  {
    method: 'POST',
    path: '/v1/keys',
    operationId: 'createKey',
    tag: 'API keys',
    summary: 'Makes a key.',
    description: 'Once.',
    scopes: ['admin', 'read'],
    body: KeyBody,
    responses: ok,
    errors: [],
    handler: async (call: Call) => ({ status: 200, body: call.body as object }),
  },
  {
    method: 'GET',
    path: '/v1/throws/:what',
    operationId: 'throws',
    tag: 'Service',
    summary: 'Fails.',
    description: 'In several ways.',
    scopes: ['read'],
    params: Fields({ what: Type.String() }),
    responses: ok,
    errors: ['agent_exists', 'agent_required'],
    handler: async (call: Call) => {
      switch (call.params.what) {
        case 'conflict':
          throw new ApiError('agent_exists', 'An agent with that slug exists.');
        case 'agent':
          throw new ApiError('agent_required', 'Name the agent.');
        case 'unavailable':
          throw new ApiError('unavailable', 'Retry.', { retry_after_s: 2, cause: new Error('db down') });
        case 'clock':
          throw authUnavailable(clockSuspect('The clock jumped.'));
        case 'bigint':
          return { status: 200, body: { n: 1n } };
        case 'header':
          return { status: 200, body: {}, headers: { 'x-bad': 'a\nb' } };
        default:
          throw new Error('secret detail');
      }
    },
  },
  slowRoute,
  {
    method: 'GET',
    path: '/open',
    operationId: 'open',
    tag: 'Service',
    summary: 'Open to all.',
    description: 'No key.',
    scopes: 'public',
    responses: { 200: { description: 'Open.', schema: ErrorBody } },
    errors: [],
    handler: async () => ({
      status: 200,
      text: { content: 'open', content_type: 'text/plain; charset=utf-8' },
    }),
  },
];

export function caller(overrides: Partial<Caller> = {}): Caller {
  return {
    workspace_id: 'ws_1',
    key_id: 'key_all',
    session: null,
    kind: 'custom',
    scopes: ['authorize', 'read', 'admin'],
    agent_id: null,
    principal_id: null,
    ...overrides,
  };
}

export const KEYS: Record<string, Caller> = {
  sk_all: caller(),
  sk_other: caller({ key_id: 'key_other' }),
  sk_reader: caller({ key_id: 'key_reader', kind: 'read_only', scopes: ['read'] }),
  sk_agent: caller({ key_id: 'key_agent', kind: 'agent', scopes: ['authorize'], agent_id: 'agt_1' }),
};

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: () => unknown;
}

export interface Ask {
  method?: string;
  key?: string | null;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

/** A running server with fake routes, and a client that speaks to it over a socket. */
export async function startFakes(overrides: Partial<ServerOptions> = {}) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const metrics = makeMetrics();
  let ids = 0;
  const server = makeServer({
    routes: FAKE_ROUTES,
    authenticate: async (key) => {
      if (key === 'sk_down') throw new ApiError('auth_unavailable', 'Retry.', { retry_after_s: 1 });
      const holder = key === undefined ? undefined : KEYS[key];
      return holder === undefined ? { ok: false, message: 'No such key.' } : { ok: true, caller: holder };
    },
    rate_limit_per_minute: 100_000,
    unknown_key_limit_per_minute: 100_000,
    deadline_ms: 60_000,
    balance: null,
    keep_alive_ms: 72_000,
    isFull: () => false,
    makeLimiter: makeOwnLimiter,
    tracing: null,
    trusted_proxies: [],
    logger,
    newRequestId: () => `req_${++ids}`,
    now_ms: () => performance.now(),
    metrics,
    ...overrides,
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const port = Number(new URL(address).port);

  function ask(path: string, options: Ask = {}): Promise<Reply> {
    const headers: Record<string, string | string[]> = { ...options.headers };
    if (options.key !== null) headers['x-api-key'] = options.key ?? 'sk_all';
    if (options.body !== undefined && headers['content-type'] === undefined)
      headers['content-type'] = 'application/json';
    // Node announces no length by itself for GET and DELETE.
    if (options.body !== undefined && headers['transfer-encoding'] === undefined)
      headers['content-length'] = String(Buffer.byteLength(options.body));
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        { host: '127.0.0.1', port, method: options.method ?? 'GET', path, headers, agent: false },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              text,
              json: () => JSON.parse(text),
            });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(options.body);
    });
  }

  /** `POST /v1/spends` with an idempotency key. */
  function spend(body: unknown, options: Ask = {}): Promise<Reply> {
    return ask('/v1/spends', {
      method: 'POST',
      body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      ...options,
      headers: { 'idempotency-key': 'k-1', ...options.headers },
    });
  }

  /** Sends bytes as they are and gives what came back until the server closed. */
  function raw(bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
      setTimeout(() => socket.destroy(), 3000).unref();
    });
  }

  return { server, port, lines, metrics, ask, spend, raw };
}

export const GOOD_SPEND = {
  action: { type: 'purchase', merchant: 'Acme', amount_minor: 1250, currency: 'USD' },
};

/** The code, message and request id of an error's body, after checking that it has no more than these. */
export function errorOf(reply: Reply): { code: string; message: string; request_id: string } {
  const body = reply.json() as { error: { code: string; message: string; request_id: string } };
  if (Object.keys(body).join() !== 'error' || Object.keys(body.error).join() !== 'code,message,request_id')
    throw new Error(`not the shape of an error: ${reply.text}`);
  if (reply.headers['content-type'] !== 'application/json') throw new Error('not application/json');
  if (reply.headers['x-request-id'] !== body.error.request_id) throw new Error('another x-request-id');
  return body.error;
}
