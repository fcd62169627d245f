import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addressFor } from '../../src/service/model-judge/addresses.ts';
import { chatCompletions } from '../../src/service/model-judge/chat-completions.ts';
import { type ModelAnswer, makeModelClient } from '../../src/service/model-judge/model-client.ts';
import type { Question } from '../../src/service/model-judge/protocols.ts';
import {
  completion,
  hangs,
  type ModelServer,
  opines,
  sends,
  startModelServer,
} from '../support/model-server.ts';
import { until } from '../support/until.ts';

let server: ModelServer;
interface Client {
  ask(question?: Partial<Question>): Promise<ModelAnswer>;
  stop(): Promise<void>;
}
let clients: Client[] = [];
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.stop()));
  clients = [];
  await server.stop();
});

/** Patience for servers that answer, and none for those that do not. */
const PATIENT_MS = 30_000;
const SHORT_MS = 100;

const QUESTION: Question = {
  prompt: { system: 'Judge.', examples: null, spend: 'A spend.' },
  model: 'judge-1',
  parameters: {},
  form: { output: 'schema', is_lean: false },
};

function clientOf(options: { url?: string; timeout_ms?: number; api_key?: string | null } = {}): Client {
  const timeout_ms = options.timeout_ms ?? PATIENT_MS;
  const made = makeModelClient({
    address: addressFor(options.url ?? server.url, chatCompletions),
    protocol: chatCompletions,
    api_key: options.api_key === undefined ? 'sk-model-key' : options.api_key,
    connect_ms: timeout_ms,
    connections: 4,
    clock_ms: () => Date.parse('2026-11-22T12:00:00Z'),
  });
  const client: Client = {
    ask: (change = {}) => made.ask({ ...QUESTION, ...change }, timeout_ms),
    stop: made.stop,
  };
  clients.push(client);
  return client;
}
const hello = { kind: 'answered', content: 'hello', usage: null };

describe('a server that behaves', () => {
  test('is sent the body as JSON with the key, and its message comes back', async () => {
    server.behave(sends(completion('hello')));
    expect(await clientOf().ask({ parameters: { n: 1 } })).toEqual(hello);
    const [question] = server.questions;
    expect(question?.path).toBe('/v1/chat/completions');
    expect(question?.body).toMatchObject({ model: 'judge-1', n: 1 });
    expect(question?.headers).toMatchObject({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      authorization: 'Bearer sk-model-key',
    });
  });

  test('is sent no authorization without a key', async () => {
    server.behave(sends(completion('hello')));
    await clientOf({ api_key: null }).ask();
    expect(server.questions[0]?.headers.authorization).toBeUndefined();
  });
});

