import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectionUrl, createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { AUTHORITY, freshKey, spend } from '../support/running-service.ts';
import { takesMinutes, until } from '../support/until.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

takesMinutes(10);

/** The way from one SECRET_KEY to the next, with the programs and the commands that an operator uses. */

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const ADMIN = `sk_${'a'.repeat(30)}`;
const [OLD, NEW, NEXT] = [1, 2, 3].map(() => randomBytes(32).toString('base64')) as [string, string, string];

let database: TestDatabase;
let data_dir: string;
let receiver: Receiver;
let owner: pg.Client;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  database = await createTestDatabase();
  owner = new pg.Client(database.connection);
  await owner.connect();
  data_dir = await mkdtemp(join(tmpdir(), 'purser-rotation-'));
  receiver = await startReceiver();
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await receiver.close();
  await owner.end();
  await rm(data_dir, { recursive: true, force: true });
  await database.drop();
});

/** `secrets`: the present one, then the old ones. */
function start(args: string[], secrets: readonly string[], more: Record<string, string> = {}) {
  const [SECRET_KEY, ...old] = secrets as [string, ...string[]];
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATABASE_URL: connectionUrl(database.connection),
      DATA_DIR: data_dir,
      BOOTSTRAP_ADMIN_KEY: ADMIN,
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      RATE_LIMIT_PER_MINUTE: '1000000',
      SECRET_KEY,
      SECRET_KEYS_OLD: old.join(','),
      ...more,
    },
  });
  running.add(child);
  child.on('close', () => running.delete(child));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return { child, stdout: () => stdout, stderr: () => stderr };
}

/** Runs a command to its end. */
async function purser(args: string[], secrets: readonly string[], more: Record<string, string> = {}) {
  const started = start(args, secrets, more);
  const [code] = await once(started.child, 'close');
  return { code, stdout: started.stdout(), stderr: started.stderr() };
}
const rotate = async (secrets: readonly string[], more: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await purser(['rotate-secrets', '--json'], secrets, more);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
};

interface Node {
  url: string;
  call(
    method: string,
    path: string,
    options?: { key?: string; body?: unknown; idempotent?: boolean },
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  ): Promise<{ status: number; text: string; body: any }>;
  stop(): Promise<void>;
}

async function serve(...secrets: string[]): Promise<Node> {
  const { child, stdout, stderr } = start(['serve'], secrets);
  const url = await until(() => {
    if (child.exitCode !== null) throw new Error(`ended: ${stderr()}`);
    return /Purser listens on (\S+)\n/.exec(stdout())?.[1];
  });
  return {
    url,
    async call(method, path, { key = ADMIN, body, idempotent = false } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          'x-api-key': key,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotent ? { 'idempotency-key': freshKey() } : {}),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const is_json = response.headers.get('content-type') === 'application/json';
      return { status: response.status, text, body: is_json && text !== '' ? JSON.parse(text) : undefined };
    },
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}

async function made(node: Node, path: string, body: unknown, idempotent = false) {
  const reply = await node.call('POST', path, { body, idempotent });
  expect([path, reply.status, reply.text]).toEqual([path, 201, expect.anything()]);
  return reply.body;
}
const newCapability = async (node: Node, amount_minor: number): Promise<string> =>
  (await made(node, '/v1/decisions', spend('bot', amount_minor), true)).capability.token;
const consumed = async (node: Node, token: string, amount_minor: number, adapter: string) => {
  const body = { token, amount_minor, currency: 'EUR' };
  return (await node.call('POST', '/v1/capabilities/consume', { key: adapter, body, idempotent: true }))
    .status;
};
const seen = async (node: Node, key: string) => (await node.call('GET', '/v1/workspace', { key })).status;
const newKey = async (node: Node, scopes: string[]): Promise<{ id: string; key: string }> =>
  made(node, '/v1/api-keys', { name: scopes.join(), scopes });
