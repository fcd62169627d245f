import { request } from 'node:http';
import { describe, expect } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import {
  connectHttp,
  makeAgent,
  makeKey,
  mcpTest,
  purchase,
  refused,
  startTestService,
  use,
} from './world.ts';

const { test, s } = mcpTest();
let key = '';
test.beforeAll(async () => {
  key = (await makeAgent(s)).key;
});

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const JSON_TYPE = 'application/json';
interface Told {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  body: any;
}

/** Sends bytes with just these headers; `fetch` would not let `Host` be chosen. */
function send(
  headers: Record<string, string>,
  { method = 'POST', body = LIST as unknown, url = s.url } = {},
): Promise<Told> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/mcp`, { method, headers, agent: false }, async (response) => {
      let told = '';
      for await (const chunk of response) told += chunk;
      const is_json = response.headers['content-type'] === JSON_TYPE && told !== '';
      resolve({
        status: response.statusCode as number,
        headers: response.headers,
        text: told,
        body: is_json ? JSON.parse(told) : undefined,
      });
    });
    sent.on('error', reject);
    sent.end(method === 'POST' ? text : undefined);
  });
}
const BASE = { 'content-type': JSON_TYPE, accept: 'application/json, text/event-stream' };
const withKey = (more: Record<string, string> = {}) => ({ ...BASE, authorization: `Bearer ${key}`, ...more });
const told = ({ status, body }: Told) => [status, body?.error?.code];

describe('keys', () => {
  test('as a bearer token or as x-api-key, of which x-api-key counts; each answer is plain JSON', async () => {
    for (const headers of [
      withKey(),
      { ...BASE, 'x-api-key': key },
      { ...BASE, authorization: `bearer  ${key} ` },
      withKey({ 'x-api-key': key, authorization: 'Bearer sk_other' }),
    ]) {
      const answer = await send(headers);
      expect([answer.status, answer.body.result.tools.length]).toEqual([200, 7]);
      expect(answer.headers['x-request-id']).toMatch(/^req_/);
      expect(answer.headers.ratelimit).toContain('"default"');
    }
    expect(told(await send(withKey({ 'x-api-key': 'sk_other' })))).toEqual([401, 'unauthenticated']);
  });

  test('missing, unknown and revoked ones, and sessions, get nothing', async () => {
    const gone = await makeKey(s, { scopes: ['read'] });
    await s.call('DELETE', `/v1/api-keys/${gone.id}`);
    for (const headers of [
      BASE,
      { ...BASE, authorization: 'Bearer nonsense' },
      { ...BASE, authorization: `Basic ${key}` },
      { ...BASE, authorization: `Bearer ${gone.key}` },
      { ...BASE, cookie: 'purser=anything' },
    ])
      expect(told(await send(headers))).toEqual([401, 'unauthenticated']);
  });

  test.each([
    ['admin', ['admin', 'review', 'read', 'authorize'], /admin key/],
    ['adapter', ['consume'], /scope/],
    ['adapter that reads', ['consume', 'read'], /adapter/],
    ['admin alone', ['admin'], /scope/],
    ['asking for no agent', ['authorize'], /not bound to an agent/],
    ['asking and reviewing', ['authorize', 'review'], /not bound to an agent/],
  ])('an %s key is refused with 403', async (_name, scopes, words) => {
    const made = await makeKey(s, { scopes });
    for (const body of [LIST, { ...LIST, method: 'initialize', params: {} }]) {
      const answer = await send({ ...BASE, authorization: `Bearer ${made.key}` }, { body });
      expect(told(answer)).toEqual([403, 'insufficient_scope']);
      expect(answer.body.error.message).toMatch(words);
    }
  });

  test('a bearer token is no key anywhere else', async () => {
    const answer = await s.call('GET', '/v1/decisions', {
      key: null,
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(401);
  });

  test('a revoked key is refused at the very next call, of a client that was connected before', async () => {
    const made = await makeAgent(s);
    const client = await connectHttp(s, made.key);
    await use(client, 'get_my_authority');
    await s.call('DELETE', `/v1/api-keys/${made.key_id}`);
    await expect(client.callTool({ name: 'get_my_authority', arguments: {} })).rejects.toThrow();
  });
});

describe('sites', () => {
  const port = () => new URL(s.url).port;
  test.each([
    ['evil.example', 421],
    ['localhost.evil.example', 421],
    ['10.1.2.3', 421],
    ['localhost', 200],
    ['127.0.0.1', 200],
    ['[::1]', 200],
    ['LOCALHOST', 200],
  ])('Host %s: %i, whatever the key', async (host, status) => {
    for (const headers of [withKey({ host: `${host}:${port()}` }), withKey({ host })]) {
      const answer = await send(headers);
      expect(answer.status).toBe(status);
      if (status === 421) expect(answer.body.error.code).toBe('misdirected_request');
    }
    if (status === 421) expect((await send({ ...BASE, host })).status).toBe(421);
  });

  test.each([
    'https://evil.example',
    'null',
    'http://localhost:1',
    'http://localhost.evil.example',
    'chrome-extension://x',
  ])('Origin %s is refused', async (origin) => {
    expect(told(await send(withKey({ origin })))).toEqual([403, 'cross_site_request']);
  });

  test('its own origins are taken', async () => {
    for (const host of ['localhost', '127.0.0.1']) {
      const own = `${host}:${port()}`;
      expect((await send(withKey({ host: own, origin: `http://${own}` }))).status).toBe(200);
    }
  });

  test('PUBLIC_URL names the host and the origin that clients use', async () => {
    const named = await startTestService({ beside: s, env: { PUBLIC_URL: 'https://purser.example' } });
    try {
      const url = named.url;
      const own = { host: 'purser.example', origin: 'https://purser.example' };
      expect((await send(withKey(own), { url })).status).toBe(200);
      expect((await send(withKey({ ...own, origin: 'https://other.example' }), { url })).status).toBe(403);
      expect((await send(withKey({ host: 'other.example' }), { url })).status).toBe(421);
    } finally {
      await named.stop();
    }
  });
});

