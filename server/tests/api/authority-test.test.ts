import { describe, expect } from 'vitest';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest({ plan: 'team' });

const A = (fields: object = {}) => ({
  purpose: { objective: 'Keep the office supplied' },
  currency: 'EUR',
  on_purpose_unclear: 'ALLOW',
  ...fields,
});
const spendOf = (amount_minor: number, action: object = {}) => ({
  action: { type: 'purchase', merchant: 'Acme Paper', amount_minor, currency: 'EUR', ...action },
});
/** A spend at a moment, and what must come of it: ALLOW, or another decision with its first reason. */
const at = (moment: string, amount: number, must: string, more: object = {}) => {
  const [decision, reason_code] = must.split(' ');
  const expect = { decision, ...(reason_code === undefined ? {} : { reason_code }) };
  return { at: moment, decide: spendOf(amount), expect, ...more };
};
const ask = (body: unknown) => s.call('POST', '/v1/authority/test', { body });

/** The answer of a test in which every step must be as expected. */
async function passes(authority: object, steps: object[], more: object = {}) {
  const { status, body, text } = await ask({ authority, steps, ...more });
  expect(status, text).toBe(200);
  const wrong = body.steps.flatMap(({ mismatches }: { mismatches: object[] }, step: number) =>
    mismatches.map((each) => ({ step, ...each })),
  );
  expect(wrong).toEqual([]);
  expect(body.passed).toBe(true);
  return body.steps;
}

