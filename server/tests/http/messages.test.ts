import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../src/service/http/admission.ts';
import { caller, FAKE_ROUTES, KEYS, startFakes } from '../support/http-fakes.ts';

/** What a request may look like before it is one for a route, and what the log keeps of it. */

let fakes: Awaited<ReturnType<typeof startFakes>>;
beforeAll(async () => {
  fakes = await startFakes({ keep_alive_ms: 620_000 });
});
afterAll(() => fakes.server.close());

const headOf = async (bytes: string) => {
  const [head, body] = (await fakes.raw(bytes)).split('\r\n\r\n') as [string, string];
  return { head, error: body.startsWith('{') ? JSON.parse(body).error : null };
};

test('two Host headers are refused, on every path, also when they are equal', async () => {
  for (const path of ['/open', '/v1/spends', '/nowhere']) {
    const { head, error } = await headOf(
      `GET ${path} HTTP/1.1\r\nHost: a\r\nHOST: a\r\nx-api-key: sk_all\r\nconnection: close\r\n\r\n`,
    );
    expect([path, head.split('\r\n')[0]]).toEqual([path, 'HTTP/1.1 400 Bad Request']);
    expect(error).toMatchObject({ code: 'invalid_request', message: 'host: must be sent once' });
  }
});

test('a request with too many headers is refused, whatever the last ones are', async () => {
  const { max_headers } = LIMITS;
  const ask = (count: number) =>
    headOf(`GET /open HTTP/1.1\r\nHost: a\r\nconnection: close\r\n${'a:\r\n'.repeat(count - 2)}\r\n`);
  expect((await ask(max_headers)).head).toMatch(/^HTTP\/1\.1 200 /);
  for (const count of [max_headers + 1, 2_500]) {
    const { head, error } = await ask(count);
    expect(head).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
    expect(error).toMatchObject({
      code: 'too_many_headers',
      message: `headers: must be at most ${max_headers}`,
    });
  }
});

test('a transfer-encoding other than chunked alone is answered 501', async () => {
  const { head, error } = await headOf(
    'POST /v1/spends HTTP/1.1\r\nHost: a\r\nx-api-key: sk_all\r\ncontent-type: application/json\r\nconnection: close\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  );
  expect(head).toMatch(/^HTTP\/1\.1 501 Not Implemented\r\n/);
  expect(error).toMatchObject({
    code: 'not_implemented',
    message: 'transfer-encoding: must be chunked, or absent',
  });
});

test('HEAD tells of public routes what GET does, without the body; other routes do not know it', async () => {
  const get = await fakes.ask('/open', { key: null });
  const head = await fakes.ask('/open', { key: null, method: 'HEAD' });
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '4']);
  expect(Object.keys(head.headers)).toEqual(Object.keys(get.headers));
  expect((await fakes.ask('/v1/spends', { method: 'HEAD' })).status).toBe(404);
});

test('a kept connection is told how long it may be idle, as the setting says', async () => {
  const { head } = await headOf('GET /open HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(head).toMatch(/\r\nkeep-alive: timeout=620\b/i);
});

test('the log tells where each request came from', async () => {
  await fakes.ask('/open', { key: null, headers: { 'x-request-id': 'from-1' } });
  expect(fakes.lines.find((line) => line.request_id === 'from-1')).toMatchObject({
    client_address: '127.0.0.1',
  });
  await fakes.raw('nonsense\r\n\r\n');
  expect(fakes.lines.at(-1)).toMatchObject({ route: 'malformed', client_address: '127.0.0.1' });
});

test('failed keys, refusals, throttling and exports are security events with the address of the client', async () => {
  const exporting = {
    ...(FAKE_ROUTES[1] as (typeof FAKE_ROUTES)[number]),
    path: '/v1/export',
    handler: async () => ({
      status: 200,
      stream: {
        chunks: (async function* () {
          yield 'all';
        })(),
        content_type: 'text/plain',
      },
    }),
  };
  const watched = await startFakes({
    routes: [...FAKE_ROUTES, exporting],
    rate_limit_per_minute: 2,
    authenticate: async (key) => {
      const holder =
        key === undefined ? undefined : { ...KEYS, sk_last: caller({ key_id: 'key_last' }) }[key];
      return holder === undefined ? { ok: false, message: 'No such key.' } : { ok: true, caller: holder };
    },
  });
  await watched.ask('/v1/spends', { key: 'sk_nobody' });
  await watched.ask('/v1/spends/x', { method: 'DELETE', key: 'sk_agent' });
  await watched.ask('/v1/export');
  await watched.ask('/v1/spends');
  await watched.ask('/v1/spends');
  const events = watched.lines.filter((line) => line.event === 'security');
  expect(events.map(({ kind, status, key_id }) => [kind, status, key_id])).toEqual([
    ['key_refused', 401, undefined],
    ['forbidden', 403, 'key_agent'],
    ['export', 200, 'key_all'],
    ['rate_limited', 429, 'key_all'],
  ]);
  for (const event of events) expect(event).toMatchObject({ client_address: '127.0.0.1', level: 40 });
  expect(watched.lines).toHaveLength(5);
  await watched.server.close();
});
