import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ChatClient, chatAddress, makeChatClient } from '../../src/model-judge/chat-client.ts';
import {
  completion,
  hangs,
  type ModelServer,
  opines,
  sends,
  startModelServer,
} from '../support/model-server.ts';

let server: ModelServer;
let clients: ChatClient[] = [];
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

function clientOf(options: { url?: string; timeout_ms?: number; api_key?: string | null } = {}): ChatClient {
  const client = makeChatClient({
    url: options.url ?? server.url,
    api_key: options.api_key === undefined ? 'sk-model-key' : options.api_key,
    timeout_ms: options.timeout_ms ?? PATIENT_MS,
    connections: 4,
  });
  clients.push(client);
  return client;
}

describe('the address', () => {
  test.each([
    ['https://models.example', 'https://models.example/v1/chat/completions'],
    ['https://models.example/', 'https://models.example/v1/chat/completions'],
    ['https://models.example/v1', 'https://models.example/v1/chat/completions'],
    ['https://models.example/openai/v1/', 'https://models.example/openai/v1/chat/completions'],
    ['https://models.example/v1/chat/completions', 'https://models.example/v1/chat/completions'],
    ['https://models.example/v1/chat/completions/', 'https://models.example/v1/chat/completions/'],
    ['https://models.example/v1?api-version=1#x', 'https://models.example/v1/chat/completions?api-version=1'],
  ])('%s means %s', (url, address) => {
    expect(chatAddress(url).href).toBe(address);
  });
});

describe('a server that behaves', () => {
  test('is sent the body as JSON with the key, and its message comes back', async () => {
    server.behave(sends(completion('hello')));
    expect(await clientOf().ask({ model: 'judge-1', n: 1 })).toEqual({ kind: 'answered', content: 'hello' });
    const [question] = server.questions;
    expect(question?.path).toBe('/v1/chat/completions');
    expect(question?.body).toEqual({ model: 'judge-1', n: 1 });
    expect(question?.headers).toMatchObject({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      authorization: 'Bearer sk-model-key',
    });
  });

  test('is sent no authorization without a key', async () => {
    server.behave(sends(completion('hello')));
    await clientOf({ api_key: null }).ask({});
    expect(server.questions[0]?.headers.authorization).toBeUndefined();
  });
});

describe('a server that behaves badly', () => {
  test.each([301, 302, 307, 308])('%i is not followed', async (status) => {
    const elsewhere = await startModelServer();
    elsewhere.behave(opines('PURPOSE_ALIGNED'));
    server.behave((response) => response.writeHead(status, { location: `${elsewhere.url}/v1` }).end());
    expect(await clientOf().ask({})).toEqual({ kind: 'http_error', status });
    expect(elsewhere.questions).toEqual([]);
    await elsewhere.stop();
  });

  test.each([400, 401, 404, 429, 500, 503])('%i is an error, whatever it carries', async (status) => {
    server.behave((response) => response.writeHead(status).end(completion('hello')));
    expect(await clientOf().ask({})).toEqual({ kind: 'http_error', status });
  });

  test('an error with an endless body ends at its status', async () => {
    server.behave((response) => {
      response.writeHead(500);
      const more = () => response.write('x'.repeat(10_000), () => !response.destroyed && setImmediate(more));
      more();
    });
    expect(await clientOf().ask({})).toEqual({ kind: 'http_error', status: 500 });
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
    expect(await clientOf().ask({})).toEqual({ kind: 'not_understood' });
  });

  test('a compressed answer is not understood, and so no bomb goes off', async () => {
    server.behave((response) =>
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(completion('x'.repeat(30_000_000)))),
    );
    expect(['not_understood', 'too_large']).toContain((await clientOf().ask({})).kind);
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
    expect(await clientOf().ask({})).toEqual({ kind: 'too_large' });
    await closed;
    expect(written).toBeGreaterThan(64 * 1_024);
  });

  test('an answer of exactly 64 KiB is read', async () => {
    const rest = 64 * 1_024 - completion('').length;
    server.behave(sends(completion('x'.repeat(rest))));
    expect((await clientOf().ask({})).kind).toBe('answered');
    server.behave(sends(completion('x'.repeat(rest + 1))));
    expect((await clientOf().ask({})).kind).toBe('too_large');
  });

  test('a connection that breaks before or within the answer is unreachable', async () => {
    server.behave((response) => response.destroy());
    expect((await clientOf().ask({})).kind).toBe('unreachable');
    server.behave((response) => {
      response.writeHead(200, { 'content-length': 1_000 });
      response.write('{', () => response.destroy());
    });
    expect((await clientOf().ask({})).kind).toBe('unreachable');
  });

  test('a server that is not there, and one that speaks no HTTP, are unreachable', async () => {
    const gone = await startModelServer();
    await gone.stop();
    expect((await clientOf({ url: gone.url }).ask({})).kind).toBe('unreachable');
    const odd = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.resume().write('220 mail.example ESMTP\r\n');
    });
    await new Promise<void>((listening) => odd.listen(0, '127.0.0.1', listening));
    const { port } = odd.address() as { port: number };
    const client = clientOf({ url: `http://127.0.0.1:${port}` });
    expect((await client.ask({})).kind).toBe('unreachable');
    await client.stop();
    await new Promise((closed) => odd.close(closed));
  });
});

describe('a server that is slow', () => {
  test('and never answers ends at the deadline, and the connection with it', async () => {
    server.behave(hangs);
    expect(await clientOf({ timeout_ms: SHORT_MS }).ask({})).toEqual({ kind: 'timeout' });
    await expect.poll(() => server.open(), { timeout: PATIENT_MS }).toBe(0);
  });

  test('and drips bytes ends at the deadline', async () => {
    server.behave((response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    });
    expect(await clientOf({ timeout_ms: SHORT_MS }).ask({})).toEqual({ kind: 'timeout' });
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
    expect((await client.ask({})).kind).toBe('timeout');
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
    const answer = client.ask({});
    await asked;
    await client.stop();
    expect(await answer).toEqual({ kind: 'stopping' });
    expect(await client.ask({})).toEqual({ kind: 'stopping' });
    expect(server.questions).toHaveLength(1);
  });
});
