import { createHash } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../src/service/http/route.ts';
import { closeServer } from '../../src/service/http/server.ts';
import {
  armSlow,
  errorOf,
  FAKE_ROUTES,
  GOOD_SPEND,
  heldWrite,
  type Reply,
  slow,
  startFakes,
} from '../support/http-fakes.ts';
import { until } from '../support/until.ts';

type Fakes = Awaited<ReturnType<typeof startFakes>>;

let fakes: Fakes;
beforeAll(async () => {
  fakes = await startFakes();
});
afterAll(() => fakes.server.close());

async function refused(reply: Promise<Reply>, message: RegExp | string): Promise<void> {
  const answered = await reply;
  expect(errorOf(answered)).toMatchObject({ code: 'invalid_request' });
  expect(answered.status).toBe(400);
  if (typeof message === 'string') expect(errorOf(answered).message).toBe(message);
  else expect(errorOf(answered).message).toMatch(message);
}

function spendWith(changes: Record<string, unknown>, action: Record<string, unknown> = {}) {
  return fakes.spend({ action: { ...GOOD_SPEND.action, ...action }, ...changes });
}

describe('requests that are accepted', () => {
  it('a handler is given the body in its normalised form, and the hash of the body as it was sent', async () => {
    const sent = { action: { ...GOOD_SPEND.action, merchant: '  Cafe\u0301  ' } };
    const reply = await fakes.spend(sent);
    expect(reply.status).toBe(201);
    const hash = createHash('sha256').update(canonicalJson(sent)).digest('hex');
    expect(reply.json()).toMatchObject({ body: { action: { merchant: 'Café' } }, hash });
  });

  it('12.0 is an integer', async () => {
    const text = '{"action":{"type":"p","merchant":"A","amount_minor":12.0,"currency":"USD"}}';
    expect((await fakes.spend(text)).status).toBe(201);
  });

  it('content-type application/json with charset=utf-8 is taken', async () => {
    for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])
      expect((await fakes.spend(GOOD_SPEND, { headers: { 'content-type': type } })).status).toBe(201);
  });

  it('a chunked body is taken', async () => {
    const reply = await fakes.spend(GOOD_SPEND, { headers: { 'transfer-encoding': 'chunked' } });
    expect(reply.status).toBe(201);
  });

  it('a body of exactly 64 KiB is taken', async () => {
    const text = JSON.stringify(GOOD_SPEND).padEnd(65_536, ' ');
    expect((await fakes.spend(text)).status).toBe(201);
  });

  it('query values reach the handler as numbers, booleans and moments, with the page size filled in', async () => {
    const query = 'min_amount=5&reviewed=false&from=2026-11-01&to=2026-11-30&q=caf%C3%A9+bar';
    const reply = await fakes.ask(`/v1/spends?${query}`);
    expect(reply.json()).toEqual({
      query: {
        min_amount: 5,
        reviewed: false,
        from: '2026-11-01T00:00:00.000Z',
        to: '2026-12-01T00:00:00.000Z',
        q: 'café bar',
        limit: 50,
      },
    });
  });

  it('an offset in a query timestamp is brought to UTC', async () => {
    const reply = await fakes.ask(`/v1/spends?from=${encodeURIComponent('2026-11-21T10:30:00+02:00')}`);
    expect(reply.json()).toMatchObject({ query: { from: '2026-11-21T08:30:00.000Z' } });
  });

  it('stored JSON is answered byte for byte', async () => {
    const reply = await fakes.ask('/v1/spends/dec_7');
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.text).toBe('{"id":"dec_7"}');
  });

  it('answers are not to be cached', async () => {
    expect((await fakes.ask('/v1/spends/dec_7')).headers['cache-control']).toBe('no-store');
  });

  it('both forms of a union body are taken', async () => {
    for (const body of [
      { name: 'a', agent_id: 'agt_1' },
      { name: 'b', scopes: ['read'] },
    ]) {
      const reply = await fakes.ask('/v1/keys', { method: 'POST', body: JSON.stringify(body) });
      expect(reply.json()).toEqual(body);
    }
  });

  it('an unknown expectation is ignored', async () => {
    expect((await fakes.ask('/open', { key: null, headers: { expect: 'miracles' } })).status).toBe(200);
  });

  it('a target in absolute form is understood', async () => {
    const text = await fakes.raw(
      'GET http://any.example/open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('204 No Content', () => {
  it('a 204 has no body, and a DELETE with a content type but no body is accepted', async () => {
    const bare = await startFakes({
      authenticate: async () => ({
        ok: true,
        caller: {
          workspace_id: 'ws_1',
          key_id: 'key_1',
          session: null,
          kind: 'admin',
          scopes: ['admin'],
          agent_id: null,
          principal_id: null,
        },
      }),
    });
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'transfer-encoding': 'chunked' }]) {
      const reply = await bare.ask('/v1/spends/x', { method: 'DELETE', headers });
      expect([reply.status, reply.text, reply.headers['content-length']]).toEqual([204, '', undefined]);
    }
    await bare.server.close();
  });
});

