import { WEBHOOK_EVENTS } from '@purser/contract/webhook-events';
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import { AUTHORITY, makeKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, get, post, makeAgent } = serviceTest({
  plan: 'enterprise',
  env: { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

const TYPES = [
  'allowance.requested',
  'allowance.decided',
  'allowance.revoked',
  'allowance.threshold.reached',
] as const;
const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', monthly_budget_minor: 10_000_000 };
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
test.beforeAll(async () => {
  await post('/v1/webhooks', { url: 'http://127.0.0.1:9/', events: TYPES });
  // Without a list of its own an endpoint receives none of them.
  await post('/v1/webhooks', { url: 'http://127.0.0.1:9/others' });
});

const isDocumented = Object.fromEntries(
  TYPES.map((type) => [
    type,
    new Ajv({ strict: false, validateFormats: false }).compile(WEBHOOK_EVENTS[type].body),
  ]),
);
/** The data of the events of a type about an allowance, oldest first. */
async function eventsOf(type: (typeof TYPES)[number], id: string): Promise<Shown[]> {
  const { rows } = await s.sql('select payload from webhook_events where type = $1 order by event_id', [
    type,
  ]);
  const events = rows.map(({ payload }) => JSON.parse(payload as string));
  for (const event of events) {
    isDocumented[type]?.(event);
    expect(isDocumented[type]?.errors).toBeNull();
  }
  return events.flatMap(({ data }) => ((data.allowance ?? data).id === id ? [data] : []));
}
const withoutUsage = ({ standing: _s, total: _t, last_used_at: _l, ...settings }: Shown) => settings;
const send = async (path: string, body: object, key?: string): Promise<Shown> => {
  const reply = await s.call('POST', path, { body, ...(key === undefined ? {} : { key }) });
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
};
const pay = (agent: string, minor: number, allowance?: string): Promise<Shown> =>
  post('/v1/decisions', { ...spend(agent, minor), ...(allowance === undefined ? {} : { allowance }) });

test('a request, its decision and a revocation are published once, with the allowance as the API shows it and who made the change', async () => {
  const agent = await makeAgent(OPEN, { mode: 'ENFORCE' });
  const own = await makeKey(s, { agent_id: agent });
  const ada = await makeKey(s, { scopes: ['review', 'read', 'admin'], principal_id: 'user:ada' });
  const asked = { currency: 'EUR', amount_minor: 1_000, purpose: 'The load test', external_id: 'one' };
  const made = await post('/v1/allowances/request', asked, own.key);
  await send('/v1/allowances/request', asked, own.key);
  const by = made.request.requested_by;
  expect(await eventsOf('allowance.requested', made.id)).toEqual([{ ...withoutUsage(made), by }]);
  const granted = await send(
    `/v1/allowances/${made.id}/decide`,
    { action: 'ALLOW', comment: 'Yes' },
    ada.key,
  );
  const by_ada = granted.decided.by;
  expect(by_ada.principal_id).toBe('user:ada');
  expect(await eventsOf('allowance.decided', made.id)).toEqual([{ ...withoutUsage(granted), by: by_ada }]);
  const revoked = await send(`/v1/allowances/${made.id}/revoke`, { reason: 'Over' }, ada.key);
  await send(`/v1/allowances/${made.id}/revoke`, {}, ada.key);
  expect(await eventsOf('allowance.revoked', made.id)).toEqual([{ ...withoutUsage(revoked), by: by_ada }]);
  const denied = await post('/v1/allowances/request', { ...asked, external_id: 'two' }, own.key);
  await send(`/v1/allowances/${denied.id}/decide`, { action: 'DENY' }, ada.key);
  expect(await eventsOf('allowance.decided', denied.id)).toMatchObject([
    { status: 'DENIED', decided: { action: 'DENY' } },
  ]);
});

test('80 and 100 % are published once a period for each allowance of the chain, with the shared budget it counts in, by amount or by count', async () => {
  await post('/v1/budgets', { slug: 'team', currency: 'EUR', period: 'MONTH', limit_minor: 1_000_000 });
  const agent = await makeAgent(OPEN, { mode: 'ENFORCE' });
  const bounds = { currency: 'EUR', amount_minor: 1_000, expires_at: inDays(9) };
  const parent = await post('/v1/allowances', { ...bounds, agent, budget: 'team' });
  const child = await post('/v1/allowances', { parent: parent.id, amount_minor: 500 });
  const percents = async (id: string) =>
    (await eventsOf('allowance.threshold.reached', id)).map(({ percent }) => percent);
  await pay(agent, 399, child.id);
  expect(await percents(child.id)).toEqual([]);
  const at_80 = await pay(agent, 1, child.id);
  expect(await percents(child.id)).toEqual([80]);
  const at_100 = await pay(agent, 100, child.id);
  const [first, last] = await eventsOf('allowance.threshold.reached', child.id);
  expect(first).toMatchObject({
    decision_id: at_80.decision_id,
    standing: { used_minor: 400, limit_minor: 500 },
    allowance: { status: 'OPEN', agent: { slug: agent } },
  });
  expect(last).toMatchObject({
    percent: 100,
    decision_id: at_100.decision_id,
    allowance: { status: 'EXHAUSTED' },
  });
  expect(await pay(agent, 100, child.id)).toMatchObject({ decision: 'DENY' });
  // What comes back and is spent again reaches nothing for the second time.
  await post(`/v1/decisions/${at_100.decision_id}/outcomes`, { type: 'SPEND_FAILED' });
  await pay(agent, 100, child.id);
  expect(await percents(child.id)).toEqual([80, 100]);
  // One spend reaches both in the parent, which has a budget.
  await pay(agent, 500, parent.id);
  expect(await eventsOf('allowance.threshold.reached', parent.id)).toMatchObject([
    { percent: 80, allowance: { budget: { slug: 'team' } } },
    { percent: 100 },
  ]);
  const counted = await post('/v1/allowances', { ...bounds, agent, max_count: 1 });
  await pay(agent, 1, counted.id);
  expect(await percents(counted.id)).toEqual([80, 100]);
  await send(`/v1/allowances/${parent.id}/revoke`, {});
  expect(await eventsOf('allowance.revoked', parent.id)).toMatchObject([{ budget: { slug: 'team' } }]);
  expect((await get('/v1/audit?action=allowance.threshold.reached')).data[0]).toMatchObject({
    actor: { type: 'system' },
    target: { id: counted.id },
    changes: { percent: { to: 100 } },
  });
  expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
});

test('a standing approval that answers a review alerts, and answers on with what is left', async () => {
  const agent = await makeAgent({ ...OPEN, review_threshold_minor: 50 }, { mode: 'ENFORCE' });
  const { merchant } = spend(agent, 1).action;
  const standing = await post('/v1/allowances', {
    agent,
    currency: 'EUR',
    amount_minor: 1_000,
    period: 'MONTH',
    expires_at: inDays(9),
    merchants: [merchant],
    answers: ['REVIEW_THRESHOLD_EXCEEDED'],
    automatic: true,
  });
  expect(await pay(agent, 800)).toMatchObject({ decision: 'ALLOW', standing_approval: { id: standing.id } });
  expect(await eventsOf('allowance.threshold.reached', standing.id)).toMatchObject([{ percent: 80 }]);
  expect(await pay(agent, 200)).toMatchObject({ decision: 'ALLOW', standing_approval: { id: standing.id } });
  expect(await pay(agent, 100)).toMatchObject({ decision: 'REVIEW' });
  expect(await eventsOf('allowance.threshold.reached', standing.id)).toMatchObject([
    { percent: 80 },
    { percent: 100 },
  ]);
  expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
});
