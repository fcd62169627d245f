import { DELIVERED_EVENT_TYPES } from '@purser/contract/values/webhooks';
import { WEBHOOK_EVENTS } from '@purser/contract/webhook-events';
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import { AUTHORITY, CAPABILITY_TOKEN, freshKey, makeKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(5);

const { test, s } = serviceTest({ env: { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' } });

test('every type of event is delivered, and listed, in the form that the OpenAPI document shows', async () => {
  const endpoint = await s.call('POST', '/v1/webhooks', { body: { url: 'http://127.0.0.1:9/' } });
  const told = {
    url: 'http://127.0.0.1:9/budgets',
    events: [
      'budget.threshold.reached',
      'limit.threshold.reached',
      'spend.unmatched',
      'allowance.requested',
      'allowance.decided',
      'allowance.revoked',
      'allowance.threshold.reached',
    ],
  };
  await s.call('POST', '/v1/webhooks', { body: told });
  const budget = { slug: 'team', currency: 'EUR', period: 'MONTH', limit_minor: 6_000 };
  await s.call('POST', '/v1/budgets', { body: budget });
  const authority = {
    ...AUTHORITY,
    review_threshold_minor: 1_000,
    budgets: ['team'],
    monthly_budget_minor: 10_000,
    alert_percents: [50],
  };
  await s.call('POST', '/v1/agents', { body: { slug: 'buyer', mode: 'ENFORCE', authority } });
  const reviewer = await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' });
  const asked = { agent: 'buyer', currency: 'EUR', amount_minor: 6_000, purpose: 'The load test' };
  const requested = await s.call('POST', '/v1/allowances/request', { body: asked });
  const allowance = `/v1/allowances/${requested.body.id}`;
  const admin = await makeKey(s, { scopes: ['admin', 'review', 'read'], principal_id: 'user:bob' });
  await s.call('POST', `${allowance}/decide`, { body: { action: 'ALLOW' }, key: admin.key });
  const made = await s.call('POST', '/v1/decisions', {
    body: { ...spend('buyer', 5_000), allowance: requested.body.id },
    idempotency_key: freshKey(),
  });
  const path = `/v1/decisions/${made.body.decision_id}`;
  const review = { action: 'ALLOW', reason_code: 'VENDOR_CONFIRMED' };
  await s.call('POST', `${path}/reviews`, { body: review, key: reviewer.key });
  await s.call('POST', `${path}/labels`, { body: { label: 'PURPOSE_ALIGNED' } });
  await s.call('POST', `${path}/outcomes`, { body: { type: 'SPEND_EXECUTED', amount_minor: 5_000 } });
  await s.call('POST', `${allowance}/revoke`, { body: {} });
  await s.call('POST', `/v1/webhooks/${endpoint.body.id}/test`);

  await s.call('PATCH', '/v1/workspace', { body: { coverage: { grace_seconds: 0 } } });
  const imported = await s.call('POST', '/v1/imports', {
    body: { file_name: 'lines', source: 'lines', agent: 'buyer' },
  });
  const line = {
    merchant: 'Casino',
    amount_minor: 700,
    currency: 'EUR',
    occurred_at: new Date().toISOString(),
  };
  await s.call('PUT', `/v1/imports/${imported.body.id}/content`, {
    raw: JSON.stringify(line),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  await until(
    async () => (await s.sql("select from webhook_events where type = 'spend.unmatched'")).rowCount === 1,
  );

  const { rows } = await s.sql('select type, payload from webhook_events order by event_id');
  expect(rows.map((row) => row.type).sort()).toEqual([...DELIVERED_EVENT_TYPES].sort());
  const listed = await s.call('GET', '/v1/events');
  const payloads = rows
    .filter(({ type }) => type !== 'webhook.test')
    .map(({ payload }) => JSON.parse(payload));
  expect(listed.body).toEqual({ data: payloads, next_cursor: null });
  const [first, second, ...rest] = payloads;
  const after = await s.call('GET', `/v1/events?after=${first.id}&limit=1`);
  expect(after.body.data).toEqual([second]);
  const on = await s.call('GET', `/v1/events?after=${first.id}&cursor=${after.body.next_cursor}`);
  expect(on.body).toEqual({ data: rest, next_cursor: null });
  for (const { type, payload } of rows as { type: keyof typeof WEBHOOK_EVENTS; payload: string }[]) {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const isDocumented = ajv.compile(WEBHOOK_EVENTS[type].body);
    isDocumented(JSON.parse(payload));
    expect(isDocumented.errors, type).toBeNull();
  }

  // With this capability and the one of the review above, every type that could contain a token was published.
  const allowed = await s.call('POST', '/v1/decisions', {
    body: spend('buyer', 10),
    idempotency_key: freshKey(),
  });
  expect(allowed.body.capability.token).toMatch(CAPABILITY_TOKEN);
  const { rows: all } = await s.sql('select type, payload from webhook_events');
  expect(all.length).toBeGreaterThan(rows.length);
  for (const { type, payload } of all) expect(payload, type).not.toMatch(CAPABILITY_TOKEN);
});