describe('a server that behaves badly', () => {
  test.each([301, 302, 307, 308])('%i is not followed', async (status) => {
    const elsewhere = await startModelServer();
    elsewhere.behave(opines('PURPOSE_ALIGNED'));
    server.behave((response) => response.writeHead(status, { location: `${elsewhere.url}/v1` }).end());
    expect(await clientOf().ask()).toEqual({ kind: 'http_error', status, retry_after_ms: null });
    expect(elsewhere.questions).toEqual([]);
    await elsewhere.stop();
  });

  test.each([400, 401, 404, 429, 500, 503])('%i is an error, whatever it carries', async (status) => {
    server.behave((response) => response.writeHead(status).end(completion('hello')));
    expect(await clientOf().ask()).toEqual({ kind: 'http_error', status, retry_after_ms: null });
  });

  test.each([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '250', 'retry-after': '3' }, 250],
    [{ 'retry-after': 'Sun, 22 Nov 2026 12:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Sun, 22 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-1' }, null],
    [{}, null],
  ])('429 with %j is asked again after %s ms', async (headers, retry_after_ms) => {
    server.behave((response) => response.writeHead(429, headers as never).end());
    const found = await clientOf().ask();
    expect(found).toEqual({ kind: 'http_error', status: 429, retry_after_ms });
  });

  test('an error with an endless body ends at its status', async () => {
    server.behave((response) => {
      response.writeHead(500);
      const more = () => response.write('x'.repeat(10_000), () => !response.destroyed && setImmediate(more));
      more();
    });
    expect(await clientOf().ask()).toMatchObject({ kind: 'http_error', status: 500, retry_after_ms: null });
  });

  test.each([
    ['{"error":{"message":"model \\"judge\\"\\n not found"}}', 'model "judge" not found'],
    ['{"error":"Loading model"}', 'Loading model'],
    ['{"message":"no slot"}', 'no slot'],
    ['overloaded', 'overloaded'],
    [`{"error":"key sk-0123456789 is unknown"}`, 'key … is unknown'],
    ['{"error":{"code":1}}', undefined],
    ['', undefined],
    [`${'x'.repeat(500)}`, 'x'.repeat(200)],
  ])('the message of an error is read from %s', async (body, message) => {
    server.behave((response) => response.writeHead(503).end(body));
    expect(await clientOf({ api_key: 'sk-0123456789' }).ask()).toMatchObject(
      message === undefined ? { status: 503 } : { status: 503, message },
    );
  });

  test.each([
    ['no JSON', 'hello'],
    ['nothing', ''],
    ['null', 'null'],
    ['no choices', '{}'],
    ['empty choices', '{"choices":[]}'],
    ['a choice without a message', '{"choices":[null]}'],
    ['a message without text', '{"choices":[{"message":{"content":null,"refusal":"no"}}]}'],
    ['a message in parts', '{"choices":[{"message":{"content":[{"type":"text","text":"hello"}]}}]}'],
    ['a stream of events', `data: ${completion('hello')}\n\ndata: [DONE]\n\n`],
  ])('%s is not understood', async (_, body) => {
    server.behave(sends(body));
    expect(await clientOf().ask()).toEqual({ kind: 'not_understood', usage: null });
  });

  test('a compressed answer is not understood, and so no bomb goes off', async () => {
    server.behave((response) =>
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(completion('x'.repeat(30_000_000)))),
    );
    expect(['not_understood', 'too_large']).toContain((await clientOf().ask()).kind);
  });

  test('an answer without end is left at 64 KiB, and its connection ended', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      server.behave((response) => {
        response.on('close', resolve);
        response.writeHead(200);
        const more = () => {
          written += 10_000;
          response.write('x'.repeat(10_000), () => !response.destroyed && setImmediate(more));
        };
        more();
      });
    });
    expect(await clientOf().ask()).toEqual({ kind: 'too_large' });
    await closed;
    expect(written).toBeGreaterThan(64 * 1_024);
  });

  test('an answer of exactly 64 KiB is read', async () => {
    const rest = 64 * 1_024 - completion('').length;
    server.behave(sends(completion('x'.repeat(rest))));
    expect((await clientOf().ask()).kind).toBe('answered');
    server.behave(sends(completion('x'.repeat(rest + 1))));
    expect((await clientOf().ask()).kind).toBe('too_large');
  });

  test('a connection that breaks before or within the answer is unreachable', async () => {
    server.behave((response) => response.destroy());
    expect((await clientOf().ask()).kind).toBe('unreachable');
    server.behave((response) => {
      response.writeHead(200, { 'content-length': 1_000 });
      response.write('{', () => response.destroy());
    });
    expect((await clientOf().ask()).kind).toBe('unreachable');
  });

  test('a server that is not there, and one that speaks no HTTP, are unreachable', async () => {
    const gone = await startModelServer();
    await gone.stop();
    expect((await clientOf({ url: gone.url }).ask()).kind).toBe('unreachable');
    const odd = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.resume().write('220 mail.example ESMTP\r\n');
    });
    await new Promise<void>((listening) => odd.listen(0, '127.0.0.1', listening));
    const { port } = odd.address() as { port: number };
    const client = clientOf({ url: `http://127.0.0.1:${port}` });
    expect((await client.ask()).kind).toBe('unreachable');
    await client.stop();
    await new Promise((closed) => odd.close(closed));
  });
});

describe('a server that is slow', () => {
  test('and never answers ends at the deadline, and the connection with it', async () => {
    server.behave(hangs);
    expect(await clientOf({ timeout_ms: SHORT_MS }).ask()).toEqual({ kind: 'timeout' });
    await until(() => server.open() === 0);
  });

  test('and drips bytes ends at the deadline', async () => {
    server.behave((response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    });
    expect(await clientOf({ timeout_ms: SHORT_MS }).ask()).toEqual({ kind: 'timeout' });
  });

  test('and sends headers without an end ends at the deadline', async () => {
    const odd = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x-more: 1\r\n'), 10);
      socket.on('close', () => clearInterval(drip));
    });
    await new Promise<void>((listening) => odd.listen(0, '127.0.0.1', listening));
    const { port } = odd.address() as { port: number };
    const client = clientOf({ url: `http://127.0.0.1:${port}`, timeout_ms: SHORT_MS });
    expect((await client.ask()).kind).toBe('timeout');
    await client.stop();
    await new Promise((closed) => odd.close(closed));
  });
});

describe('stopping', () => {
  test('ends what is under way at once, and takes nothing more', async () => {
    const asked = new Promise<void>((resolve) => {
      server.behave(() => resolve());
    });
    const client = clientOf();
    const answer = client.ask();
    await asked;
    await client.stop();
    expect(await answer).toEqual({ kind: 'stopping' });
    expect(await client.ask()).toEqual({ kind: 'stopping' });
    expect(server.questions).toHaveLength(1);
  });
});
