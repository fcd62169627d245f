import { expect } from 'vitest';
import { serviceTest } from '../support/service-test.ts';

/** Where windows begin and end, at given times: nothing of this waits for a clock. */
const { test, s } = serviceTest({ plan: 'team' });

const A = (fields: object = {}) => ({
  purpose: { objective: 'Keep the office supplied' },
  currency: 'EUR',
  on_purpose_unclear: 'ALLOW',
  ...fields,
});
const daily = (time_zone: string) =>
  A({ time_zone, velocity_limits: [{ name: 'day', window: 'DAY', limit_count: 1 }] });
let amount = 0;
/** A spend of another amount than any before. */
const at = (moment: string, decision?: string, more: object = {}) => {
  amount += 1;
  return {
    at: moment,
    decide: {
      action: { type: 'purchase', merchant: 'Acme Paper', amount_minor: amount, currency: 'EUR' },
      ...more,
    },
    ...(decision === undefined ? {} : { expect: { decision } }),
  };
};
const of = (minor: number) => ({
  action: { type: 'purchase', merchant: 'Acme Paper', amount_minor: minor, currency: 'EUR' },
});

/** The decisions of a test in which every step must be as expected. */
async function passes(authority: object, steps: object[]) {
  const { status, body, text } = await s.call('POST', '/v1/authority/test', { body: { authority, steps } });
  expect(status, text).toBe(200);
  expect(body.steps.flatMap(({ mismatches }: { mismatches: object[] }) => mismatches)).toEqual([]);
  return body.steps.map(({ verdict }: { verdict: unknown }) => verdict);
}

test('a refund in the next month gives back to the month of the spend, and no pace to either', async () => {
  const authority = A({
    monthly_budget_minor: 1_000,
    velocity_limits: [{ name: 'month', window: 'MONTH', limit_amount_minor: 1_000 }],
  });
  const verdicts = await passes(authority, [
    { at: '2026-10-31T23:59:59Z', decide: of(1_000), as: 'spent' },
    { at: '2026-10-31T23:59:59Z', outcome: { of: 'spent', type: 'SPEND_EXECUTED', amount_minor: 1_000 } },
    { at: '2026-11-01T00:00:00Z', outcome: { of: 'spent', type: 'REFUNDED' } },
    { at: '2026-11-01T00:00:01Z', decide: of(999) },
  ]);
  expect(verdicts[3].reservation).toMatchObject({
    budget: { held_minor: 999, committed_minor: 0 },
    limits: [{ used_minor: 999, used_count: 1 }],
  });
});

test('a month ends with the clocks of its zone, the monthly budget with those of UTC', async () => {
  const authority = A({
    time_zone: 'Europe/Berlin',
    monthly_budget_minor: 10_000,
    velocity_limits: [{ name: 'month', window: 'MONTH', limit_amount_minor: 10_000 }],
  });
  const [october, november] = await passes(authority, [
    { at: '2026-10-31T22:59:59.999Z', decide: of(100) },
    { at: '2026-10-31T23:00:00.000Z', decide: of(200) },
  ]);
  expect(october.reservation.limits[0].window).toEqual({
    type: 'MONTH',
    starts_at: '2026-09-30T22:00:00.000Z',
    ends_at: '2026-10-31T23:00:00.000Z',
  });
  expect(november.reservation).toMatchObject({
    period: '2026-10',
    budget: { held_minor: 300 },
    limits: [{ used_minor: 200, used_count: 1 }],
  });
});

test('a day has 23 or 25 hours where clocks are changed', async () => {
  await passes(daily('Europe/Berlin'), [
    at('2026-03-28T23:30:00Z', 'ALLOW'),
    at('2026-03-29T21:59:00Z', 'DENY'),
    at('2026-03-29T22:00:00Z', 'ALLOW'),
    at('2026-10-24T22:00:00Z', 'ALLOW'),
    at('2026-10-25T22:59:00Z', 'DENY'),
    at('2026-10-25T23:00:00Z', 'ALLOW'),
  ]);
});