test.each(['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS'])('%s is answered with 405', async (method) => {
  for (const headers of [withKey(), BASE]) {
    const { 'content-type': _, ...rest } = headers as Record<string, string>;
    const answer = await send(rest, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('POST');
    if (method !== 'HEAD') expect(answer.body.error.code).toBe('method_not_allowed');
  }
});

test.each([
  ['no JSON', '{', 400],
  ['a batch', [LIST, LIST], 400],
  ['text', '"tools/list"', 400],
  ['two fields of one name', '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', 400],
  ['more than 64 KiB', { ...LIST, params: { a: 'x'.repeat(70_000) } }, 400],
  ['no message of the protocol', { hello: 'world' }, 400],
])('a body that is %s is refused', async (_name, body, status) => {
  const answer = await send(withKey(), { body });
  expect(answer.status).toBe(status);
  expect(answer.text).not.toMatch(/at \w+ \(|node_modules/);
});

test('streams that last are not opened: a subscription ends at once', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: { notifications: {}, _meta },
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
  const answer = await send(withKey(headers), { body });
  expect(answer.text).toContain('"error"');
});

test('each message counts, and each route that a tool calls, against the limit of the key', async () => {
  const limited = await startTestService({ beside: s, env: { RATE_LIMIT_PER_MINUTE: '5' } });
  try {
    const mine = (await makeAgent(s)).key;
    const client = await connectHttp(limited, mine, '2026-07-28');
    await client.listTools();
    expect(await use(client, 'request_spend', purchase('10'))).toMatchObject({ status: 'ALLOWED' });
    // One message to get to know each other, the list, the call and its decision: one is left, and the route finds none.
    const said = await refused(client, 'request_spend', purchase('10'));
    expect(said).toContain('(rate_limited) Wait a minute');
    await expect(client.listTools()).rejects.toThrow();
  } finally {
    await limited.stop();
  }
});

test('who waits for a person holds back nobody: a hundred waits, no place among the writes, no transaction', async () => {
  const agent = await makeAgent(s);
  const client = await connectHttp(s, agent.key);
  const { decision_id } = await use(client, 'request_spend', purchase('300.00'));
  const WAITS = 100;
  const waits = Promise.all(
    Array.from({ length: WAITS }, () => use(client, 'wait_for_review', { decision_id, timeout_seconds: 55 })),
  );
  waits.catch(() => {});
  const inUse = async (resource: string) => {
    const metrics = await (await fetch(`${s.url}/metrics`)).text();
    return Number(new RegExp(`in_use\\{resource="${resource}"\\} (\\d+)`).exec(metrics)?.[1]);
  };
  await until(async () => (await inUse('waits')) >= WAITS);
  expect(await inUse('writes')).toBe(0);
  // A worker may be between two statements just now; a wait would hold its transaction for as long as it lasts.
  await until(async () => {
    const { rows } = await s.sql(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    );
    return rows[0].n === 0;
  });
  expect((await use(client, 'request_spend', purchase('20'))).status).toBe('ALLOWED');
  const review = { action: 'DENY', reason_code: 'NO' };
  await s.call('POST', `/v1/decisions/${decision_id}/reviews`, { body: review });
  expect(new Set((await waits).map(({ status }) => status))).toEqual(new Set(['DENIED']));
});

test('a client that goes away ends its wait', async () => {
  const client = await connectHttp(s, (await makeAgent(s)).key);
  const { decision_id } = await use(client, 'request_spend', purchase('300.00'));
  const gone = new AbortController();
  const waiting = client.callTool(
    { name: 'wait_for_review', arguments: { decision_id, timeout_seconds: 55 } },
    { signal: gone.signal, onprogress: () => gone.abort() },
  );
  await expect(waiting).rejects.toThrow();
  // Closing the service waits for requests in progress, so one that goes on would keep this test from its end.
  expect((await use(client, 'get_spend', { decision_id })).status).toBe('WAITING_FOR_REVIEW');
});
