import { createHmac, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
  /** ms, of this machine's clock. */
  at_ms: number;
  // biome-ignore lint/suspicious/noExplicitAny: events of every type.
  event: any;
}

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** Connections that were opened so far. */
  connections(): number;
  /** What it answers from now on; the default is an empty 200. */
  answer: (request: http.IncomingMessage, response: http.ServerResponse, received: Received) => void;
  close(): Promise<void>;
}

/** A receiver of webhooks on a real socket, with TLS where a certificate is given. */
export async function startReceiver(
  options: { tls?: { key: string; cert: string }; host?: string } = {},
): Promise<Receiver> {
  let connections = 0;
  const onRequest: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { url = '', headers } = request;
      const received = { path: url, headers, body, at_ms: Date.now(), event: JSON.parse(body) };
      receiver.received.push(received);
      receiver.answer(request, response, received);
    });
  };
  const server = options.tls ? https.createServer(options.tls, onRequest) : http.createServer(onRequest);
  server.on('connection', () => {
    connections += 1;
  });
  server.on('tlsClientError', () => {});
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `${options.tls ? 'https' : 'http'}://${host}:${port}/hook`,
    port,
    received: [],
    connections: () => connections,
    answer: (_request, response) => response.writeHead(200).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

/** Verifies a delivery as the guide tells receivers to. */
export function verifies(received: Pick<Received, 'headers' | 'body'>, secret: string): boolean {
  const found = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(received.headers['x-svc-signature']));
  if (found === null) return false;
  const expected = createHmac('sha256', secret).update(`${found[1]}.${received.body}`).digest();
  return timingSafeEqual(expected, Buffer.from(found[2] as string, 'hex'));
}