describe('a test of an authority', () => {
  test('decides as the service does, and tells the whole decision', async () => {
    const authority = A({ per_transaction_limit_minor: 20_000, review_threshold_minor: 8_000 });
    const [allowed, review, denied, capped] = await passes(authority, [
      at('2026-11-21T08:30:00Z', 8_000, 'ALLOW WITHIN_AUTHORITY'),
      at('2026-11-21T08:30:00Z', 8_001, 'REVIEW REVIEW_THRESHOLD_EXCEEDED'),
      at('2026-11-21T09:30:00+01:00', 20_001, 'DENY PER_TRANSACTION_LIMIT_EXCEEDED'),
      {
        at: '2026-11-21T08:31:00Z',
        decide: { ...spendOf(30_000), limitable: true },
        expect: {
          reason_codes: ['REVIEW_THRESHOLD_EXCEEDED', 'AMOUNT_LIMITED'],
          authorized_amount_minor: 0,
        },
      },
    ]);
    expect(allowed.verdict).toMatchObject({
      decision: 'ALLOW',
      effective_decision: 'ALLOW',
      mode: 'ENFORCE',
      created_at: '2026-11-21T08:30:00.000Z',
      reservation: { status: 'HELD', amount_minor: 8_000, budget: { held_minor: 8_000 } },
      capability: { status: 'ISSUED', expires_at: expect.stringMatching(/^2026-11-21T/) },
    });
    expect(allowed.verdict.policy_trace.map((each: { stage: string }) => each.stage)).toHaveLength(8);
    expect(denied.verdict.explanation).toContain('over the per-transaction limit of EUR 200.00');
    expect([review.verdict.review_state, capped.verdict.reservation.amount_minor]).toEqual([
      'PENDING',
      20_000,
    ]);
    const ids = new Set([allowed, review, denied, capped].map(({ verdict }) => verdict.decision_id));
    expect(ids.size).toBe(4);
  });

  test('says what is not as expected, and of a follow-up that would be refused', async () => {
    const { body } = await ask({
      authority: A(),
      steps: [
        { ...at('2026-11-21T08:30:00Z', 100, 'DENY MERCHANT_BLOCKED'), as: 'one' },
        { at: '2026-11-21T08:30:01Z', review: { of: 'one', action: 'ALLOW' } },
        { at: '2026-11-21T08:30:02Z', outcome: { of: 'one', type: 'SPEND_EXECUTED', amount_minor: 100 } },
        { at: '2026-11-21T08:30:03Z', outcome: { of: 'one', type: 'SPEND_FAILED' } },
      ],
    });
    expect(body.passed).toBe(false);
    expect(body.steps.map((each: { mismatches: object }) => each.mismatches)).toEqual([
      [
        { field: 'decision', expected: 'DENY', actual: 'ALLOW' },
        { field: 'reason_code', expected: 'MERCHANT_BLOCKED', actual: 'WITHIN_AUTHORITY' },
      ],
      [{ field: 'review', expected: 'recorded', actual: expect.stringMatching(/^not_reviewable: /) }],
      [],
      [{ field: 'outcome', expected: 'recorded', actual: expect.stringMatching(/^outcome_conflict: /) }],
    ]);
    expect(body.steps[1].verdict).toBeNull();
  });

  test('takes the purpose as given, else as the rules assess it', async () => {
    const authority = A({ on_purpose_unclear: 'REVIEW', allowed_merchants: ['Acme Paper'] });
    const moment = '2026-11-21T08:30:00Z';
    const [given] = await passes(authority, [
      at(moment, 101, 'REVIEW PURPOSE_MISALIGNED', { purpose: 'PURPOSE_MISALIGNED' }),
      at(moment, 102, 'ALLOW', { purpose: 'PURPOSE_ALIGNED' }),
      at(moment, 103, 'REVIEW PURPOSE_UNCLEAR', { decide: spendOf(103, { merchant: 'Unheard Of' }) }),
      at(moment, 104, 'ALLOW'),
    ]);
    expect(given.verdict.purpose).toMatchObject({ method: 'given', confidence: 1 });
  });

  test('saves nothing, and the same test gives the same answer', async () => {
    const count = async () =>
      (await s.sql('select (select count(*) from ledger_events), (select count(*) from decisions)')).rows;
    const before = await count();
    const body = { authority: A(), steps: [at('2026-11-21T08:30:00Z', 100, 'ALLOW')] };
    expect((await ask(body)).text).toBe((await ask(body)).text);
    expect(await count()).toEqual(before);
  });

  const step = at('2026-11-21T08:30:00Z', 100, 'ALLOW');
  test.for<[string, object]>([
    ['steps', { steps: [] }],
    ['steps', { steps: Array(201).fill(step) }],
    ['steps[1].at', { steps: [step, { ...step, at: '2026-11-21T08:29:59.999Z' }] }],
    ['steps[0].at', { steps: [{ ...step, at: '1969-12-31T23:59:59Z' }] }],
    ['steps[0].decide', { steps: [{ at: step.at }] }],
    ['steps[0].review', { steps: [{ ...step, review: { of: 'x', action: 'ALLOW' } }] }],
    ['steps[0].review.of', { steps: [{ at: step.at, review: { of: 'x', action: 'ALLOW' } }] }],
    [
      'steps[1].as',
      {
        steps: [
          { ...step, as: 'a' },
          { ...step, as: 'a' },
        ],
      },
    ],
    [
      'steps[1].expect',
      {
        steps: [
          { ...step, as: 'a' },
          { at: step.at, review: { of: 'a', action: 'DENY' }, expect: { decision: 'DENY' } },
        ],
      },
    ],
    [
      'steps[1].outcome.amount_minor',
      {
        steps: [
          { ...step, as: 'a' },
          { at: step.at, outcome: { of: 'a', type: 'SPEND_EXECUTED' } },
        ],
      },
    ],
    ['steps[0].purpose', { steps: [{ ...step, purpose: 'FINE' }] }],
    ['steps[0].decide.action.amount_minor', { steps: [{ ...step, decide: spendOf(0) }] }],
    ['steps[0].expect', { steps: [{ ...step, expect: {} }] }],
    [
      'authority.valid_until',
      { authority: A({ valid_from: '2026-12-01T00:00:00Z', valid_until: '2026-11-01T00:00:00Z' }) },
    ],
    ['mode', { mode: 'OBSERVE' }],
  ])('is refused naming %s', async ([field, given]) => {
    const { status, body } = await ask({ authority: A(), steps: [step], ...given });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message.split(': ')[0]).toBe(field);
  });
});