test('a day begins with its date, where midnight is skipped and where it comes twice', async () => {
  await passes(daily('Africa/Cairo'), [
    at('2026-04-23T21:59:59Z', 'ALLOW'),
    at('2026-04-23T22:00:00Z', 'ALLOW'),
    at('2026-04-23T22:00:01Z', 'DENY'),
  ]);
  await passes(daily('America/Havana'), [
    at('2026-11-01T03:59:59Z', 'ALLOW'),
    at('2026-11-01T04:00:00Z', 'ALLOW'),
    at('2026-11-01T05:00:00Z', 'DENY'),
    at('2026-11-02T05:00:00Z', 'ALLOW'),
  ]);
});

test('a rolling window never doubles, and has room again at the moment that is told', async () => {
  const authority = A({
    velocity_limits: [{ name: 'hour', window: 'ROLLING', window_seconds: 3_600, limit_count: 5 }],
  });
  const begin = Array.from({ length: 5 }, () => at('2026-11-22T09:59:00Z', 'ALLOW'));
  const verdicts = await passes(authority, [...begin, at('2026-11-22T10:58:59Z', 'DENY')]);
  expect(verdicts[5].explanation).toBe(
    'This would be payment 6 within 1 hour. The limit "hour" allows 5. It has room again at 2026-11-22 11:00 UTC.',
  );
  expect(verdicts[5].remedies).toMatchObject([
    { type: 'RETRY_AT', at: '2026-11-22T11:00:00.000Z', then: 'ALLOW' },
  ]);
  await passes(authority, [
    ...begin,
    at('2026-11-22T10:59:59.999Z', 'DENY'),
    at('2026-11-22T11:00:00.000Z', 'ALLOW'),
  ]);
});

test('duplicates are those within the window', async () => {
  const authority = A({ duplicate_window_seconds: 1_800 });
  const verdicts = await passes(authority, [
    { at: '2026-11-22T10:00:00Z', decide: of(500), expect: { decision: 'ALLOW' } },
    {
      at: '2026-11-22T10:03:00Z',
      decide: of(500),
      expect: { decision: 'REVIEW', reason_code: 'DUPLICATE_SPEND' },
    },
    { at: '2026-11-22T11:00:00Z', decide: of(500), expect: { decision: 'ALLOW' } },
  ]);
  expect(verdicts[1].explanation).toBe(
    `The agent already requested EUR 5.00 to "Acme Paper" 3 minutes ago (${verdicts[0].decision_id}). Check that this isn't the same purchase.`,
  );
});

const limit = (fields: object) => ({ name: 'one', window: 'DAY', limit_count: 1, ...fields });
test.each([
  ['velocity_limits[0].window_seconds', { velocity_limits: [limit({ window: 'ROLLING' })] }],
  ['velocity_limits[0].window_seconds', { velocity_limits: [limit({ window_seconds: 60 })] }],
  [
    'velocity_limits[0].window_seconds',
    { velocity_limits: [limit({ window: 'ROLLING', window_seconds: 59 })] },
  ],
  ['velocity_limits[0].limit_amount_minor', { velocity_limits: [{ name: 'one', window: 'DAY' }] }],
  ['velocity_limits[0].limit_count', { velocity_limits: [limit({ limit_count: 0 })] }],
  ['velocity_limits[0].name', { velocity_limits: [limit({ name: 'One' })] }],
  ['velocity_limits[0].merchants', { velocity_limits: [limit({ merchants: [] })] }],
  ['velocity_limits[1].name', { velocity_limits: [limit({}), limit({ window: 'WEEK' })] }],
  [
    'velocity_limits[1]',
    { velocity_limits: [limit({}), limit({ name: 'two', per: 'AGENT', on_exceeded: 'REVIEW' })] },
  ],
  [
    'velocity_limits[1]',
    {
      velocity_limits: [
        limit({ merchants: ['Acme', 'Paper'] }),
        limit({ name: 'two', merchants: ['Paper', 'ACME', 'Paper'] }),
      ],
    },
  ],
  ['velocity_limits', { velocity_limits: Array.from({ length: 11 }, (_, i) => limit({ name: `n${i}` })) }],
  ['duplicate_window_seconds', { duplicate_window_seconds: 59 }],
  ['on_duplicate', { on_duplicate: 'DENY' }],
])('an authority is refused that says of %s what cannot be', async (field, fields) => {
  const reply = await s.call('POST', '/v1/agents', { body: { slug: 'refused', authority: A(fields) } });
  expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid_request']);
  expect(reply.body.error.message.startsWith(`authority.${field}: `), reply.body.error.message).toBe(true);
});
