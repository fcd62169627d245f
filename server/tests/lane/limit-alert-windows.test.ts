import { expect } from 'vitest';
import { AUTHORITY, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

const TYPE = 'limit.threshold.reached';
const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW' };
const BEGIN_MS = Date.UTC(2026, 10, 20, 10);
const HOUR_MS = 3_600_000;
const { test, s, get, post, makeAgent } = serviceTest({ plan: 'enterprise', stopped_at_ms: BEGIN_MS });

test('a velocity limit alerts by amount or count, for each merchant, once a window', async () => {
  const agent = await makeAgent({
    ...OPEN,
    alert_percents: [50],
    velocity_limits: [
      { name: 'day', window: 'DAY', limit_amount_minor: 1_000, limit_count: 100 },
      { name: 'hour', window: 'ROLLING', window_seconds: 3_600, limit_count: 4 },
      { name: 'shop', window: 'MONTH', per: 'MERCHANT', limit_amount_minor: 600 },
    ],
  });
  const ask = async (amount_minor: number, merchant: string) =>
    (await post('/v1/decisions', spend(agent, amount_minor, { action: { merchant } }))).decision_id;
  const found = async () =>
    (await get(`/v1/audit?action=${TYPE}&limit=200`)).data
      .map(({ changes }: Shown) => changes.name.to)
      .reverse();
  const first = await ask(299, 'Acme Paper');
  expect(await found()).toEqual([]);
  await ask(1, 'ACME Paper GmbH');
  expect(await found()).toEqual(['hour', 'shop']);
  await ask(300, 'Binder & Co');
  expect(await found()).toEqual(['hour', 'shop', 'day', 'shop']);
  // Money that was given back and is spent again reaches nothing again in the same window.
  await post(`/v1/decisions/${first}/outcomes`, { type: 'SPEND_FAILED' });
  await ask(298, 'Acme Paper');
  expect(await found()).toHaveLength(4);
  await s.setClock(BEGIN_MS + 2 * HOUR_MS);
  await ask(1, 'Binder & Co');
  expect(await found()).toHaveLength(4);
  await ask(1, 'Binder & Co');
  expect((await found()).slice(4)).toEqual(['hour']);
  await s.setClock(BEGIN_MS + 24 * HOUR_MS);
  await ask(500, 'Clips');
  expect((await found()).slice(5)).toEqual(['day', 'shop']);
  expect((await get('/v1/ledger/verify')).valid).toBe(true);
});