/** The moment from which a step's spend is told to pass. */
const retryAt = (step: { verdict: { remedies: { type: string; at?: string }[] } }) =>
  step.verdict.remedies.find(({ type }) => type === 'RETRY_AT')?.at;
const limit = (window: string, more: object) => ({ velocity_limits: [{ name: 'one', window, ...more }] });

describe('limits over time', () => {
  test('a refund gives back to the month’s budget and not to a limit over time, nor to a later window', async () => {
    const authority = A({ monthly_budget_minor: 1_000, ...limit('MONTH', { limit_amount_minor: 1_000 }) });
    const moment = '2026-10-31T23:59:59Z';
    const steps = await passes(authority, [
      at(moment, 1_000, 'ALLOW', { as: 'bought' }),
      { at: moment, outcome: { of: 'bought', type: 'SPEND_EXECUTED', amount_minor: 1_000 } },
      { at: moment, outcome: { of: 'bought', type: 'PARTIALLY_REFUNDED', amount_minor: 900 } },
      at(moment, 900, 'DENY VELOCITY_LIMIT_EXCEEDED'),
      { at: '2026-11-01T00:00:00Z', outcome: { of: 'bought', type: 'REFUNDED' } },
      at('2026-11-01T00:00:01Z', 400, 'ALLOW'),
    ]);
    const traced = (step: number, stage: string) =>
      steps[step].verdict.policy_trace.find((each: { stage: string }) => each.stage === stage);
    expect(traced(3, 'monthly_budget')).toMatchObject({ outcome: 'PASS', observed: 1_000 });
    expect(traced(5, 'velocity')).toMatchObject({ observed: 400, limit: 1_000 });
    expect(traced(5, 'monthly_budget')).toMatchObject({ observed: 400 });
  });

  test('a month ends with the zone’s, the budget’s with UTC’s', async () => {
    const zone = { time_zone: 'Europe/Berlin', monthly_budget_minor: 1_000 };
    const steps = await passes(A({ ...zone, ...limit('MONTH', { limit_count: 1 }) }), [
      at('2026-10-31T22:59:59.999Z', 101, 'ALLOW'),
      at('2026-10-31T23:00:00.000Z', 102, 'ALLOW'),
      at('2026-10-31T23:00:00.001Z', 103, 'DENY VELOCITY_LIMIT_EXCEEDED'),
    ]);
    expect(steps[1].verdict.reservation).toMatchObject({ period: '2026-10', budget: { held_minor: 203 } });
  });

  test.for<[string, string, [string, string][]]>([
    [
      'has 23 hours where the clocks go forward',
      'Europe/Berlin',
      [
        ['2026-03-28T23:30:00Z', 'ALLOW'],
        ['2026-03-29T21:59:00Z', 'DENY'],
        ['2026-03-29T22:00:00Z', 'ALLOW'],
      ],
    ],
    [
      'has 25 hours where they go back',
      'Europe/Berlin',
      [
        ['2026-10-24T22:00:00Z', 'ALLOW'],
        ['2026-10-25T22:59:00Z', 'DENY'],
        ['2026-10-25T23:00:00Z', 'ALLOW'],
      ],
    ],
    [
      'begins at one where midnight is skipped',
      'Africa/Cairo',
      [
        ['2026-04-23T21:59:59Z', 'ALLOW'],
        ['2026-04-23T22:00:00Z', 'ALLOW'],
        ['2026-04-23T22:00:01Z', 'DENY'],
      ],
    ],
    [
      'begins at the first of two midnights',
      'America/Havana',
      [
        ['2026-11-01T03:59:59Z', 'ALLOW'],
        ['2026-11-01T04:00:00Z', 'ALLOW'],
        ['2026-11-01T05:00:00Z', 'DENY'],
        ['2026-11-02T05:00:00Z', 'ALLOW'],
      ],
    ],
  ])('a day %s', async ([, time_zone, spends]) => {
    const steps = spends.map(([moment, must], i) => at(moment, 101 + i, must));
    await passes(A({ time_zone, ...limit('DAY', { limit_count: 1 }) }), steps);
  });

  test('a rolling window never doubles at its edge, and tells to the millisecond when there is room again', async () => {
    const authority = A(limit('ROLLING', { window_seconds: 3_600, limit_count: 5 }));
    const full = [1, 2, 3, 4, 5].map((amount) => at('2026-11-21T09:59:00Z', amount, 'ALLOW'));
    const denied = at('2026-11-21T10:58:59Z', 6, 'DENY VELOCITY_LIMIT_EXCEEDED');
    const told = retryAt((await passes(authority, [...full, denied])).at(-1)) as string;
    expect(Date.parse(told)).toBeGreaterThan(Date.parse('2026-11-21T10:58:59Z'));
    expect(Date.parse(told)).toBeLessThanOrEqual(Date.parse('2026-11-21T11:00:00Z'));
    const just_before = new Date(Date.parse(told) - 1).toISOString();
    await passes(authority, [
      ...full,
      at(just_before, 7, 'DENY VELOCITY_LIMIT_EXCEEDED'),
      at(told, 8, 'ALLOW'),
    ]);
  });

  test('a duplicate is told of while the earlier spend counts, and no longer', async () => {
    await passes(A({ duplicate_window_seconds: 600 }), [
      at('2026-11-21T09:00:00Z', 500, 'ALLOW', { as: 'first' }),
      at('2026-11-21T09:05:00Z', 500, 'REVIEW DUPLICATE_SPEND', { as: 'again' }),
      at('2026-11-21T09:05:01Z', 501, 'ALLOW'),
      { at: '2026-11-21T09:05:02Z', review: { of: 'again', action: 'DENY' } },
      { at: '2026-11-21T09:05:03Z', outcome: { of: 'first', type: 'SPEND_CANCELLED' } },
      at('2026-11-21T09:06:00Z', 500, 'ALLOW'),
      at('2026-11-21T10:00:00Z', 500, 'ALLOW'),
    ]);
  });
});

