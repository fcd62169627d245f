import { readFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import {
  connectEndpoint,
  type EndpointConnections,
  type WebhookClientOptions,
} from '../../src/service/webhook-delivery/client.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

/** For what is to be cut: whoever waits for its end without a limit waits for ever. */
const TIMEOUT_MS = 600;
/** For everything else: a busy machine may take its time. */
const PATIENCE_MS = 60_000;

/** An authority of our own and certificates that it gave; vectors/tls/make.sh made them. */
const file = (name: string) => readFileSync(new URL(`../vectors/tls/${name}`, import.meta.url), 'utf8');
const ca = file('authority.pem');
const certificate = (name: string) => ({ key: file(`${name}.key`), cert: file(`${name}.pem`) });

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** A client whose names all lead to these addresses. */
function client(url: string, options: Partial<WebhookClientOptions> = {}): EndpointConnections {
  const made = connectEndpoint(url, {
    resolve: async () => ['127.0.0.1'],
    allow_private: true,
    timeout_ms: PATIENCE_MS,
    connections: 4,
    ...options,
  });
  open.push(made);
  return made;
}

async function receive(options?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(options);
  open.push(receiver);
  return receiver;
}

/** A server of plain bytes: `speak` gets the connection once a request's first bytes came. */
async function rawServer(speak: (socket: net.Socket) => void): Promise<{ port: number; bytes(): number }> {
  let bytes = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => speak(socket));
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  return { port: (server.address() as AddressInfo).port, bytes: () => bytes };
}

const post = (to: EndpointConnections) => to.post({ 'content-type': 'application/json' }, '{"id":"evt_1"}');
const failed = (error: string, http_status: number | null = null) => ({
  received: false,
  http_status,
  error,
});

describe('TLS', () => {
  test('a receiver with a good certificate is reached under its own name', async () => {
    const receiver = await receive({ tls: certificate('good') });
    const to = client(`https://hooks.example.com:${receiver.port}/hook?a=b`, { ca });
    expect(await post(to)).toEqual({ received: true, http_status: 200, error: null });
    expect(receiver.received[0]).toMatchObject({
      path: '/hook?a=b',
      body: '{"id":"evt_1"}',
      headers: { host: `hooks.example.com:${receiver.port}`, 'content-length': '14' },
    });
  });
  test('connections are used again', async () => {
    const receiver = await receive({ tls: certificate('good') });
    const to = client(`https://hooks.example.com:${receiver.port}/`, { ca });
    for (let i = 0; i < 5; i++) expect((await post(to)).received).toBe(true);
    expect(receiver.connections()).toBeLessThan(3);
  });
  test.each([
    ['of an unknown authority', 'good', undefined],
    ['for another name', 'other', 'ca'],
    ['that expired', 'expired', 'ca'],
  ])('a certificate %s ends in tls_error and nothing is sent', async (_, name, with_ca) => {
    const receiver = await receive({ tls: certificate(name) });
    const to = client(`https://hooks.example.com:${receiver.port}/`, with_ca === undefined ? {} : { ca });
    expect(await post(to)).toEqual(failed('tls_error'));
    expect(receiver.received).toEqual([]);
  });
  test('the environment cannot switch verification off', async () => {
    const receiver = await receive({ tls: certificate('good') });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await post(client(`https://hooks.example.com:${receiver.port}/`))).toEqual(failed('tls_error'));
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });
  test('a receiver that does not speak TLS ends in tls_error', async () => {
    const receiver = await receive();
    expect(await post(client(`https://hooks.example.com:${receiver.port}/`, { ca }))).toEqual(
      failed('tls_error'),
    );
  });
});

