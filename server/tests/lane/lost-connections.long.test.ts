import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../src/app.ts';
import { readConfig } from '../../src/service/config/config.ts';
import {
  AUTHORITY,
  freshKey,
  type RunningService,
  SECRET_KEY,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { until } from '../support/until.ts';

type Fault = 'none' | 'lose the answer of a commit' | 'cut at a commit' | 'swallow everything';

/** A node whose connections to PostgreSQL go through a plain proxy that breaks as it is told. */
let real: RunningService;
let proxied: Service;
let proxy: Server;
let directory: string;
let fault: Fault = 'none';
const sockets = new Set<Socket>();

beforeAll(async () => {
  real = await startTestService();
  const { connection } = real.database;
  directory = await mkdtemp(join(tmpdir(), 'purser-proxy-'));
  proxy = createServer((client) => {
    const { host, port } = connection;
    const server = host.startsWith('/') ? connect(join(host, `.s.PGSQL.${port}`)) : connect(port, host);
    let lost = false;
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (fault === 'swallow everything') return;
      const commits = bytes.includes('commit\0');
      if (commits && fault === 'cut at a commit') {
        client.destroy();
        return;
      }
      if (commits && fault === 'lose the answer of a commit') lost = true;
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (lost) client.destroy();
      else if (fault !== 'swallow everything') client.write(bytes);
    });
  });
  await new Promise<void>((ready) => proxy.listen(join(directory, '.s.PGSQL.5432'), ready));
  const config = readConfig({ PORT: '0', RATE_LIMIT_PER_MINUTE: '1000000' });
  const address = { ...connection, host: directory, port: 5432 };
  proxied = await startService(
    config,
    { address, secret_key: SECRET_KEY, guarded: true, checkpoint_dir: join(directory, 'checkpoints') },
    pino({ level: 'silent' }),
  );
  await real.call('POST', '/v1/agents', {
    body: { slug: 'a', authority: { ...AUTHORITY, monthly_budget_minor: 1_000_000 } },
  });
});
afterAll(async () => {
  fault = 'none';
  await proxied.stop();
  proxy.close();
  for (const socket of sockets) socket.destroy();
  rmSync(directory, { recursive: true, force: true });
  await real.stop();
});

async function ask(
  idempotency_key: string,
): Promise<{ status: number; code: string | undefined; outcome: string | null; text: string }> {
  const response = await fetch(`${proxied.url}/v1/decisions`, {
    method: 'POST',
    headers: {
      'x-api-key': real.admin_key,
      'content-type': 'application/json',
      'idempotency-key': idempotency_key,
    },
    body: JSON.stringify(spend('a', 5)),
  });
  const text = await response.text();
  return {
    status: response.status,
    code: JSON.parse(text).error?.code,
    outcome: response.headers.get('purser-outcome'),
    text,
  };
}

test.each<[Fault, number]>([
  ['lose the answer of a commit', 1],
  ['cut at a commit', 0],
])('%s: nobody is told "done", and the retries make one decision each', async (broken, made_before_retry) => {
  expect((await ask(freshKey())).status).toBe(201);
  const keys = Array.from({ length: 10 }, freshKey);
  fault = broken;
  const replies = await Promise.all(keys.map(ask));
  fault = 'none';
  expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([503]));
  expect(new Set(replies.map((reply) => reply.code))).toEqual(new Set(['unavailable']));
  const count = async () =>
    (await real.sql('select count(*)::int as n from decisions where idempotency_key = any($1)', [keys]))
      .rows[0].n;
  expect(new Set(replies.map((reply) => reply.outcome))).toEqual(new Set(['unknown']));
  if (made_before_retry === 0) expect(await count()).toBe(0);
  const again = await Promise.all(keys.map(ask));
  for (const reply of again) expect([200, 201]).toContain(reply.status);
  expect(await count()).toBe(keys.length);
  expect((await real.call('GET', '/v1/ledger/verify')).body.valid).toBe(true);
});

test('connections that went silent are given up by the deadline with 503, and the node heals by itself', async () => {
  expect((await ask(freshKey())).status).toBe(201);
  const keys = Array.from({ length: 5 }, freshKey);
  fault = 'swallow everything';
  const replies = await Promise.all(keys.map(ask));
  fault = 'none';
  expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([503]));
  const again = await Promise.all(keys.map(ask));
  for (const reply of again) expect([200, 201]).toContain(reply.status);
});

test('a database that is away is 503 for every request, and no readiness; nothing is granted', async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((closed) => proxy.close(() => closed()));
  const reply = await ask(freshKey());
  expect([reply.status, reply.code]).toEqual([503, 'auth_unavailable']);
  // What is said of readiness may be a second old.
  const readiness = async () => (await fetch(`${proxied.url}/readyz`)).status;
  await until(async () => (await readiness()) === 503);
  expect((await fetch(`${proxied.url}/healthz`)).status).toBe(200);
  await new Promise<void>((ready) => proxy.listen(join(directory, '.s.PGSQL.5432'), ready));
  expect((await ask(freshKey())).status).toBe(201);
  await until(async () => (await readiness()) === 200);
});
