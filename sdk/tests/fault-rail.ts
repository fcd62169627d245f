import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Shares of what goes wrong, each 0 to 1. */
export interface RailFaults {
  lost_requests: number;
  lost_answers: number;
  declined: number;
}

export interface Rail {
  url: string;
  /** How often money moved, by the name of the spend. */
  payments: Map<string, number>;
  close(): Promise<void>;
}

export async function textOf(message: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of message) text += chunk;
  return text;
}

/** A payment system: pays what it is asked to pay; with a `key`, once for each key. */
export async function startRail(faults: RailFaults): Promise<Rail> {
  const payments = new Map<string, number>();
  const answers = new Map<string, number>();
  const server = createServer(async (request, reply) => {
    const { name, key } = JSON.parse(await textOf(request)) as { name: string; key: string | null };
    if (Math.random() < faults.lost_requests) return reply.destroy();
    let status = key === null ? undefined : answers.get(key);
    if (status === undefined) {
      status = Math.random() < faults.declined ? 402 : 200;
      if (status === 200) payments.set(name, (payments.get(name) ?? 0) + 1);
      if (key !== null) answers.set(key, status);
    }
    if (Math.random() < faults.lost_answers) return reply.destroy();
    reply.writeHead(status).end(JSON.stringify({ reference: `pay_${name}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    payments,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
