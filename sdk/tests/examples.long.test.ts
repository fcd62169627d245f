import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { takesMinutes, until } from '../../server/tests/support/until.ts';
import { Purser, webhooks } from '../src/index.ts';
import { AUTHORITY, makeKey, type RunningService, startTestService } from './service.ts';

// Processes start slowly on a busy machine.
takesMinutes(10);
const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

let s: RunningService;
let admin: Purser;
const children: ChildProcess[] = [];
beforeAll(async () => {
  s = await startTestService({
    env: { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true', WEBHOOK_RETRY_FIRST_MS: '50' },
  });
  admin = new Purser({ apiKey: s.admin_key, baseURL: s.url });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await s.stop();
});

/** An example under way, and what it has written. */
function start(name: string, env: Record<string, string>, args: string[] = []) {
  const child = spawn(process.execPath, [`${EXAMPLES}${name}`, ...args], {
    env: { ...process.env, PURSER_BASE_URL: s.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const told = { output: '', child, is_over: false };
  child.on('close', () => {
    told.is_over = true;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      told.output += chunk.toString('utf8');
    });
  }
  return told;
}

/** Resolves when an example has written this, and rejects with what it has when it ends without. */
const untilTold = (example: ReturnType<typeof start>, what: string | RegExp) =>
  until(() => {
    const found = example.output.match(what);
    if (found === null && example.is_over) throw new Error(`ended without ${what}: ${example.output}`);
    return found;
  });

async function run(name: string, env: Record<string, string>, args: string[] = []): Promise<string> {
  const told = start(name, env, args);
  const [code] = await once(told.child, 'close');
  expect([code, told.output.includes('    at ')], told.output).toEqual([0, false]);
  return told.output;
}

/** The keys of an agent in ENFORCE and of its payment adapter. */
async function keysOf(slug: string, limits: object = {}): Promise<Record<string, string>> {
  const agent = await admin.agents.create({ slug, mode: 'ENFORCE', authority: { ...AUTHORITY, ...limits } });
  return {
    PURSER_AGENT_KEY: (await makeKey(s, { agent_id: agent.id })).key,
    PURSER_CONSUME_KEY: (await makeKey(s, { scopes: ['consume'] })).key,
  };
}

test('guarded-payment pays, once, and reports it as the payment system’s word', async () => {
  const keys = await keysOf('guarded');
  expect(await run('guarded-payment.mjs', keys)).toMatch(/^invoice-1001: paid \(dec_\w+\)\n$/);
  expect(await run('guarded-payment.mjs', keys)).toMatch(/^invoice-1001: already_paid \(dec_\w+\)\n$/);
  const { data } = await admin.decisions.list({ agent: 'guarded' });
  expect(data.map((each) => [each.outcome_state, each.verified])).toEqual([['EXECUTED', true]]);
});

test('guarded-payment waits for a person, whom review asks, and then pays', async () => {
  const keys = await keysOf('reviewed', { review_threshold_minor: 1 });
  const waiting = { ...keys, INVOICE: 'invoice-1002' };
  expect(await run('guarded-payment.mjs', { ...waiting, WAIT_MS: '0' })).toContain('invoice-1002: not paid');
  const reviewer = await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' });
  const paying = start('guarded-payment.mjs', waiting);
  const reviewed = await run('review.mjs', { PURSER_API_KEY: reviewer.key }, ['ALLOW']);
  expect(reviewed).toContain('reviewed wants 5440 EUR for Hetzner Online');
  expect(reviewed).toContain('ALLOW recorded by user:ada');
  await untilTold(paying, 'invoice-1002: paid');
  const denied = { ...keys, INVOICE: 'invoice-1003' };
  await run('guarded-payment.mjs', { ...denied, WAIT_MS: '0' });
  await run('review.mjs', { PURSER_API_KEY: reviewer.key }, ['DENY']);
  expect(await run('guarded-payment.mjs', denied)).toContain('invoice-1003: not paid');
});

test('stripe-issuing approves what was allowed once, and reports what was captured', async () => {
  const keys = await keysOf('cards', { allowed_merchants: ['Hetzner Online'] });
  const told = await run('stripe-issuing/run.mjs', keys);
  const answers = [...told.matchAll(/^([a-z].*): (\d{3}) (\{.*\})$/gm)].map(([, title, status, body]) => [
    title,
    Number(status),
    JSON.parse(body as string).approved,
  ]);
  expect(answers).toEqual([
    ['forged', 400, false],
    ['a card that is not armed', 200, false],
    ['more than was allowed', 200, false],
    ['what was allowed', 200, true],
    ['the same event again', 200, true],
    ['a second authorization', 200, false],
    ['captured', 200, undefined],
    ['closed', 200, undefined],
    ['given back', 200, undefined],
  ]);
  expect(told).toMatch(/dec_\w+: PARTIALLY_REFUNDED, by the rail’s word\n$/);
});

test('x402 pays five times out of one decision, and nothing that is not allowed', async () => {
  const objective = 'Buy weather forecasts for the planning of the fields.';
  const authority = { purpose: { objective }, allowed_merchants: ['Weather Shop'] };
  const told = await run('x402/run.mjs', await keysOf('forecasts', authority));
  expect(told).toContain('forecast 5: sunny\n5 payments, 0 top-ups left open');
  const { data } = await admin.decisions.list({ agent: 'forecasts' });
  expect(data.map((each) => [each.requested_amount_minor, each.outcome_state, each.verified])).toEqual([
    [100, 'EXECUTED', true],
  ]);
  const blocked = await keysOf('no-forecasts', { ...authority, blocked_merchants: ['Weather Shop'] });
  expect(await run('x402/run.mjs', blocked)).toContain('0 payments, 0 top-ups left open');
});

test('webhook-receiver takes each event once, whoever signs it wrongly is refused', async () => {
  // The endpoint's secret comes with the endpoint, so that the receiver's port has to be known first.
  const probe = start('webhook-receiver.mjs', { PURSER_WEBHOOK_SECRET: 'whsec_none', PORT: '0' });
  const url = (await untilTold(probe, /http:\/\/\S+/))[0];
  probe.child.kill('SIGKILL');
  await once(probe.child, 'close');
  const { id, secret } = await admin.webhookEndpoints.create({ url });
  const receiver = start('webhook-receiver.mjs', {
    PURSER_WEBHOOK_SECRET: `whsec_of_old,${secret}`,
    PORT: new URL(url).port,
  });
  await untilTold(receiver, 'listening');

  const { event_id } = await admin.webhookEndpoints.test(id);
  await untilTold(receiver, `webhook.test ${event_id}`);
  const body = JSON.stringify({
    id: event_id,
    type: 'webhook.test',
    created_at: '',
    data: { endpoint_id: id },
  });
  const again = await fetch(url, { method: 'POST', body, headers: await webhooks.sign(body, secret) });
  const forged = await fetch(url, {
    method: 'POST',
    body,
    headers: await webhooks.sign(body, 'whsec_forged'),
  });
  expect([again.status, forged.status]).toEqual([204, 400]);
  await untilTold(receiver, 'refused');
  expect(receiver.output.split(event_id)).toHaveLength(2);
});