describe('over time', () => {
  test('a month’s budget fills, comes back on evidence and with the next month, and a refund goes to its own', async () => {
    const executed = (of: string, amount_minor: number) => ({ of, type: 'SPEND_EXECUTED', amount_minor });
    const steps = await passes(A({ monthly_budget_minor: 1_000, review_threshold_minor: 900 }), [
      at('2026-10-31T23:59:59.998Z', 600, 'ALLOW', { as: 'kept' }),
      at('2026-10-31T23:59:59.998Z', 400, 'ALLOW', { as: 'failed' }),
      at('2026-10-31T23:59:59.999Z', 1, 'DENY MONTHLY_BUDGET_EXCEEDED'),
      { at: '2026-10-31T23:59:59.999Z', outcome: { of: 'failed', type: 'SPEND_FAILED' } },
      at('2026-10-31T23:59:59.999Z', 400, 'ALLOW', { as: 'again' }),
      { at: '2026-11-01T00:00:00Z', outcome: executed('kept', 600) },
      at('2026-11-01T00:00:00Z', 950, 'REVIEW', { as: 'asked' }),
      at('2026-11-01T00:00:01Z', 51, 'DENY MONTHLY_BUDGET_EXCEEDED'),
      { at: '2026-11-01T00:00:02Z', outcome: { of: 'kept', type: 'REFUNDED' } },
      at('2026-11-01T00:00:03Z', 52, 'DENY MONTHLY_BUDGET_EXCEEDED'),
      { at: '2026-11-01T00:00:04Z', review: { of: 'asked', action: 'DENY' } },
      at('2026-11-01T00:00:05Z', 53, 'ALLOW'),
    ]);
    expect(steps[4].verdict.reservation).toMatchObject({ period: '2026-10', budget: { held_minor: 1_000 } });
    expect(steps[11].verdict.reservation).toMatchObject({ period: '2026-11', budget: { held_minor: 53 } });
  });

  test('a review that nobody gives runs out, and a hold with it', async () => {
    await passes(A({ monthly_budget_minor: 1_000, review_threshold_minor: 500 }), [
      at('2026-11-02T08:00:00Z', 900, 'REVIEW'),
      at('2026-11-02T08:00:01Z', 200, 'DENY MONTHLY_BUDGET_EXCEEDED'),
      at('2026-11-20T08:00:00Z', 201, 'ALLOW'),
    ]);
  });

  test('validity begins and ends to the millisecond', async () => {
    await passes(A({ valid_from: '2026-12-01T00:00:00Z', valid_until: '2027-03-01T00:00:00Z' }), [
      at('2026-11-30T23:59:59.999Z', 101, 'DENY AUTHORITY_NOT_YET_VALID'),
      at('2026-12-01T00:00:00Z', 102, 'ALLOW'),
      at('2027-02-28T23:59:59.999Z', 103, 'ALLOW', { as: 'last' }),
      at('2027-03-01T00:00:00Z', 104, 'DENY AUTHORITY_EXPIRED'),
    ]);
  });

  test('hours are those of the clocks on the wall', async () => {
    const office = [{ days: ['MON', 'TUE', 'WED', 'THU', 'FRI'], from: '08:00', to: '18:00' }];
    const hours = { time_zone: 'Europe/Berlin', active_hours: office };
    // On the Sunday between, the clocks go back by an hour.
    const steps = [
      at('2026-10-23T15:59:59.999Z', 101, 'ALLOW'),
      at('2026-10-23T16:00:00Z', 102, 'DENY OUTSIDE_ACTIVE_HOURS'),
      at('2026-10-26T06:59:59Z', 103, 'DENY OUTSIDE_ACTIVE_HOURS'),
      at('2026-10-26T07:00:00Z', 104, 'ALLOW'),
    ];
    const [, denied] = await passes(A(hours), steps);
    expect(retryAt(denied)).toBe('2026-10-26T07:00:00.000Z');
    await passes(A({ ...hours, on_outside_hours: 'REVIEW' }), [
      at('2026-10-23T16:00:00Z', 105, 'REVIEW OUTSIDE_ACTIVE_HOURS'),
    ]);
    const night = [{ days: ['FRI'], from: '22:00', to: '06:00' }];
    await passes(A({ ...hours, active_hours: night }), [
      at('2026-11-20T20:59:59Z', 106, 'DENY OUTSIDE_ACTIVE_HOURS'),
      at('2026-11-21T04:59:59Z', 107, 'ALLOW'),
      at('2026-11-21T05:00:00Z', 108, 'DENY OUTSIDE_ACTIVE_HOURS'),
    ]);
  });

  test('merchants become known, by a person and by what was executed in force', async () => {
    const at_tape = { decide: spendOf(1_000, { merchant: 'Acme Tape' }) };
    const authority = A({ on_new_merchant: 'REVIEW', new_merchant_threshold_minor: 200 });
    const moment = '2026-11-21T08:30:00Z';
    const steps = [
      at(moment, 300, 'REVIEW NEW_MERCHANT', { as: 'first' }),
      { at: moment, review: { of: 'first', action: 'ALLOW' } },
      at(moment, 301, 'ALLOW'),
      at(moment, 302, 'REVIEW NEW_MERCHANT', { decide: spendOf(302, { payee_id: 'iban:DE1' }) }),
      at(moment, 1_000, 'REVIEW NEW_MERCHANT', { ...at_tape, as: 'rogue' }),
      { at: moment, outcome: { of: 'rogue', type: 'SPEND_EXECUTED', amount_minor: 1_000 } },
      at(moment, 1_000, 'REVIEW NEW_MERCHANT', at_tape),
    ];
    await passes(authority, steps);
    await passes(authority, steps, { mode: 'SHADOW' });
  });
});