describe('400 invalid_request', () => {
  it('a 400 names the field at fault in plain words, for every kind of wrong body', async () => {
    await refused(
      spendWith({}, { amount_minor: '12' }),
      'action.amount_minor: must be an integer from 1 to 9007199254740991',
    );
    await refused(
      spendWith({}, { amount_minor: 12.5 }),
      'action.amount_minor: must be an integer from 1 to 9007199254740991',
    );
    await refused(
      spendWith({}, { amount_minor: 0 }),
      'action.amount_minor: must be an integer from 1 to 9007199254740991',
    );
    await refused(spendWith({}, { merchant: undefined }), 'action.merchant: is required');
    await refused(spendWith({}, { merchant: '   ' }), /^action\.merchant: must be 1 to 200 characters/);
    await refused(spendWith({}, { merchant: 'a\u0000b' }), /^action\.merchant: must not contain control/);
    await refused(spendWith({}, { merchant: 7 }), 'action.merchant: must be a string');
    await refused(spendWith({}, { currency: 'usd' }), /^action\.currency: must be an active ISO 4217 code/);
    await refused(spendWith({}, { currency: 'XXZ' }), /^action\.currency: must be an active ISO 4217 code/);
    await refused(spendWith({}, { payee_id: 'nothing' }), /^action\.payee_id: must be "<rail>:<id>"/);
    await refused(spendWith({ limit: 5 }), 'limit: is not a known field');
    await refused(spendWith({}, { amount: 5 }), 'action.amount: is not a known field');
    await refused(spendWith({ limitable: 'yes' }), 'limitable: must be true or false');
    await refused(spendWith({ agent: 'Bad Slug' }), /^agent: must be 1 to 64 of a-z/);
    await refused(spendWith({ trace: {} }), 'trace: must be an array');
    await refused(spendWith({ trace: Array(26).fill({ step: 's' }) }), 'trace: must have at most 25 items');
    await refused(spendWith({ trace: [{ step: 's' }, {}] }), 'trace[1].step: is required');
    await refused(
      spendWith({ trace: [{ step: 's', at: '2026-02-30T00:00:00Z' }] }),
      /^trace\[0\]\.at: must be an RFC 3339 timestamp/,
    );
    await refused(spendWith({ context: [] }), 'context: must be an object');
    await refused(
      spendWith({ context: { a: 'x'.repeat(8192) } }),
      'context: must be at most 8192 bytes of JSON',
    );
    await refused(fakes.spend('[]'), 'body: must be an object');
    await refused(fakes.spend('null'), 'body: must be an object');
  });

  it('a 400 for a body of several possible forms names the field of the form that was meant', async () => {
    const post = (body: unknown) => fakes.ask('/v1/keys', { method: 'POST', body: JSON.stringify(body) });
    await refused(post({ name: 'a', agent_id: 5 }), 'agent_id: must be a string');
    await refused(post({ name: 'a', scopes: [] }), 'scopes: must have at least 1 item');
    await refused(post({ name: 'a', scopes: ['x'] }), 'scopes[0]: must be one of read, admin');
    await refused(
      post({ name: 'a', scopes: ['read', 'read'] }),
      'scopes: must not contain the same item twice',
    );
    await refused(
      post({ name: 'a', scopes: ['read'], expires_in_seconds: 59 }),
      'expires_in_seconds: must be an integer from 60 to 31536000',
    );
    await refused(
      post({ name: 'a', scopes: ['read'], principal_id: 'ada' }),
      /^principal_id: must be "user:<id>"/,
    );
    await refused(post({ name: 'a' }), /^(agent_id|scopes): is required/);
    await refused(post('text'), 'body: must be an object');
  });

  it('a 400 shows the name of an unknown field shortened and printable', async () => {
    const reply = fakes.spend({ ...GOOD_SPEND, [`\u202e\n${'x'.repeat(500)}`]: 1 });
    await refused(reply, /^\?x{99}…: is not a known field$/);
  });

  it('__proto__ in a body is refused', async () => {
    await refused(
      fakes.spend('{"action":{"type":"p","merchant":"A","amount_minor":1,"currency":"USD"},"__proto__":{}}'),
      /__proto__/,
    );
  });

  it('a body that is no JSON, twice the same key, or no UTF-8 is refused', async () => {
    for (const body of ['{', '{"a":1,}', '{"a":1,"a":2}', '{}x', Buffer.from([0x22, 0xff, 0x22])])
      await refused(fakes.spend(body), /^[^ ]+: /);
  });

  it('an empty body is refused where a body is required', async () => {
    const reply = fakes.ask('/v1/spends', { method: 'POST', headers: { 'idempotency-key': 'a' } });
    await refused(reply, 'body: is required');
    await refused(fakes.spend('', { headers: { 'transfer-encoding': 'chunked' } }), 'body: is required');
  });

  it('another content type, none, another charset and a content-encoding are refused', async () => {
    for (const type of ['text/plain', 'application/json; charset=latin1', 'application/jsonx', 'json', '/'])
      await refused(
        fakes.spend(GOOD_SPEND, { headers: { 'content-type': type } }),
        'content-type: must be application/json',
      );
    const body = '{}';
    const text = await fakes.raw(
      `POST /v1/spends HTTP/1.1\r\nHost: a\r\nx-api-key: sk_all\r\nidempotency-key: a\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*content-type: must be application\/json/);
    await refused(
      fakes.spend(GOOD_SPEND, { headers: { 'content-encoding': 'gzip' } }),
      /^content-encoding: must be absent/,
    );
  });

  it('a body over 64 KiB is refused, whether its length is announced or not', async () => {
    const big = JSON.stringify(GOOD_SPEND).padEnd(65_537, ' ');
    await refused(fakes.spend(big), 'body: must be at most 65536 bytes');
    await refused(
      fakes.spend(big, { headers: { 'transfer-encoding': 'chunked' } }),
      'body: must be at most 65536 bytes',
    );
    await refused(fakes.spend('x'.repeat(2_000_000)), 'body: must be at most 65536 bytes');
  });

  it('a body on a route that takes none is refused', async () => {
    await refused(fakes.ask('/v1/spends', { method: 'GET', body: '{}' }), 'body: must be empty');
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }])
      await refused(
        fakes.ask('/v1/spends/x', { method: 'DELETE', body: '{}', headers }),
        'body: must be empty',
      );
    await refused(fakes.ask('/open', { key: null, body: '{}' }), 'body: must be empty');
  });

  it('a 400 names the query parameter at fault', async () => {
    const get = (query: string) => fakes.ask(`/v1/spends?${query}`);
    await refused(get('limt=5'), 'limt: is not a known query parameter');
    await refused(get('limit=0'), 'limit: must be an integer from 1 to 200');
    await refused(get('limit=201'), 'limit: must be an integer from 1 to 200');
    for (const limit of ['', '1e2', '0x10', '5.0', '%205', '99999999999999999999'])
      await refused(get(`limit=${limit}`), 'limit: must be an integer from 1 to 200');
    await refused(get('limit=5&limit=6'), 'limit: must be given once');
    await refused(get('decision=allow'), 'decision: must be one of ALLOW, REVIEW, DENY');
    await refused(get('reviewed=1'), 'reviewed: must be true or false');
    await refused(get('from=yesterday'), /^from: must be a date/);
    await refused(get('from=2026-02-29'), /^from: must be a date/);
    await refused(get('from=2026-11-21T08:30:00'), /^from: must be a date/);
    await refused(get('from=0000-01-01'), /^from: must be a date/);
    await refused(get('cursor=%7Bx'), /^cursor: must be a next_cursor/);
    await refused(get('q=%ff'), 'q: must be percent-encoded UTF-8 without NUL');
    await refused(get('q=%zz'), 'q: must be percent-encoded UTF-8 without NUL');
    await refused(get('q=a%00b'), 'q: must be percent-encoded UTF-8 without NUL');
    await refused(get('=x'), /^query: /);
    await refused(get('__proto__=1'), '__proto__: is not a known query parameter');
    await refused(fakes.ask('/v1/spends/x?a=1'), 'a: is not a known query parameter');
    await refused(fakes.ask('/open?a=1', { key: null }), 'a: is not a known query parameter');
  });

  it('a missing, ill-formed or repeated idempotency key is refused', async () => {
    const body = JSON.stringify(GOOD_SPEND);
    await refused(fakes.ask('/v1/spends', { method: 'POST', body }), 'idempotency-key: is required');
    for (const key of ['', 'a b', 'x'.repeat(256), 'é'])
      await refused(
        fakes.spend(GOOD_SPEND, { headers: { 'idempotency-key': key } }),
        /^idempotency-key: must be 1 to 255/,
      );
    await refused(
      fakes.spend(GOOD_SPEND, { headers: { 'idempotency-key': ['a', 'b'] } }),
      /^idempotency-key: must be 1 to 255/,
    );
    const longest = { headers: { 'idempotency-key': '~'.repeat(255) } };
    expect((await fakes.spend(GOOD_SPEND, longest)).status).toBe(201);
  });

  it('bytes that are not an HTTP request get an error of the usual shape', async () => {
    for (const bytes of [
      'nonsense\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      'POST /v1/spends HTTP/1.1\r\nHost: a\r\nx-api-key: sk_all\r\ncontent-type: application/json\r\nidempotency-key: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      'POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
      'GET /open HTTP/1.1\r\nConnection: close\r\n\r\n',
    ]) {
      const [head, body] = (await fakes.raw(bytes)).split('\r\n\r\n') as [string, string];
      expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      const { error } = JSON.parse(body);
      expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(/^[a-z]+: /) });
      expect(head).toContain(`x-request-id: ${error.request_id}`);
      expect(head).toContain('content-type: application/json');
    }
  });
});

describe('401 unauthenticated', () => {
  it('a request without a valid key is answered 401 before its body is read', async () => {
    for (const key of [null, 'sk_nobody', '', 'sk_all, sk_all']) {
      const reply = await fakes.spend('not json', { key });
      expect(reply.status).toBe(401);
      expect(errorOf(reply)).toMatchObject({ code: 'unauthenticated', message: 'No such key.' });
    }
  });

  it('a 401 carries the rate limit of the client address', async () => {
    const reply = await fakes.ask('/v1/spends', { key: null });
    expect(reply.headers['ratelimit-policy']).toBe('"unknown-key";q=100000;w=60');
  });
});

describe('403 insufficient_scope', () => {
  it('a 403 names the scope that is needed and those that the key has', async () => {
    const reply = await fakes.spend('not json', { key: 'sk_reader' });
    expect(reply.status).toBe(403);
    expect(errorOf(reply)).toMatchObject({
      code: 'insufficient_scope',
      message: 'This needs the scope authorize. This key has read.',
    });
  });

  it('an agent key without the scope may call routes that show it its own data, and no others', async () => {
    expect((await fakes.ask('/v1/spends', { key: 'sk_agent' })).status).toBe(200);
    expect((await fakes.ask('/v1/spends/x', { key: 'sk_agent' })).status).toBe(403);
    expect((await fakes.ask('/v1/spends/x', { key: 'sk_agent', method: 'DELETE' })).status).toBe(403);
  });
});

describe('404 not_found', () => {
  it('an unknown route and a wrong method are answered 404, with a key or without', async () => {
    for (const key of [null, 'sk_all', 'sk_nobody'])
      for (const [method, path] of [
        ['GET', '/'],
        ['PUT', '/v1/spends'],
        ['POST', '/v1/nothing'],
        ['OPTIONS', '/v1/spends'],
        ['TRACE', '/v1/spends'],
        ['PROPFIND', '/v1/spends'],
        ['GET', '//v1/spends'],
        ['GET', '/V1/spends'],
        ['GET', '/v1/%zz'],
        ['GET', '/v1/spends/%ff'],
      ] as const) {
        const reply = await fakes.ask(path, { key, method });
        expect([method, path, reply.status]).toEqual([method, path, 404]);
        expect(errorOf(reply)).toMatchObject({ code: 'not_found' });
      }
  });

  it('HEAD on a route with a key is answered 404', async () => {
    const reply = await fakes.ask('/v1/spends', { method: 'HEAD' });
    expect([reply.status, reply.text]).toEqual([404, '']);
  });

  it('a body on an unknown route is not read', async () => {
    const reply = await fakes.ask('/nowhere', { method: 'POST', body: 'x'.repeat(100_000) });
    expect(reply.status).toBe(404);
  });

  it('CONNECT gets an error of the usual shape', async () => {
    const text = await fakes.raw('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 404 Not Found[\s\S]*"code":"not_found"/);
  });

  it('a path parameter that cannot be an id is answered 404', async () => {
    for (const id of ['a.b', '%00', 'a%2Fb', 'é', 'x'.repeat(65), 'x'.repeat(3000), '%252e', "a'--"]) {
      const reply = await fakes.ask(`/v1/spends/${encodeURI(decodeURI(id))}`);
      expect([id, reply.status]).toEqual([id, 404]);
      expect(errorOf(reply)).toMatchObject({ code: 'not_found' });
    }
  });

  it('an invalid id without a key is answered 401, not 404', async () => {
    expect((await fakes.ask('/v1/spends/a.b', { key: null })).status).toBe(401);
  });
});

describe('409 and 422 of handlers', () => {
  it('a conflict and an unprocessable request are answered as the handler threw them', async () => {
    const conflict = await fakes.ask('/v1/throws/conflict');
    expect([conflict.status, errorOf(conflict).code]).toEqual([409, 'agent_exists']);
    const agent = await fakes.ask('/v1/throws/agent');
    expect([agent.status, errorOf(agent).code]).toEqual([422, 'agent_required']);
  });
});

describe('429 rate_limited', () => {
  it('a key is counted on every route, refused requests and unknown routes included', async () => {
    const limited = await startFakes({ rate_limit_per_minute: 5 });
    const first = await limited.ask('/v1/spends');
    expect(first.headers['ratelimit-policy']).toBe('"default";q=5;w=60');
    expect(first.headers.ratelimit).toBe('"default";r=4;t=60');
    expect((await limited.spend('bad')).status).toBe(400);
    expect((await limited.ask('/v1/spends/x', { method: 'DELETE' })).status).toBe(204);
    expect((await limited.ask('/nowhere')).status).toBe(404);
    expect((await limited.ask('/v1/%zz')).headers.ratelimit).toMatch(/^"default";r=0;t=\d+$/);
    for (const path of ['/v1/spends', '/nowhere', '/v1/%zz']) {
      const over = await limited.ask(path);
      expect([over.status, errorOf(over).code, over.headers['retry-after']]).toEqual([
        429,
        'rate_limited',
        '60',
      ]);
      expect(over.headers.ratelimit).toMatch(/^"default";r=0;t=\d+$/);
    }
    expect((await limited.ask('/v1/spends', { key: 'sk_other' })).status).toBe(200);
    expect((await limited.ask('/open')).status).toBe(200);
    expect((await limited.ask('/nowhere', { key: null })).status).toBe(404);
    await limited.server.close();
  });

  it('unknown keys are counted by address, and valid keys from there keep working', async () => {
    const limited = await startFakes({ unknown_key_limit_per_minute: 3 });
    expect((await limited.ask('/v1/spends', { key: null })).status).toBe(401);
    expect((await limited.ask('/v1/spends', { key: 'sk_nobody' })).status).toBe(401);
    expect((await limited.ask('/nowhere', { key: 'sk_nobody' })).status).toBe(404);
    expect((await limited.ask('/nowhere', { key: null })).status).toBe(404);
    for (const path of ['/v1/spends', '/nowhere']) {
      const over = await limited.ask(path, { key: 'sk_nobody' });
      expect([over.status, errorOf(over).code, over.headers['retry-after']]).toEqual([
        429,
        'rate_limited',
        '60',
      ]);
    }
    // An address that writes its own x-forwarded-for is still one address.
    const forged = await limited.ask('/v1/spends', { key: null, headers: { 'x-forwarded-for': '9.9.9.9' } });
    expect(forged.status).toBe(429);
    expect((await limited.ask('/v1/spends')).status).toBe(200);
    await limited.server.close();
  });

  it('behind a trusted proxy each client has its own count, whatever it forges further left', async () => {
    const limited = await startFakes({
      unknown_key_limit_per_minute: 1,
      trusted_proxies: ['127.0.0.0/8', '10.0.0.0/8'],
    });
    const from = (hops: string) =>
      limited
        .ask('/v1/spends', { key: null, headers: { 'x-forwarded-for': hops } })
        .then((reply) => reply.status);
    expect(await from('203.0.113.1')).toBe(401);
    expect(await from('198.51.100.9, 203.0.113.1')).toBe(429);
    expect(await from('203.0.113.1, 10.1.2.3')).toBe(429);
    expect(await from('203.0.113.2, 10.1.2.3')).toBe(401);
    expect(await from('2001:db8:1:2::1')).toBe(401);
    expect(await from('2001:db8:1:2:ffff::9')).toBe(429);
    expect(await from('2001:db8:1:3::1')).toBe(401);
    expect(await from('::ffff:203.0.113.1')).toBe(429);
    await limited.server.close();
  });
});

describe('500 internal_error', () => {
  it('a 500 does not reveal its cause, which is logged', async () => {
    for (const what of ['error', 'bigint', 'header']) {
      const reply = await fakes.ask(`/v1/throws/${what}`, { headers: { 'x-request-id': `five-${what}` } });
      expect([what, reply.status]).toEqual([what, 500]);
      expect(errorOf(reply)).toMatchObject({ code: 'internal_error', request_id: `five-${what}` });
      expect(reply.text).not.toContain('secret detail');
    }
    const line = fakes.lines.find((one) => one.level === 50 && one.request_id === 'five-error');
    expect(line?.err).toMatchObject({ message: 'secret detail' });
  });

  it('a failing key check lets no request in', async () => {
    const broken = await startFakes({ authenticate: () => Promise.reject(new Error('broken')) });
    expect((await broken.ask('/v1/spends')).status).toBe(500);
    await broken.server.close();
  });
});

describe('503 unavailable and auth_unavailable', () => {
  it('a 503 carries Retry-After where the error has one', async () => {
    const reply = await fakes.ask('/v1/throws/unavailable');
    expect([reply.status, errorOf(reply).code, reply.headers['retry-after']]).toEqual([
      503,
      'unavailable',
      '2',
    ]);
  });

  it('a refusal whose reason says all is one line in the log, and one with a cause has that in a second', async () => {
    for (const [what, levels] of [
      ['clock', [40]],
      ['unavailable', [50, 40]],
    ] as const) {
      const request_id = `lines-${what}`;
      expect(
        (await fakes.ask(`/v1/throws/${what}`, { headers: { 'x-request-id': request_id } })).status,
      ).toBe(503);
      const lines = fakes.lines.filter((line) => line.request_id === request_id);
      expect(lines.map(({ level }) => level)).toEqual(levels);
    }
    expect(fakes.lines.find((line) => line.request_id === 'lines-clock')?.reason).toBe('clock');
  });

  it('a key that cannot be checked is neither refused nor let in', async () => {
    const reply = await fakes.ask('/v1/spends', { key: 'sk_down' });
    expect([reply.status, errorOf(reply).code]).toEqual([503, 'auth_unavailable']);
    expect((await fakes.ask('/nowhere', { key: 'sk_down' })).status).toBe(404);
  });

  it('a request whose handler is not done in time is answered 503 once, and its connection stays usable', async () => {
    const hurried = await startFakes({ deadline_ms: 50 });
    armSlow();
    const reply = await hurried.ask('/v1/slow');
    expect([reply.status, errorOf(reply).code, reply.headers['retry-after']]).toEqual([
      503,
      'unavailable',
      '1',
    ]);
    slow.release();
    expect((await hurried.ask('/v1/spends')).status).toBe(200);
    const told = hurried.lines.filter((line) => line.msg === 'request' && line.route === '/v1/slow');
    expect(told.map((line) => line.status)).toEqual([503]);
    await hurried.server.close();
  });

  it('a request whose key is not looked up in time is answered auth_unavailable', async () => {
    const hurried = await startFakes({ deadline_ms: 50, authenticate: () => new Promise(() => {}) });
    const reply = await hurried.ask('/v1/spends');
    expect([reply.status, errorOf(reply).code, errorOf(reply).message]).toEqual([
      503,
      'auth_unavailable',
      'Sign-in could not be verified right now; retry.',
    ]);
    await hurried.server.close();
  });

  it('a route without a deadline is waited for once its key was looked up in time', async () => {
    const slow_route = FAKE_ROUTES.find((route) => route.path === '/v1/slow') as Route;
    const routes: Route[] = [
      { ...slow_route, takes_long: true, handler: () => slow_route.handler({} as never) },
    ];
    const patient = await startFakes({ deadline_ms: 50, routes });
    armSlow();
    const reply = patient.ask('/v1/slow');
    await slow.entered;
    setTimeout(() => slow.release(), 150);
    expect((await reply).status).toBe(200);
    await patient.server.close();
  });

  it('a slowly sent body is waited for beyond the deadline', async () => {
    const hurried = await startFakes({ deadline_ms: 50 });
    const text = JSON.stringify(GOOD_SPEND);
    const { port } = hurried;
    const answered = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST /v1/spends HTTP/1.1\r\nHost: a\r\nx-api-key: sk_all\r\nidempotency-key: slow\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n`,
        );
        setTimeout(() => socket.end(text), 200);
      });
      let received = '';
      socket.on('data', (bytes) => {
        received += bytes.toString();
      });
      socket.on('close', () => resolve(received));
    });
    expect(answered).toMatch(/^HTTP\/1.1 201 /);
    await hurried.server.close();
  });

  it('writes beyond the limit are refused, and the next is accepted once one was answered', async () => {
    const { route, started, release } = heldWrite();
    const narrow = await startFakes({ limits: { max_writes: 1 }, routes: [route] });
    const first = narrow.spend(GOOD_SPEND);
    await started();
    const second = await narrow.spend(GOOD_SPEND);
    expect([second.status, errorOf(second).code, second.headers['retry-after']]).toEqual([
      503,
      'unavailable',
      '1',
    ]);
    release();
    expect((await first).status).toBe(201);
    const next = narrow.spend(GOOD_SPEND);
    await started();
    release();
    expect((await next).status).toBe(201);
    await narrow.server.close();
  });

  it('while the lane is full a write is refused before its key is looked up, and reads are still answered', async () => {
    let looked_up = 0;
    const full = await startFakes({
      isFull: () => true,
      authenticate: async () => {
        looked_up += 1;
        return { ok: false, message: 'No such key.' };
      },
    });
    const reply = await full.ask('/v1/spends', {
      method: 'POST',
      body: JSON.stringify(GOOD_SPEND),
      headers: { 'idempotency-key': 'full' },
    });
    expect([reply.status, errorOf(reply).code, reply.headers['retry-after']]).toEqual([
      503,
      'unavailable',
      '1',
    ]);
    expect(looked_up).toBe(0);
    expect((await full.ask('/v1/spends')).status).toBe(401);
    await full.server.close();
  });
});

