import { Agent, createServer, type IncomingHttpHeaders, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { textOf } from './fault-rail.ts';

/** Shares of what goes wrong between client and service, each 0 to 1. */
export interface ProxyFaults {
  /** The connection breaks before the service has the request. */
  lost_requests: number;
  /** The service carries it out and the connection breaks before the answer. */
  lost_answers: number;
  /** Half of the answer's body comes. */
  cut: number;
  /** The client's connection breaks, and the request reaches the service later. */
  delayed: number;
  /** 503 without the service having the request, 502 after it has carried it out. */
  failed: number;
  /** The service carries it out, and something in between answers with a success and JSON of another shape. */
  other: number;
}

export interface FaultProxy {
  url: string;
  close(): Promise<void>;
}

/** Shapes that no route of the service answers an object with. */
const OTHERS = [
  (body: string) => `[${body}]`,
  () => '[]',
  () => '{}',
  () => '{"data":[],"next_cursor":null}',
];
const MAX_DELAY_MS = 1_000;

interface Told {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Stands before a service and breaks things. `rewrite` may change the headers of its answers. */
export async function startFaultProxy(
  service_url: string,
  faults: ProxyFaults,
  rewrite: (headers: IncomingHttpHeaders, asked: IncomingHttpHeaders) => void = () => {},
): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });

  function forward(method: string, path: string, headers: IncomingHttpHeaders, body: string): Promise<Told> {
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, service_url), { method, headers, agent }, async (answer) => {
        const told = await textOf(answer).catch(reject);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: told ?? '' });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** One of the faults, or none. */
  function roll(): keyof ProxyFaults | null {
    let left = Math.random();
    for (const [fault, share] of Object.entries(faults)) {
      left -= share;
      if (left < 0) return fault as keyof ProxyFaults;
    }
    return null;
  }

  function tell(reply: ServerResponse, { status, headers, body }: Told, half: boolean): void {
    reply.writeHead(status, headers);
    if (!half) reply.end(body);
    else reply.write(body.slice(0, body.length / 2), () => reply.destroy());
  }

  const server = createServer(async (message, reply) => {
    try {
      const body = await textOf(message);
      const { method = 'GET', url = '/' } = message;
      const fault = roll();
      if (fault === 'lost_requests') return reply.destroy();
      if (fault === 'failed' && Math.random() < 0.5) return reply.writeHead(503).end();
      if (fault === 'delayed') {
        // Broken off here instead of by the client's own time limit: nothing depends on how fast the machine is.
        reply.destroy();
        await wait(Math.random() * MAX_DELAY_MS);
      }
      const told = await forward(method, url, message.headers, body);
      rewrite(told.headers, message.headers);
      if (fault === 'lost_answers' || fault === 'delayed') return reply.destroy();
      if (fault === 'other' && told.status < 300) {
        const other = OTHERS[Math.floor(Math.random() * OTHERS.length)] as (typeof OTHERS)[number];
        return reply.writeHead(200, { 'content-type': 'application/json' }).end(other(told.body));
      }
      if (fault === 'failed') return reply.writeHead(502).end('<html>Bad Gateway');
      return tell(reply, told, fault === 'cut' && told.body.length > 1);
    } catch {
      reply.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}
