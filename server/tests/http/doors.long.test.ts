import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Type from 'typebox';
import { afterEach, expect, test } from 'vitest';
import { LIMITS } from '../../src/service/http/admission.ts';
import type { Route } from '../../src/service/http/route.ts';
import { caller, errorOf, FAKE_ROUTES, GOOD_SPEND, heldWrite, startFakes } from '../support/http-fakes.ts';

/** What nobody can send over one connection, read slowly, or leave unfinished to the harm of others. */

type Fakes = Awaited<ReturnType<typeof startFakes>>;

const MUCH = 'x'.repeat(1_000_000);
const SPEND = JSON.stringify(GOOD_SPEND);
const GET_LONG = 'GET /v1/long HTTP/1.1\r\nhost: x\r\nx-api-key: sk_all\r\n\r\n';
const GET_BIG = 'GET /big HTTP/1.1\r\nhost: x\r\n\r\n';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(overrides: Parameters<typeof startFakes>[0]): Promise<Fakes> {
  const fakes = await startFakes(overrides);
  closing.push(() => fakes.server.close());
  return fakes;
}

/** A connection that reads nothing unless it is told to, and is not ended by the other side's end. */
async function open({ port }: Fakes): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function until(ready: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await ready())) await new Promise((wait) => setTimeout(wait, 5));
}

const allGone = ({ server }: Fakes) =>
  until(() => new Promise((tell) => server.server.getConnections((_, count) => tell(count === 0))));

async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  await new Promise((ended) => socket.once('end', ended).once('close', ended));
  return text;
}

