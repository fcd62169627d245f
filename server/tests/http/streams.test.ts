import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { ApiError } from '@purser/rules/errors';
import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Route } from '../../src/service/http/route.ts';
import { errorOf, startFakes } from '../support/http-fakes.ts';
import { until } from '../support/until.ts';

type Fakes = Awaited<ReturnType<typeof startFakes>>;

/** What the route answers with, and what became of it. */
let chunks: () => AsyncGenerator<string, void, void>;
let made = 0;
let ended = 0;
const route: Route = {
  method: 'GET',
  path: '/v1/long',
  operationId: 'long',
  tag: 'Service',
  summary: 'Answers at length.',
  description: 'At length.',
  scopes: ['read'],
  responses: { 200: { description: 'Much.', schema: Type.String(), content_type: 'text/plain' } },
  errors: [],
  handler: async () => ({
    status: 200,
    stream: { chunks: counted(), content_type: 'text/plain' },
    headers: { 'x-own': '1' },
  }),
};
async function* counted(): AsyncGenerator<string, void, void> {
  try {
    for await (const chunk of chunks()) {
      made += 1;
      yield chunk;
    }
  } finally {
    ended += 1;
  }
}

let fakes: Fakes;
beforeAll(async () => {
  fakes = await startFakes({ routes: [route] });
});
afterAll(() => fakes.server.close());
beforeEach(() => {
  made = 0;
  ended = 0;
});
const MUCH = 'x'.repeat(1_000_000);

test('a long answer arrives whole, with the headers that every answer has', async () => {
  chunks = async function* () {
    for (let i = 0; i < 20; i++) yield MUCH;
  };
  const reply = await fakes.ask('/v1/long');
  expect(reply.text.length).toBe(20 * MUCH.length);
  expect(reply.headers).toMatchObject({ 'content-type': 'text/plain', 'x-own': '1' });
  expect(reply.headers['x-request-id']).toBeDefined();
  expect(reply.headers.ratelimit).toBeDefined();
  expect(ended).toBe(1);
});

test('a stream produces no more than the client receives, and ends when the client is gone', async () => {
  chunks = async function* () {
    for (;;) yield MUCH;
  };
  const socket = connect(fakes.port, '127.0.0.1');
  socket.write('GET /v1/long HTTP/1.1\r\nhost: x\r\nx-api-key: sk_all\r\n\r\n');
  await once(socket, 'readable');
  // It reads no further: what the sockets hold is all that is made.
  let before = -1;
  await until(() => {
    const still = made === before;
    before = made;
    return still && made > 0;
  });
  expect(made).toBeLessThan(50);
  expect(ended).toBe(0);
  socket.destroy();
  await until(() => ended === 1);
});

test.each([
  ['br', createBrotliDecompress],
  ['gzip', createGunzip],
] as const)(
  'a stream compressed with %s reads no further ahead than the client receives, and arrives whole',
  async (coding, open) => {
    // Random text, which takes about as many bytes compressed.
    const CHUNKS = 160;
    const plain = createHash('sha256');
    chunks = async function* () {
      for (let i = 0; i < CHUNKS; i++) {
        const chunk = randomBytes(196_608).toString('base64');
        plain.update(chunk);
        yield chunk;
      }
    };
    const sent = request({
      port: fakes.port,
      path: '/v1/long',
      headers: { 'x-api-key': 'sk_all', 'accept-encoding': coding },
    });
    const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage];
    expect(answer.headers['content-encoding']).toBe(coding);
    // Nothing of the body is read yet: the sockets and the compression hold all that is made.
    let before = -1;
    await until(() => {
      const still = made === before;
      before = made;
      return still && made > 0;
    }, 100);
    expect(made).toBeLessThan(CHUNKS / 2);
    expect(ended).toBe(0);
    const received = createHash('sha256');
    for await (const bytes of answer.pipe(open())) received.update(bytes);
    expect(made).toBe(CHUNKS);
    expect(received.digest('hex')).toBe(plain.digest('hex'));
    await until(() => ended === 1);
  },
);

test('a compressed stream ends when its client is gone', async () => {
  chunks = async function* () {
    for (;;) yield randomBytes(196_608).toString('base64');
  };
  const sent = request({
    port: fakes.port,
    path: '/v1/long',
    headers: { 'x-api-key': 'sk_all', 'accept-encoding': 'gzip' },
  });
  sent.on('error', () => {});
  await once(sent.end(), 'response');
  sent.destroy();
  await until(() => ended === 1);
});

test('a failure before the first byte is answered as any other', async () => {
  chunks = async function* () {
    yield* [];
    throw new ApiError('unavailable', 'Retry.', { retry_after_s: 2 });
  };
  const reply = await fakes.ask('/v1/long');
  expect([reply.status, errorOf(reply).code, reply.headers['retry-after']]).toEqual([
    503,
    'unavailable',
    '2',
  ]);
});

test('a failure in the middle of a stream cuts the connection, so that the client notices it', async () => {
  chunks = async function* () {
    yield 'one\n';
    await new Promise((wait) => setTimeout(wait, 50));
    throw new Error('secret detail');
  };
  const text = await fakes.raw('GET /v1/long HTTP/1.1\r\nhost: x\r\nx-api-key: sk_all\r\n\r\n');
  expect(text).toContain('one\n');
  // The last chunk of a whole answer has the length 0.
  expect(text.endsWith('0\r\n\r\n')).toBe(false);
  expect(text).not.toContain('secret');
  await until(() => ended === 1);
  expect(fakes.lines.some((line) => line.msg === 'request failed')).toBe(true);
});