describe('request ids and logs', () => {
  it("a client's own safe request id is used, any other is replaced, on every answer", async () => {
    const own = async (id: string | string[], path = '/open') =>
      (await fakes.ask(path, { key: null, headers: { 'x-request-id': id } })).headers['x-request-id'];
    expect(await own('client_1.2:3-x')).toBe('client_1.2:3-x');
    expect(await own('y'.repeat(128), '/nowhere')).toBe('y'.repeat(128));
    for (const id of ['y'.repeat(129), 'a b', 'a"b', '', ['a', 'b']])
      expect(await own(id)).toMatch(/^req_\d+$/);
  });

  it('one line per request tells who asked for what, and nothing of keys, bodies or the query', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const headers = { 'x-request-id': 'log-1', traceparent };
    await fakes.ask('/v1/spends?q=hidden', { headers });
    const lines = fakes.lines.filter((line) => line.request_id === 'log-1');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 30,
      method: 'GET',
      route: '/v1/spends',
      status: 200,
      duration_ms: expect.any(Number),
      workspace_id: 'ws_1',
      key_id: 'key_all',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    });
    expect(JSON.stringify(lines)).not.toMatch(/hidden|sk_all/);
  });

  it('the line of each refusal has its code and reason, those of the service itself at level warn, and they are counted', async () => {
    const { route, started, release } = heldWrite();
    const slow_route = FAKE_ROUTES.find(({ path }) => path === '/v1/slow') as Route;
    const broken = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const busy = await startFakes({
      limits: { max_writes: 1 },
      routes: [
        route,
        { ...slow_route, handler: () => Promise.reject(broken) },
        ...FAKE_ROUTES.filter(({ path }) => path === '/v1/throws/:what' || path === '/v1/spends/:id'),
      ],
      rate_limit_per_minute: 6,
    });
    const first = busy.spend(GOOD_SPEND);
    await started();
    await busy.spend(GOOD_SPEND);
    release();
    await first;
    await busy.ask('/v1/slow');
    await busy.ask('/v1/throws/conflict');
    await busy.ask('/v1/throws/anything');
    await busy.ask('/v1/nowhere');
    await busy.ask('/v1/nowhere');
    const told = busy.lines
      .filter(({ msg, status }) => msg === 'request' && (status as number) >= 400)
      .map(({ level, status, code, reason }) => [level, status, code, reason]);
    expect(told).toEqual([
      [40, 503, 'unavailable', 'writes'],
      [40, 503, 'unavailable', 'database'],
      [30, 409, 'agent_exists', undefined],
      [40, 500, 'internal_error', 'failure'],
      [30, 404, 'not_found', undefined],
      [40, 429, 'rate_limited', 'rate_limit'],
    ]);
    const counts = [
      ...(await busy.metrics.text()).matchAll(/^purser_refusals_total\{reason="(\w+)"\} ([1-9]\d*)$/gm),
    ].map(([, reason, count]) => [reason, Number(count)]);
    expect(counts.sort()).toEqual([
      ['database', 1],
      ['failure', 1],
      ['rate_limit', 1],
      ['writes', 1],
    ]);
    await busy.server.close();
  });

  it('an ill-formed traceparent is ignored', async () => {
    for (const [at, traceparent] of [
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more',
      'x',
    ].entries()) {
      await fakes.ask('/open', { headers: { 'x-request-id': `trace-${at}`, traceparent } });
      expect(fakes.lines.find((line) => line.request_id === `trace-${at}`)).not.toHaveProperty('trace_id');
    }
  });

  it('metrics count requests by the pattern of their route', async () => {
    await fakes.ask('/v1/spends/some-id');
    const text = await fakes.metrics.text();
    expect(text).toMatch(/duration_seconds_count\{method="GET",route="\/v1\/spends\/:id",status="200"\} \d+/);
    expect(text).not.toContain('some-id');
  });
});