const spendOn = (key: string, id: string, body = SPEND) =>
  `POST /v1/spends HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nidempotency-key: ${id}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

const bigRoute: Route = {
  method: 'GET',
  path: '/big',
  operationId: 'big',
  tag: 'Service',
  summary: 'Much.',
  description: 'More than sockets hold.',
  scopes: 'public',
  responses: { 200: { description: 'Much.', schema: Type.String(), content_type: 'text/plain' } },
  errors: [],
  handler: async () => ({ status: 200, text: { content: MUCH.repeat(20), content_type: 'text/plain' } }),
};

/** A route that streams without end, and how many of its streams were begun and how many have ended. */
function longRoute() {
  const counts = { begun: 0, ended: 0 };
  async function* chunks() {
    counts.begun += 1;
    try {
      for (;;) yield MUCH;
    } finally {
      counts.ended += 1;
    }
  }
  const route: Route = {
    ...bigRoute,
    path: '/v1/long',
    operationId: 'long',
    scopes: ['read'],
    takes_long: true,
    handler: async () => ({ status: 200, stream: { chunks: chunks(), content_type: 'text/plain' } }),
  };
  return { route, counts };
}

const inUse = async ({ metrics }: Fakes, resource: string) =>
  Number(new RegExp(`in_use\\{resource="${resource}"\\} (\\d+)`).exec(await metrics.text())?.[1]);

test('a connection that is reset after CONNECT ends nothing but itself', async () => {
  const fakes = await start({});
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', note);
  closing.push(() => process.off('uncaughtException', note));
  const socket = await open(fakes);
  socket.write('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  socket.resetAndDestroy();
  await allGone(fakes);
  expect(uncaught).toEqual([]);
  expect((await fakes.ask('/open', { key: null })).status).toBe(200);
});

test('a connection that asked for CONNECT does not stay open, even if its client keeps it', async () => {
  const fakes = await start({});
  const socket = await open(fakes);
  socket.write('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(socket, 'data');
  await allGone(fakes);
});

test('pipelined writes of a connection that is then lost occupy no places', async () => {
  const fakes = await start({ routes: [...FAKE_ROUTES, bigRoute], limits: { max_pipelined: 2_000 } });
  const socket = await open(fakes);
  socket.pause();
  socket.write(GET_BIG.repeat(20) + 'POST /v1/spends HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1_100));
  await until(() => fakes.lines.length > 0);
  socket.resetAndDestroy();
  await allGone(fakes);
  const answers = await Promise.all(Array.from({ length: 200 }, () => fakes.spend(GOOD_SPEND)));
  expect(new Set(answers.map((reply) => reply.status))).toEqual(new Set([201]));
});

test('requests of one connection are begun in their order, each when the one before was answered', async () => {
  const { route, started, release } = heldWrite();
  const fakes = await start({ routes: [route, ...FAKE_ROUTES.slice(1)] });
  const socket = await open(fakes);
  const text = readAll(socket);
  socket.write(
    spendOn('sk_all', 'one') +
      spendOn('sk_all', 'two') +
      'GET /v1/spends/dec_9 HTTP/1.1\r\nhost: x\r\nx-api-key: sk_all\r\nconnection: close\r\n\r\n',
  );
  await started();
  expect(await inUse(fakes, 'writes')).toBe(1);
  release();
  await started();
  expect(await inUse(fakes, 'writes')).toBe(1);
  release();
  expect((await text).match(/HTTP\/1\.1 \d+|dec_9/g)).toEqual([
    'HTTP/1.1 201',
    'HTTP/1.1 201',
    'HTTP/1.1 200',
    'dec_9',
  ]);
});

test('a connection with too many requests outstanding is told so and closed, and what waited is not carried out', async () => {
  const { route, started, release } = heldWrite();
  let others = 0;
  const counted: Route = {
    ...(FAKE_ROUTES[2] as Route),
    handler: async () => {
      others += 1;
      return { status: 200, body: {} };
    },
  };
  const fakes = await start({ routes: [route, counted] });
  const socket = await open(fakes);
  const text = readAll(socket);
  socket.write(
    spendOn('sk_all', 'one') +
      'GET /v1/spends/a HTTP/1.1\r\nhost: x\r\nx-api-key: sk_all\r\n\r\n'.repeat(2_000),
  );
  await started();
  release();
  expect((await text).match(/HTTP\/1\.1 \d+|"connection: [^"]+"/g)).toEqual([
    'HTTP/1.1 201',
    'HTTP/1.1 400',
    `"connection: must have at most ${LIMITS.max_pipelined} requests waiting for a response"`,
  ]);
  await allGone(fakes);
  expect(others).toBe(0);
});

test('pipelined streams release all their places when their connection is reset', async () => {
  const { route, counts } = longRoute();
  const fakes = await start({ routes: [...FAKE_ROUTES, route] });
  const socket = await open(fakes);
  socket.pause();
  socket.write(GET_LONG.repeat(6));
  await until(() => counts.begun > 0);
  socket.resetAndDestroy();
  await allGone(fakes);
  await until(() => counts.ended === counts.begun);
  expect(await inUse(fakes, 'streams')).toBe(0);
  const next = await open(fakes);
  next.write(GET_LONG);
  expect(String((await once(next, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
});

test('a workspace beyond its share gets the next stream when one has ended, and others get theirs meanwhile', async () => {
  const { route, counts } = longRoute();
  const other = caller({ workspace_id: 'ws_2', key_id: 'key_2' });
  const fakes = await start({
    routes: [route],
    // So few that the share is one.
    limits: { max_streams: 3 },
    authenticate: async (key) => ({ ok: true, caller: key === 'sk_all' ? caller() : other }),
  });
  const first = await open(fakes);
  first.write(GET_LONG);
  await until(() => counts.begun === 1);
  const second = await open(fakes);
  second.write(GET_LONG);
  const foreign = await open(fakes);
  foreign.write(GET_LONG.replace('sk_all', 'sk_2'));
  await until(() => counts.begun === 2);
  expect(await inUse(fakes, 'streams')).toBe(2);
  first.resetAndDestroy();
  await until(() => counts.begun === 3 && counts.ended === 1);
});

test('a client that stops reading a stream is cut off, and its place is released', async () => {
  const { route, counts } = longRoute();
  const fakes = await start({ routes: [route], limits: { stall_ms: 100 } });
  const socket = await open(fakes);
  socket.pause();
  socket.write(GET_LONG);
  await until(() => counts.begun === 1);
  await allGone(fakes);
  await until(() => counts.ended === 1);
});

test('a client that reads a stream very slowly is cut off after the longest delivery time', async () => {
  const { route, counts } = longRoute();
  const fakes = await start({ routes: [route], limits: { max_delivery_ms: 300 } });
  const socket = await open(fakes);
  // It reads all the time, and the stream has no end.
  socket.resume();
  socket.write(GET_LONG);
  await until(() => counts.begun === 1);
  await allGone(fakes);
  await until(() => counts.ended === 1);
});

async function slowBodies(fakes: Fakes, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const head = spendOn('sk_all', 'slow', ' '.repeat(1_000)).trimEnd();
  for (let i = 0; i < count; i++) {
    const socket = await open(fakes);
    sockets.push(socket);
    socket.write(`${head}\r\n\r\n{`);
  }
  return sockets;
}

test('slowly sent bodies occupy no place of a write, and only their key’s share of the places for bodies', async () => {
  const other = caller({ workspace_id: 'ws_2', key_id: 'key_2' });
  const fakes = await start({
    limits: { max_writes: 5, max_bodies: 10 },
    authenticate: async (key) => ({
      ok: true,
      caller: key === 'sk_2' ? other : caller({ key_id: `key of ${key}` }),
    }),
  });
  const sockets = await slowBodies(fakes, 6);
  await until(async () => (await inUse(fakes, 'bodies')) === 6);
  expect(await inUse(fakes, 'writes')).toBe(0);
  const over = await fakes.spend(GOOD_SPEND);
  expect([over.status, errorOf(over).code, over.headers['retry-after']]).toEqual([503, 'unavailable', '1']);
  for (const key of ['sk_2', 'sk_of_the_same_workspace'])
    expect((await fakes.spend(GOOD_SPEND, { key })).status).toBe(201);
  for (const socket of sockets) socket.resetAndDestroy();
  await until(async () => (await inUse(fakes, 'bodies')) === 0);
  expect((await fakes.spend(GOOD_SPEND)).status).toBe(201);
});

test('a client that receives nothing of its answer is cut off, even if it goes on sending', async () => {
  const fakes = await start({ routes: [bigRoute], limits: { stall_ms: 200 } });
  const silent = await open(fakes);
  silent.pause();
  silent.write(GET_BIG);
  const chatty = await open(fakes);
  chatty.pause();
  chatty.write(GET_BIG);
  const chatting = setInterval(() => chatty.write('x'), 20);
  closing.push(() => clearInterval(chatting));
  await until(async () => (await inUse(fakes, 'unsent_bytes')) > 0);
  await allGone(fakes);
  await until(async () => (await inUse(fakes, 'unsent_bytes')) === 0);
});

test('the bytes of answers that a client does not receive count against its own workspace', async () => {
  const fakes = await start({ routes: [bigRoute], limits: { max_unsent_bytes: 30_000_000 } });
  const first = await open(fakes);
  first.pause();
  first.write(GET_BIG);
  await until(async () => (await inUse(fakes, 'unsent_bytes')) > 10_000_000);
  const second = await open(fakes);
  second.write(GET_BIG);
  expect((await readAll(second)).length).toBeLessThan(20 * MUCH.length);
});

test('the number of connections is limited, and one address gets a share of it', async () => {
  const fakes = await start({ limits: { max_connections: 10 } });
  for (let i = 0; i < 8; i++) await open(fakes);
  const refused = await open(fakes);
  await once(refused.resume(), 'end');
  expect(await inUse(fakes, 'connections')).toBe(8);
});