/** Returns true if the next delivery to an endpoint is signed with the endpoint's own secret. */
async function isDelivered(node: Node, hook: { id: string; url: string; secret: string }): Promise<boolean> {
  const received = () => receiver.received.filter(({ path }) => hook.url.endsWith(path));
  const before = received().length;
  expect((await node.call('POST', `/v1/webhooks/${hook.id}/test`)).status).toBeLessThan(300);
  await until(() => received().length > before);
  const { headers, body } = received()[before] as (typeof receiver.received)[number];
  const [, t, v1] = /^t=(\d+),v1=(\w+)$/.exec(String(headers['x-purser-signature'])) ?? [];
  return createHmac('sha256', hook.secret).update(`${t}.${body}`).digest('hex') === v1;
}
const verified = async (node: Node) => {
  const { body } = await node.call('GET', '/v1/ledger/verify');
  return { valid: body.valid, breaks: body.breaks };
};
const published = async (node: Node): Promise<string[]> =>
  (await node.call('GET', '/.well-known/jwks.json')).body.keys.map((key: { kid: string }) => key.kid);
const signedUpTo = async (node: Node) => {
  const { body } = await node.call('GET', '/v1/ledger/verify');
  return body.checkpoint?.key_id;
};

test('a secret key is replaced on running nodes, one after another, and nothing that was made with it is lost', async () => {
  const a = await serve(OLD);
  await made(a, '/v1/agents', { slug: 'bot', mode: 'ENFORCE', authority: AUTHORITY });
  const adapter = (await newKey(a, ['consume'])).key;
  const reader = await newKey(a, ['read']);
  const unused = await newKey(a, ['read']);
  const hook = await made(a, '/v1/webhooks', { url: `${receiver.url}/a`, events: ['decision.created'] });
  expect(await isDelivered(a, hook)).toBe(true);
  await made(a, '/v1/channels', { name: 'Pager', type: 'webhook', url: `${receiver.url}/pager` });
  const token_a = await newCapability(a, 501);
  const token_b = await newCapability(a, 502);
  const token_c = await newCapability(a, 503);
  const page = (await a.call('GET', '/v1/decisions?limit=1')).body.next_cursor;
  await until(() => signedUpTo(a));
  const [old_kid] = await published(a);

  // First every node learns the new key, and goes on making everything with the old one.
  const b = await serve(OLD, NEW);
  await a.stop();
  expect(await published(b)).toHaveLength(2);
  expect((await published(b))[0]).toBe(old_kid);

  // Then one after another makes everything with the new one. Both work side by side.
  const c = await serve(NEW, OLD);
  const by_c = await newKey(c, ['read']);
  const by_b = await newKey(b, ['read']);
  for (const node of [b, c]) {
    for (const key of [ADMIN, by_b.key, by_c.key]) expect(await seen(node, key)).toBe(200);
    expect((await node.call('GET', `/v1/decisions?limit=1&cursor=${page}`)).status).toBe(200);
  }
  expect(await consumed(b, await newCapability(c, 504), 504, adapter)).toBe(201);
  expect(await consumed(c, await newCapability(b, 505), 505, adapter)).toBe(201);
  expect(await consumed(c, token_a, 501, adapter)).toBe(201);
  const hook_c = await made(c, '/v1/webhooks', { url: `${receiver.url}/c`, events: ['decision.created'] });
  expect(await isDelivered(b, hook_c)).toBe(true);

  // Until the operator says that all nodes know it, nothing stops a node that has the old key first, or alone.
  const too_early = await purser(['serve'], [NEW]);
  expect([too_early.code, too_early.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^purser: SECRET_KEY is not the key [^\n]*SECRET_KEYS_OLD[^\n]*rotate-secrets[^\n]*\n$/,
    ),
  ]);
  await b.stop();
  const before = await serve(OLD, NEW);
  expect(await seen(before, ADMIN)).toBe(200);

  const first = await rotate([NEW, OLD]);
  expect(first).toMatchObject({
    replaced: true,
    webhook_secrets: { rewrapped: 1, unreadable: 0 },
    channel_settings: { rewrapped: 1, unreadable: 0 },
    done: false,
  });
  const names = first.api_keys.map((key: { key_id: string }) => key.key_id);
  // Those that were used at a node with the new key may be kept under it by now.
  expect(names).toEqual(expect.arrayContaining([reader.id, unused.id]));
  expect(names).not.toContain(by_c.id);
  expect(Date.parse(first.capabilities_until) - Date.parse(first.since)).toBe(900_000);
  expect(JSON.stringify(first)).not.toContain('sk_a');

  // A key that is used is kept under the new one, within seconds; others are not touched.
  for (const key of [ADMIN, adapter, reader.key, by_b.key]) await seen(c, key);
  const under_old = `select key_id from api_key_digests
    where secret_id is distinct from (select secret_id from api_key_digests where key_id = '${by_c.id}')`;
  await until(async () => (await owner.query(under_old)).rowCount === 1);
  const left = (await rotate([NEW, OLD])).api_keys.map((key: { key_id: string }) => key.key_id);
  expect(left).toEqual([unused.id]);
  for (const node of [before, c]) {
    for (const key of [ADMIN, reader.key, by_b.key, by_c.key]) expect(await seen(node, key)).toBe(200);
    expect(await isDelivered(node, hook)).toBe(true);
    expect(await verified(node)).toEqual({ valid: true, breaks: [] });
  }
  await before.stop();
  const alone = await purser(['serve'], [OLD]);
  expect([alone.code, alone.stderr]).toEqual([
    1,
    expect.stringMatching(/^purser: SECRET_KEY is not the key/),
  ]);
  expect(await consumed(c, token_b, 502, adapter)).toBe(201);

  // The operator is told when the old one may go.
  expect((await c.call('DELETE', `/v1/api-keys/${unused.id}`)).status).toBeLessThan(300);
  const told = await purser(['rotate-secrets'], [NEW, OLD], { CAPABILITY_TTL_SECONDS: '1' });
  expect(told.stdout).toMatch(/^SECRET_KEY has been the key of this installation since /);
  expect(told.stdout).toMatch(/\nSECRET_KEYS_OLD may go\.\n$/);
  await c.stop();

  const d = await serve(NEW);
  for (const key of [ADMIN, reader.key, by_b.key, by_c.key]) expect(await seen(d, key)).toBe(200);
  expect(await isDelivered(d, hook)).toBe(true);
  expect(await isDelivered(d, hook_c)).toBe(true);
  expect(await consumed(d, token_c, 503, adapter)).toBeGreaterThanOrEqual(400);
  expect((await d.call('GET', `/v1/decisions?limit=1&cursor=${page}`)).status).toBe(400);

  // What the old key signed is still known, here and to whoever holds the published keys.
  const kids = await published(d);
  expect([kids.length, kids[1]]).toEqual([2, old_kid]);
  expect(await verified(d)).toEqual({ valid: true, breaks: [] });
  await until(async () => (await signedUpTo(d)) === kids[0]);
  const exported = join(data_dir, 'export.jsonl');
  await writeFile(exported, (await d.call('GET', '/v1/ledger/export')).text);
  const jwks = (await d.call('GET', '/.well-known/jwks.json')).text;
  const checked = await purser(['ledger', 'verify-file', exported, '--public-key', jwks], [NEW]);
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/^VALID: /)]);
  await d.stop();

  // And once more: the first key is vouched for by the third, though nobody knows its secret any more.
  expect(await rotate([NEXT, NEW])).toMatchObject({ replaced: true });
  const e = await serve(NEXT, NEW);
  expect(await published(e)).toEqual([expect.anything(), kids[0], old_kid]);
  expect(await verified(e)).toEqual({ valid: true, breaks: [] });
  await e.stop();
});
