import { webhooks } from '@purser/sdk/webhooks';
import { expect } from 'vitest';
import {
  AUTHORITY,
  freshKey,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes, until } from '../support/until.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

takesMinutes(5);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

const TYPE = 'limit.threshold.reached';
const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW' };
const env = {
  WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
  WEBHOOK_RETRY_FIRST_MS: '40',
  WEBHOOK_RETRY_MAX_MS: '300',
};

const { test, s, get, post, makeAgent } = serviceTest({ plan: 'enterprise', env });
let beside: RunningService;
let receiver: Receiver;
let secret: string;
test.beforeAll(async () => {
  beside = await startTestService({ beside: s, env });
  receiver = await startReceiver();
  secret = (await post('/v1/webhooks', { url: receiver.url, events: [TYPE] })).secret;
  // A list of its own is what makes an endpoint receive them.
  await post('/v1/webhooks', { url: 'http://127.0.0.1:9/' });
});
test.afterAll(async () => {
  await receiver.close();
  await beside.stop();
});

const alerts = async (agent: string) => {
  const { id } = await get(`/v1/agents/${agent}`);
  return (await get(`/v1/audit?action=${TYPE}&limit=200`)).data.filter(
    ({ target }: Shown) => target.id === id,
  );
};

test('each percentage of the month is published once, by the decision that reaches it, and the receiver can verify it', async () => {
  const agent = await makeAgent(
    { ...OPEN, monthly_budget_minor: 1_000, alert_percents: [25, 80, 100] },
    { mode: 'ENFORCE' },
  );
  const keys = Array.from({ length: 24 }, () => freshKey());
  const ask = (idempotency_key: string, i: number) =>
    until(async () => {
      const node = i % 2 === 0 ? s : beside;
      const reply = await node.call('POST', '/v1/decisions', { body: spend(agent, 50), idempotency_key });
      return reply.status === 503 ? undefined : reply.body;
    });
  // Each request is sent twice, once to each node.
  const made: Shown[] = await Promise.all([...keys.map(ask), ...keys.map((key, i) => ask(key, i + 1))]);
  const allowed = new Set(made.flatMap((each) => (each.decision === 'ALLOW' ? each.decision_id : [])));
  expect(allowed.size).toBe(20);
  const found = await alerts(agent);
  expect(found.map(({ changes }: Shown) => [changes.percent.to, changes.used_minor.to]).reverse()).toEqual([
    [25, 250],
    [80, 800],
    [100, 1_000],
  ]);
  const mine = () => receiver.received.filter(({ event }) => event.data.agent.slug === agent);
  await until(() => mine().length >= 3);
  for (const { body, headers, event } of mine()) {
    const { percent, limit, decision_id } = event.data;
    const decision = made.find((each) => each.decision_id === decision_id);
    expect(limit).toMatchObject({ name: 'monthly_budget', kind: 'monthly_budget', limit_minor: 1_000 });
    const { held_minor, committed_minor } = decision.reservation.budget;
    expect([limit.used_minor, held_minor + committed_minor]).toEqual([percent * 10, percent * 10]);
    // Either set of headers is enough.
    const only = (prefix: string) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix)));
    for (const prefix of ['x-svc-', 'webhook-']) {
      expect(await webhooks.unwrap(body, only(prefix), secret)).toEqual(event);
      await expect(webhooks.unwrap(`${body} `, only(prefix), secret)).rejects.toThrow('does not match');
    }
  }
  expect(new Set(mine().map(({ event }) => event.id)).size).toBe(3);
  expect(new Set(mine().map(({ event }) => event.data.percent)).size).toBe(3);
  const others = await get('/v1/webhooks/deliveries?limit=200');
  for (const each of others.data.filter(({ event_type }: Shown) => event_type === TYPE))
    expect(each.status).toBe('SUCCEEDED');
  expect((await get('/v1/ledger/verify')).valid).toBe(true);
});

test('one decision may reach several, and a denied one reaches none', async () => {
  const agent = await makeAgent({ ...OPEN, monthly_budget_minor: 1_000, alert_percents: [50, 90] });
  await post('/v1/decisions', spend(agent, 1_001));
  expect(await alerts(agent)).toEqual([]);
  await post('/v1/decisions', spend(agent, 900));
  expect((await alerts(agent)).map(({ changes }: Shown) => changes.percent.to)).toEqual([90, 50]);
  // Without percentages, or in another currency, nothing is published.
  const silent = await makeAgent({ ...OPEN, monthly_budget_minor: 1_000 });
  await post('/v1/decisions', spend(silent, 1_000));
  expect(await alerts(silent)).toEqual([]);
});

test('percentages have to be ascending, and a shared budget has its own', async () => {
  for (const alert_percents of [[], [80, 80], [90, 50], [0], [101], [1, 2, 3, 4, 5, 6], ['80'], [50.5]]) {
    const refused = [
      await s.call('POST', '/v1/agents', {
        body: { slug: freshKey(), authority: { ...OPEN, alert_percents } },
      }),
      await s.call('POST', '/v1/budgets', {
        body: { slug: freshKey(), currency: 'EUR', period: 'MONTH', limit_minor: 1, alert_percents },
      }),
    ];
    for (const { status, body } of refused) {
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
      expect(body.error.message).toContain('alert_percents');
    }
  }
  const body = { currency: 'EUR', period: 'TOTAL', limit_minor: 1_000 };
  expect((await post('/v1/budgets', { ...body, slug: 'plain' })).alert_percents).toEqual([80, 100]);
  const budget = await post('/v1/budgets', { ...body, slug: 'own', alert_percents: [10, 60] });
  const agent = await makeAgent({ ...OPEN, budgets: ['own'] });
  await post('/v1/decisions', spend(agent, 150));
  await s.call('PATCH', '/v1/budgets/own', { body: { alert_percents: [10, 50] } });
  await post('/v1/decisions', spend(agent, 400));
  const found = await get('/v1/audit?action=budget.threshold.reached&limit=50');
  expect(
    found.data
      .filter(({ target }: Shown) => target.id === budget.id)
      .map(({ changes }: Shown) => changes.percent.to),
  ).toEqual([50, 10]);
  const [updated] = (await get('/v1/audit?action=budget.updated')).data;
  expect(updated.changes.alert_percents).toEqual({ from: [10, 60], to: [10, 50] });
  expect((await get('/v1/ledger/verify')).valid).toBe(true);
});