describe('where the connection goes', () => {
  const guarded = { allow_private: false };
  test.each([
    ['127.0.0.1'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['93.184.216.34', '127.0.0.1'],
  ])('a name that resolves to %s %s reaches nobody', async (...addresses) => {
    const receiver = await receive();
    const to = client(`http://rebound.example.com:${receiver.port}/`, {
      ...guarded,
      resolve: async () => addresses.filter((each) => each !== undefined),
    });
    expect(await post(to)).toEqual(failed('blocked_address'));
    expect(receiver.connections()).toBe(0);
  });
  test.each(['127.0.0.1', '[::1]', '2130706433', '0x7f.1', '[::ffff:7f00:1]'])(
    'the literal %s, which no resolver is asked about, reaches nobody',
    async (host) => {
      const receiver = await receive();
      const resolve = async () => {
        throw new Error('asked');
      };
      const to = client(`http://${host}:${receiver.port}/`, { ...guarded, resolve });
      expect(await post(to)).toEqual(failed('blocked_address'));
      expect(receiver.connections()).toBe(0);
    },
  );
  test('a name that resolves to a public and then to a loopback address never reaches loopback', async () => {
    const receiver = await receive();
    const answers = [['93.184.216.34'], ['127.0.0.1'], ['127.0.0.1']];
    const asked: string[] = [];
    const to = client(`http://rebinding.example.com:${receiver.port}/`, {
      ...guarded,
      resolve: async (name) => {
        asked.push(name);
        return answers.shift() as string[];
      },
      // No packet leaves for the public address; the port at it refuses.
      dial: (address) => {
        const socket = new net.Socket();
        setImmediate(() => socket.destroy(new Error(`refused by ${address}`)));
        return socket;
      },
    });
    expect(await post(to)).toEqual(failed('connect_error'));
    expect(await post(to)).toEqual(failed('blocked_address'));
    expect(await post(to)).toEqual(failed('blocked_address'));
    expect(asked).toHaveLength(3);
    expect(receiver.connections()).toBe(0);
  });
  test('a connection that ended up at another address than the checked one is cut before the first byte', async () => {
    const server = await rawServer(() => {});
    const to = client(`http://hooks.example.com:${server.port}/`, {
      ...guarded,
      resolve: async () => ['93.184.216.34'],
      dial: (_address, port) => net.connect({ host: '127.0.0.1', port }),
    });
    expect(await post(to)).toEqual(failed('blocked_address'));
    await new Promise((wait) => setTimeout(wait, 50));
    expect(server.bytes()).toBe(0);
  });
  test('the address that was checked is the one that is connected to, whatever the name means elsewhere', async () => {
    const receiver = await receive();
    const dialled: string[] = [];
    const to = client(`http://localhost:${receiver.port}/`, {
      resolve: async () => ['127.0.0.1'],
      dial: (address, port) => {
        dialled.push(address);
        return net.connect({ host: address, port });
      },
    });
    expect((await post(to)).received).toBe(true);
    expect(dialled).toEqual(['127.0.0.1']);
  });
  test('another address of the name is tried when one refuses', async () => {
    const receiver = await receive();
    const to = client(`http://two.example.com:${receiver.port}/`, {
      resolve: async () => ['127.0.0.9', '127.0.0.1'],
    });
    expect(await post(to)).toMatchObject({ received: true });
  });
  test('proxies of the environment are not used', async () => {
    const receiver = await receive();
    const proxy = await receive();
    process.env.HTTP_PROXY = process.env.http_proxy = proxy.url;
    try {
      expect((await post(client(receiver.url))).received).toBe(true);
    } finally {
      delete process.env.HTTP_PROXY;
      delete process.env.http_proxy;
    }
    expect(proxy.connections()).toBe(0);
  });
});

describe('hostile receivers', () => {
  /** Posts and gives the result and how much the process grew, MB. */
  async function measured(to: EndpointConnections) {
    const before = process.memoryUsage().rss;
    const result = await post(to);
    return {
      result,
      grown_mb: (process.memoryUsage().rss - before) / 1_000_000,
    };
  }
  const url = (server: { port: number }) => `http://127.0.0.1:${server.port}/hook`;
  const hurried = (server: { port: number }) => client(url(server), { timeout_ms: TIMEOUT_MS });
  const OK = 'HTTP/1.1 200 OK\r\n';

  test('one that never answers is cut at the time limit', async () => {
    const server = await rawServer(() => {});
    const began_ms = performance.now();
    expect(await post(hurried(server))).toEqual(failed('timeout'));
    expect(performance.now() - began_ms).toBeGreaterThan(TIMEOUT_MS - 50);
  });
  test('one that drips its headers byte by byte is cut at the time limit', async () => {
    const server = await rawServer((socket) => {
      let sent = 0;
      const timer = setInterval(() => socket.write('HTTP/1.1 200 OK\r\nx: '[sent++] ?? 'y'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await post(hurried(server))).toEqual(failed('timeout'));
  });
  test('one whose body drips is cut at the time limit, and its 2xx in time counts', async () => {
    const server = await rawServer((socket) => {
      socket.write(`${OK}content-length: 1000\r\n\r\n`);
      const timer = setInterval(() => socket.write('x'), 400);
      socket.on('close', () => clearInterval(timer));
    });
    // Long enough for its first line to come in time; its body would not end for minutes.
    const to = client(url(server), { timeout_ms: 5 * TIMEOUT_MS });
    expect(await post(to)).toEqual({ received: true, http_status: 200, error: null });
  });
  test('of a flood no more is read than the limit, and memory stays flat', async () => {
    let sent = 0;
    const server = await rawServer((socket) => {
      socket.write(`${OK}content-length: 9000000000\r\n\r\n`);
      const chunk = Buffer.alloc(65_536, 120);
      const flood = () => {
        while (!socket.destroyed) {
          sent += chunk.length;
          if (!socket.write(chunk)) return;
        }
      };
      socket.on('drain', flood);
      flood();
    });
    const { result, grown_mb } = await measured(client(url(server)));
    expect(result).toEqual({ received: true, http_status: 200, error: null });
    expect(grown_mb).toBeLessThan(60);
    expect(sent).toBeLessThan(60_000_000);
  });
  test('a gzip bomb is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    const receiver = await receive();
    receiver.answer = (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length });
      response.end(bomb);
    };
    const { result, grown_mb } = await measured(client(receiver.url));
    expect(result.received).toBe(true);
    expect(grown_mb).toBeLessThan(60);
  });
  test.each([301, 302, 303, 307, 308])(
    'a redirect by %i is a failure and its target stays untouched',
    async (status) => {
      const target = await receive();
      const receiver = await receive();
      receiver.answer = (_request, response) => response.writeHead(status, { location: target.url }).end();
      expect(await post(client(receiver.url))).toEqual(failed('redirect', status));
      expect(target.connections()).toBe(0);
    },
  );
  test.each([
    ['2', 2_000],
    ['86400', 3_600_000],
    ['9'.repeat(400), 3_600_000],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['Fri, 31 Dec 9999 23:59:59 GMT', undefined],
  ])('Retry-After: %s asks for a pause of %s ms', async (value, retry_after_ms) => {
    const receiver = await receive();
    receiver.answer = (_request, response) => response.writeHead(429, { 'retry-after': value }).end();
    expect((await post(client(receiver.url))).retry_after_ms).toBe(retry_after_ms);
  });
  test.each([400, 404, 410, 429, 500, 503])('a status of %i is a failure', async (status) => {
    const receiver = await receive();
    receiver.answer = (_request, response) => response.writeHead(status).end('no');
    expect(await post(client(receiver.url))).toEqual(failed('bad_status', status));
  });
  test.each([
    ['bytes that are no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', 'invalid_response'],
    ['headers without end', `${OK}x: ${'y'.repeat(100_000)}`, 'invalid_response'],
    ['nothing but an end', '', 'connection_closed'],
    ['half a status line', 'HTTP/1.1 2', 'connection_closed'],
  ])('%s end in %s', async (_, bytes, error) => {
    const server = await rawServer((socket) => socket.end(bytes));
    expect(await post(client(url(server)))).toEqual(failed(error));
  });
  test('an endless row of informational answers is cut at the time limit', async () => {
    const server = await rawServer((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 10);
      socket.on('close', () => clearInterval(timer));
    });
    expect((await post(hurried(server))).received).toBe(false);
  });
  test('nobody at the port ends in connect_error, a name without an answer in dns_error, a hanging one in timeout', async () => {
    const gone = await startReceiver();
    await gone.close();
    expect(await post(client(gone.url))).toEqual(failed('connect_error'));
    const to = (resolve: WebhookClientOptions['resolve']) =>
      client('http://nowhere.example.com/', { resolve, timeout_ms: TIMEOUT_MS });
    expect(await post(to(async () => []))).toEqual(failed('dns_error'));
    expect(await post(to(() => Promise.reject(new Error('SERVFAIL'))))).toEqual(failed('dns_error'));
    expect(await post(to(() => new Promise(() => {})))).toEqual(failed('timeout'));
  });
  test('a connection that nobody accepts is cut at the time limit', async () => {
    const dial = () => new net.Socket();
    expect(await post(client('http://127.0.0.1:9/', { dial, timeout_ms: TIMEOUT_MS }))).toEqual(
      failed('timeout'),
    );
  });
  test('what is cut by a stop ends at once', async () => {
    let asked = () => {};
    const is_asked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const to = client(url(await rawServer(asked)));
    const result = post(to);
    await is_asked;
    to.close();
    expect(await result).toEqual(failed('connection_closed'));
  });
});

test('a plain HTTP server of Node that closes idle connections is no trap', async () => {
  const server = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(204).end());
  });
  server.keepAliveTimeout = 1;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => new Promise((resolve) => server.close(resolve)) });
  const to = client(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  for (let i = 0; i < 3; i++) {
    expect(await post(to)).toEqual({ received: true, http_status: 204, error: null });
    await new Promise((wait) => setTimeout(wait, 1_100));
  }
});