describe('clients that hang up', () => {
  it('a client that hangs up in the middle of a body causes no error', async () => {
    const before = fakes.lines.filter((line) => line.level === 50).length;
    await new Promise<void>((resolve) => {
      const socket = connect(fakes.port, '127.0.0.1', () => {
        socket.write(
          'POST /v1/spends HTTP/1.1\r\nHost: a\r\nx-api-key: sk_all\r\nx-request-id: gone-1\r\nidempotency-key: a\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"a',
        );
        // Its head was read when the server has found out whose key it is.
        setTimeout(() => socket.destroy(), 50);
      });
      socket.on('close', () => resolve());
    });
    await until(() => fakes.lines.some((line) => line.request_id === 'gone-1'));
    expect(fakes.lines.filter((line) => line.level === 50)).toHaveLength(before);
    expect(fakes.lines.find((line) => line.request_id === 'gone-1')).toMatchObject({ status: 499 });
    expect((await fakes.ask('/open')).status).toBe(200);
  });

  it('a client that hangs up while a handler works causes no error', async () => {
    armSlow();
    const bare = await startFakes();
    const socket = connect(bare.port, '127.0.0.1', () =>
      socket.write('GET /v1/slow HTTP/1.1\r\nHost: a\r\nx-api-key: sk_all\r\n\r\n'),
    );
    await slow.entered;
    socket.destroy();
    await until(
      () => new Promise((tell) => bare.server.server.getConnections((_, count) => tell(count === 0))),
    );
    slow.release();
    await until(() => bare.lines.length > 0);
    expect(bare.lines.map((line) => [line.level, line.status])).toEqual([[30, 499]]);
    await bare.server.close();
  });
});

describe('the drain', () => {
  it('the drain finishes requests in progress, closes kept-alive connections and then ends', async () => {
    armSlow();
    const bare = await startFakes();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const get = (path: string, via: Agent) =>
      new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
        const headers = { 'x-api-key': 'sk_all' };
        httpRequest({ host: '127.0.0.1', port: bare.port, path, agent: via, headers }, (incoming) => {
          incoming.resume();
          incoming.on('end', () => resolve([incoming.statusCode, incoming.headers.connection]));
        })
          .on('error', reject)
          .end();
      });
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await get('/open', agent)).toEqual([200, 'keep-alive']);
    expect(await get('/open', kept)).toEqual([200, 'keep-alive']);
    const in_flight = get('/v1/slow', agent);
    await slow.entered;
    // Half a request: its connection is not idle, so the drain lets it finish, on its last connection.
    const late = connect(bare.port, '127.0.0.1');
    let late_text = '';
    late.on('data', (chunk) => {
      late_text += chunk.toString();
    });
    const late_closed = new Promise((resolve) => late.on('close', resolve));
    late.write('GET /open HTTP/1.1\r\nHost: a\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));

    const closed = closeServer(bare.server);
    await until(() => !bare.server.server.listening);
    // In the moment of notice nobody new is let in, who could be cut off unheard at its end.
    await expect(get('/open', new Agent())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await get('/open', kept)).toEqual([200, 'close']);
    late.write('\r\n');
    slow.release();
    expect(await in_flight).toEqual([200, 'close']);
    await closed;
    await expect(get('/open', new Agent())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await late_closed;
    expect(late_text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*connection: close/i);
    agent.destroy();
    kept.destroy();
  });

  it('who had connected when it begins is answered, also whom the process had not let in yet', async () => {
    const bare = await startFakes();
    const statuses = Array.from({ length: 100 }, async () => {
      const socket = connect(bare.port, '127.0.0.1');
      socket.write('GET /open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      const chunks = await socket.toArray();
      return Buffer.concat(chunks).toString().slice(0, 12);
    });
    // In this very turn of the event loop the kernel completes the connections, and nothing is accepted.
    await new Promise((resolve) => process.nextTick(resolve));
    await closeServer(bare.server);
    expect(new Set(await Promise.all(statuses))).toEqual(new Set(['HTTP/1.1 200']));
  });
});
