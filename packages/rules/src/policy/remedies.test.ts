import type { Authority } from '@purser/contract/authority';
import { WEEKDAYS } from '@purser/contract/calendar';
import type { Assessment, Remedy } from '@purser/contract/decisions';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CountedSlot } from '../counters/counters.ts';
import type { PurposeAssessment } from '../domain/assessment.ts';
import type { DecisionKind } from '../domain/decisions.ts';
import { EMPTY_DIRECTORY } from '../merchants/directory.ts';
import { countersOf, withSlots } from './counters.ts';
import { decide } from './decide.ts';
import { deniedUntilMs, remediesOf, smallerAmountOf } from './remedies.ts';
import type { DecideFacts } from './stage.ts';

const assessed = (assessment: PurposeAssessment): Assessment => ({
  assessment,
  confidence: 1,
  method: 'test',
  rationale: `It is ${assessment}.`,
  evidence: [],
});

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');
const EXPIRES_AT = '2026-11-21T12:00:00.000Z';

/** Where a spend repeats the same in whatever amount it is asked for. */
const inEveryAmount = (counters: DecideFacts['counters'] = new Map()) =>
  ({
    get: () => new Map([...counters].filter(([, { counter_id }]) => counter_id.startsWith('dup_'))),
  }) as unknown as NonNullable<DecideFacts['duplicates_of']>;

interface Given {
  terms?: Partial<Authority>;
  action?: Partial<DecideFacts['request']['action']>;
  request?: Partial<DecideFacts['request']>;
  facts?: Partial<DecideFacts>;
  /** The contents of every counter. */
  slots?: readonly CountedSlot[];
}

function factsOf({ terms = {}, action = {}, request = {}, facts = {}, slots = [] }: Given): DecideFacts {
  const authority: Authority = { purpose: { objective: 'Anything' }, currency: 'EUR', ...terms };
  const asked = { type: 'purchase', merchant: 'Acme Paper', amount_minor: 100, currency: 'EUR', ...action };
  const counters = withSlots(
    countersOf(authority, 'agt_1', { ...asked, currency: authority.currency }),
    () => slots,
  );
  return {
    authority,
    request: { action: asked, ...request },
    directory: EMPTY_DIRECTORY,
    budget: { held_minor: 0, committed_minor: 0 },
    counters,
    duplicates_of: inEveryAmount(counters),
    assessment: assessed('PURPOSE_ALIGNED'),
    is_known_merchant: true,
    now_ms: NOW_MS,
    ...facts,
  };
}
const remediesFor = (facts: DecideFacts) => remediesOf(facts, decide(facts), EXPIRES_AT);

const office = [
  { days: ['MON', 'TUE', 'WED', 'THU', 'FRI'] as (typeof WEEKDAYS)[number][], from: '08:00', to: '18:00' },
];
const CASES: [string, Given, Partial<Remedy>[]][] = [
  ['nothing is offered where it is allowed', {}, []],
  [
    'the least room of all limits is the amount to reduce to',
    {
      terms: { per_transaction_limit_minor: 80, monthly_budget_minor: 100 },
      facts: { budget: { held_minor: 30, committed_minor: 20 } },
    },
    [
      {
        type: 'REDUCE_AMOUNT',
        max_amount_minor: 50,
        clears: ['PER_TRANSACTION_LIMIT_EXCEEDED', 'MONTHLY_BUDGET_EXCEEDED'],
        then: 'ALLOW',
      },
    ],
  ],
  [
    'the month that is spent begins anew, and what is left of it may be spent now',
    { terms: { monthly_budget_minor: 100 }, facts: { budget: { held_minor: 0, committed_minor: 90 } } },
    [
      { type: 'REDUCE_AMOUNT', max_amount_minor: 10, clears: ['MONTHLY_BUDGET_EXCEEDED'], then: 'ALLOW' },
      {
        type: 'RETRY_AT',
        at: '2026-12-01T00:00:00.000Z',
        clears: ['MONTHLY_BUDGET_EXCEEDED'],
        then: 'ALLOW',
      },
    ],
  ],
  [
    'less than the least acceptable amount is not offered, but the moment at which that much is left',
    {
      terms: { monthly_budget_minor: 100 },
      request: { limitable: true, min_amount_minor: 60 },
      facts: { budget: { held_minor: 0, committed_minor: 50 } },
    },
    [
      {
        type: 'RETRY_AT',
        at: '2026-12-01T00:00:00.000Z',
        clears: ['MIN_AMOUNT_UNREACHABLE', 'AMOUNT_LIMITED'],
        then: 'ALLOW',
      },
    ],
  ],
  [
    'an amount over the whole month has no moment',
    { terms: { monthly_budget_minor: 60 } },
    [{ type: 'REDUCE_AMOUNT', max_amount_minor: 60, then: 'ALLOW' }],
  ],
  [
    'the end of hours is the begin of the next, in UTC, over a change of clocks',
    {
      terms: { active_hours: office, time_zone: 'Europe/Berlin' },
      facts: { now_ms: Date.parse('2026-03-27T17:00:00Z') },
    },
    [{ type: 'RETRY_AT', at: '2026-03-30T06:00:00.000Z', clears: ['OUTSIDE_ACTIVE_HOURS'], then: 'ALLOW' }],
  ],
  [
    'of two that end the later one counts, and what is found there goes on being waited for',
    {
      terms: { active_hours: office, monthly_budget_minor: 100, valid_from: '2026-11-28T00:00:00.000Z' },
      facts: { budget: { held_minor: 1, committed_minor: 0 } },
    },
    [{ type: 'RETRY_AT', at: '2026-12-01T08:00:00.000Z', then: 'ALLOW' }],
  ],
  [
    'a moment may lead to a review, if it leads out of the denial',
    {
      terms: { valid_from: '2026-11-28T00:00:00.000Z', review_threshold_minor: 50 },
    },
    [
      {
        type: 'RETRY_AT',
        at: '2026-11-28T00:00:00.000Z',
        clears: ['AUTHORITY_NOT_YET_VALID'],
        then: 'REVIEW',
      },
    ],
  ],
  [
    'nothing is waited for at which the authority has ended',
    {
      terms: { monthly_budget_minor: 100, valid_until: '2026-12-01T00:00:00.000Z' },
      facts: { budget: { held_minor: 100, committed_minor: 0 } },
    },
    [{ type: 'ASK_OPERATOR', clears: ['MONTHLY_BUDGET_EXCEEDED'], then: 'ALLOW' }],
  ],
  [
    "the authority's currency, where the same number passes in it",
    { action: { currency: 'USD' } },
    [{ type: 'USE_CURRENCY', currency: 'EUR', clears: ['CURRENCY_NOT_AUTHORIZED'], then: 'ALLOW' }],
  ],
  [
    'another currency is no way round a limit',
    { terms: { per_transaction_limit_minor: 50 }, action: { currency: 'USD' } },
    [{ type: 'ASK_OPERATOR', clears: ['CURRENCY_NOT_AUTHORIZED'], then: 'ALLOW' }],
  ],
  [
    'another merchant than one that is blocked',
    { terms: { blocked_merchants: ['Acme'] } },
    [{ type: 'CHOOSE_OTHER_MERCHANT', clears: ['MERCHANT_BLOCKED'], then: 'ALLOW' }],
  ],
  [
    'another merchant than a new one, or so little that it may be new',
    {
      terms: { on_new_merchant: 'DENY', new_merchant_threshold_minor: 40 },
      facts: { is_known_merchant: false },
    },
    [
      { type: 'REDUCE_AMOUNT', max_amount_minor: 40, clears: ['NEW_MERCHANT'], then: 'ALLOW' },
      { type: 'CHOOSE_OTHER_MERCHANT', clears: ['NEW_MERCHANT'], then: 'ALLOW' },
    ],
  ],
  [
    'a payee that is not known is for the operator',
    {
      terms: {
        allowed_payees: [{ merchant: 'Acme Paper', payee_id: 'iban:1' }],
        on_other_merchants: 'DENY',
      },
    },
    [{ type: 'ASK_OPERATOR', clears: ['PAYEE_NOT_ALLOWED'], then: 'ALLOW' }],
  ],
  [
    'one way out alone is no way out where two things deny',
    { terms: { blocked_merchants: ['Acme'], per_transaction_limit_minor: 50 } },
    [{ type: 'ASK_OPERATOR', clears: ['MERCHANT_BLOCKED', 'PER_TRANSACTION_LIMIT_EXCEEDED'], then: 'ALLOW' }],
  ],
  [
    'a count of spends is waited for and not reduced',
    {
      terms: { velocity_limits: [{ name: 'few', window: 'ROLLING', window_seconds: 60, limit_count: 2 }] },
      request: { limitable: true },
      slots: [
        { starts_ms: 0, until_ms: NOW_MS + 1_000, count: 1, amount_minor: 1, decision_id: null },
        { starts_ms: 0, until_ms: NOW_MS + 2_000, count: 2, amount_minor: 1, decision_id: null },
      ],
    },
    [
      {
        type: 'RETRY_AT',
        at: '2026-11-20T12:00:02.000Z',
        clears: ['VELOCITY_LIMIT_EXCEEDED'],
        then: 'ALLOW',
      },
    ],
  ],
  [
    'of an amount over time what is left may be spent now, and all of it when enough of it counts no more',
    {
      terms: {
        velocity_limits: [{ name: 'some', window: 'ROLLING', window_seconds: 60, limit_amount_minor: 150 }],
        duplicate_window_seconds: 60,
      },
      slots: [
        { starts_ms: 0, until_ms: NOW_MS + 1_000, count: 0, amount_minor: 40, decision_id: null },
        { starts_ms: 0, until_ms: NOW_MS + 2_000, count: 0, amount_minor: 80, decision_id: null },
      ],
    },
    [
      { type: 'REDUCE_AMOUNT', max_amount_minor: 30, then: 'ALLOW' },
      { type: 'RETRY_AT', at: '2026-11-20T12:00:02.000Z', then: 'ALLOW' },
    ],
  ],
  [
    'what was asked for shortly before is asked for again when that is long ago',
    {
      terms: { duplicate_window_seconds: 60, on_duplicate: 'DENY' },
      slots: [{ starts_ms: 0, until_ms: NOW_MS + 61_000, count: 1, amount_minor: 100, decision_id: null }],
    },
    [{ type: 'RETRY_AT', at: '2026-11-20T12:01:01.000Z', clears: ['DUPLICATE_SPEND'], then: 'ALLOW' }],
  ],
  [
    'nothing is waited for where what was asked for before counts beyond the end of the authority',
    {
      terms: {
        duplicate_window_seconds: 60,
        on_duplicate: 'DENY',
        valid_until: new Date(NOW_MS + 61_000).toISOString(),
      },
      slots: [{ starts_ms: 0, until_ms: NOW_MS + 61_000, count: 1, amount_minor: 100, decision_id: null }],
    },
    [{ type: 'ASK_OPERATOR', clears: ['DUPLICATE_SPEND'], then: 'ALLOW' }],
  ],
  [
    'but it is where the authority lasts a millisecond longer',
    {
      terms: {
        duplicate_window_seconds: 60,
        on_duplicate: 'DENY',
        valid_until: new Date(NOW_MS + 61_001).toISOString(),
      },
      slots: [{ starts_ms: 0, until_ms: NOW_MS + 61_000, count: 1, amount_minor: 100, decision_id: null }],
    },
    [{ type: 'RETRY_AT', at: '2026-11-20T12:01:01.000Z', clears: ['DUPLICATE_SPEND'], then: 'ALLOW' }],
  ],
  [
    'a smaller amount is no way round what was asked for before',
    {
      terms: { duplicate_window_seconds: 60, per_transaction_limit_minor: 90 },
      slots: [{ starts_ms: 0, until_ms: NOW_MS + 61_000, count: 1, amount_minor: 100, decision_id: null }],
    },
    [
      {
        type: 'ASK_OPERATOR',
        clears: ['PER_TRANSACTION_LIMIT_EXCEEDED'],
        then: 'REVIEW',
      },
    ],
  ],
  [
    "in the authority's currency a spend repeats what was asked for there before",
    {
      terms: { duplicate_window_seconds: 60, on_duplicate: 'DENY' },
      action: { currency: 'USD' },
      slots: [{ starts_ms: 0, until_ms: NOW_MS + 61_000, count: 1, amount_minor: 100, decision_id: null }],
    },
    [{ type: 'ASK_OPERATOR', clears: ['CURRENCY_NOT_AUTHORIZED'], then: 'ALLOW' }],
  ],
  [
    "in the authority's currency it is judged by the limits over time too",
    {
      terms: { velocity_limits: [{ name: 'day', window: 'DAY', limit_amount_minor: 150 }] },
      action: { currency: 'USD' },
      slots: [{ starts_ms: 0, until_ms: NOW_MS + 1_000, count: 1, amount_minor: 51, decision_id: null }],
    },
    [{ type: 'ASK_OPERATOR', clears: ['CURRENCY_NOT_AUTHORIZED'], then: 'ALLOW' }],
  ],
  [
    'a review is waited for',
    { terms: { review_threshold_minor: 50 } },
    [
      {
        type: 'WAIT_FOR_REVIEW',
        expires_at: EXPIRES_AT,
        clears: ['REVIEW_THRESHOLD_EXCEEDED'],
        then: 'ALLOW',
      },
    ],
  ],
  [
    'or the hours for which alone it is asked',
    { terms: { active_hours: office, on_outside_hours: 'REVIEW' }, facts: { now_ms: NOW_MS + 86_400_000 } },
    [
      { type: 'WAIT_FOR_REVIEW', clears: ['OUTSIDE_ACTIVE_HOURS'] },
      { type: 'RETRY_AT', at: '2026-11-23T08:00:00.000Z', clears: ['OUTSIDE_ACTIVE_HOURS'], then: 'ALLOW' },
    ],
  ],
  [
    'but not where the month has no room for it a second time',
    {
      terms: { active_hours: office, on_outside_hours: 'REVIEW', monthly_budget_minor: 150 },
      facts: { now_ms: NOW_MS + 86_400_000 },
    },
    [{ type: 'WAIT_FOR_REVIEW' }, { type: 'RETRY_AT', at: '2026-12-01T08:00:00.000Z' }],
  ],
];

test.each(CASES)('%s', (_name, given, expected) => {
  const remedies = remediesFor(factsOf(given));
  expect(remedies).toHaveLength(expected.length);
  expect(remedies).toMatchObject(expected);
});

test('an agent without an authority is for its operator', () => {
  const facts = factsOf({ facts: { authority: null, assessment: null } });
  expect(remediesFor(facts)).toEqual([{ type: 'ASK_OPERATOR', clears: ['NO_AUTHORITY'], then: 'REVIEW' }]);
});

describe('of any authority and spend', () => {
  const small = fc.integer({ min: 1, max: 60 });
  const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
  const moment = fc
    .integer({ min: NOW_MS - 40 * 86_400_000, max: NOW_MS + 40 * 86_400_000 })
    .map((ms) => new Date(ms).toISOString());
  const hours = fc
    .uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1, maxLength: 3 })
    .chain((days) =>
      fc.constantFrom(
        [{ days, from: '08:00', to: '18:00' }],
        [{ days, from: '22:00', to: '02:00' }],
        [{ days, from: '00:00', to: '24:00' }],
      ),
    );
  const velocity = fc
    .record(
      {
        limit_amount_minor: fc.integer({ min: 0, max: 90 }),
        limit_count: fc.integer({ min: 1, max: 4 }),
        per: fc.constantFrom('AGENT', 'MERCHANT', 'PAYEE'),
        on_exceeded: fc.constantFrom('DENY', 'DENY', 'REVIEW'),
      },
      { requiredKeys: [] },
    )
    .chain((limit) =>
      fc
        .constantFrom<object>({ window: 'DAY' }, { window: 'ROLLING', window_seconds: 600 })
        .map((window) => ({ name: JSON.stringify([limit, window]), ...window, ...limit })),
    );
  const slot = fc.record({
    starts_ms: fc.constant(0),
    until_ms: fc.integer({ min: NOW_MS + 1, max: NOW_MS + 3 * 86_400_000 }),
    count: fc.integer({ min: 0, max: 2 }),
    amount_minor: fc.integer({ min: 0, max: 40 }),
    decision_id: fc.constant(null),
  });
  const terms = fc.record(
    {
      per_transaction_limit_minor: fc.integer({ min: 0, max: 60 }),
      monthly_budget_minor: fc.integer({ min: 0, max: 60 }),
      review_threshold_minor: fc.integer({ min: 0, max: 60 }),
      valid_from: moment,
      valid_until: moment,
      active_hours: hours,
      time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Havana'),
      on_outside_hours: fc.constantFrom('DENY', 'REVIEW'),
      allowed_action_types: fc.constantFrom(['purchase'], ['top_up']),
      review_action_types: fc.constantFrom(['purchase'], ['top_up']),
      blocked_merchants: fc.constantFrom(['Acme'], ['Other']),
      allowed_merchants: fc.constantFrom(['Acme Paper'], ['Other']),
      on_other_merchants: fc.constantFrom('ALLOW', 'REVIEW', 'DENY'),
      on_new_merchant: fc.constantFrom('ALLOW', 'REVIEW', 'DENY'),
      new_merchant_threshold_minor: fc.integer({ min: 0, max: 60 }),
      on_purpose_unclear: fc.constantFrom('ALLOW', 'REVIEW'),
      velocity_limits: fc.array(velocity, { minLength: 1, maxLength: 2 }),
      duplicate_window_seconds: fc.constant(600),
      on_duplicate: fc.constantFrom('REVIEW', 'DENY'),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<object>;
  const given = fc
    .record({
      terms,
      amount_minor: small,
      currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'USD'),
      limitable: fc.boolean(),
      min_amount_minor: maybe(small),
      committed_minor: fc.integer({ min: 0, max: 60 }),
      is_known_merchant: fc.boolean(),
      purpose: fc.constantFrom<PurposeAssessment>('PURPOSE_ALIGNED', 'PURPOSE_UNCLEAR'),
      slots: fc.array(slot, { maxLength: 4 }),
    })
    .map(({ terms, amount_minor, currency, limitable, min_amount_minor, ...more }) => {
      const { committed_minor, is_known_merchant, purpose, slots } = more;
      return factsOf({
        terms: terms as Partial<Authority>,
        action: { amount_minor, currency },
        slots,
        request: { limitable, ...(min_amount_minor === undefined ? {} : { min_amount_minor }) },
        facts: {
          budget: { held_minor: 0, committed_minor },
          is_known_merchant,
          assessment: assessed(purpose),
        },
      });
    });

  /** The decision about a spend with this change and the same duplicates. */
  const asking = (facts: DecideFacts, change: Partial<DecideFacts['request']['action']>): DecisionKind =>
    decide({ ...facts, request: { ...facts.request, action: { ...facts.request.action, ...change } } })
      .decision;
  /** The decision for an idle agent at a later time. */
  const waiting = (facts: DecideFacts, now_ms: number): DecisionKind => {
    const month = (ms: number) => new Date(ms).toISOString().slice(0, 7);
    const fresh = month(now_ms) !== month(facts.now_ms);
    const budget = fresh ? { held_minor: 0, committed_minor: 0 } : facts.budget;
    return decide({ ...facts, now_ms, budget }).decision;
  };
  const CHEAP = { numRuns: Number(process.env.REMEDY_RUNS) };

  test('doing what a remedy says gives what it told, and doing less does not', () => {
    fc.assert(
      fc.property(given, (facts) => {
        const verdict = decide(facts);
        for (const remedy of remediesOf(facts, verdict, null)) {
          expect(remedy.clears.every((code) => verdict.reason_codes.includes(code))).toBe(true);
          if (verdict.decision !== 'DENY') continue;
          if (remedy.type === 'REDUCE_AMOUNT') {
            const { max_amount_minor } = remedy;
            expect(asking(facts, { amount_minor: max_amount_minor })).toBe(remedy.then);
            expect(max_amount_minor).toBeGreaterThanOrEqual(facts.request.min_amount_minor ?? 1);
            for (let more = max_amount_minor + 1; more <= facts.request.action.amount_minor; more++)
              expect(asking(facts, { amount_minor: more })).toBe('DENY');
          } else if (remedy.type === 'RETRY_AT') {
            const at_ms = Date.parse(remedy.at);
            expect(waiting(facts, at_ms)).toBe(remedy.then);
            expect(waiting(facts, at_ms - 1)).toBe('DENY');
            for (let part = 0; part < 10; part++)
              expect(waiting(facts, facts.now_ms + Math.floor(((at_ms - facts.now_ms) * part) / 10))).toBe(
                'DENY',
              );
          } else if (remedy.type === 'USE_CURRENCY') {
            expect(asking(facts, { currency: remedy.currency })).toBe(remedy.then);
          }
        }
      }),
      CHEAP,
    );
  });

  test('a smaller amount is tried with what it would repeat, and is not offered where nobody looked for that', () => {
    let offered = 0;
    let denied = 0;
    fc.assert(
      fc.property(
        given,
        fc.constantFrom('REVIEW', 'DENY'),
        fc.boolean(),
        (given_facts, on_duplicate, repeats) => {
          const authority = {
            ...(given_facts.authority as Authority),
            per_transaction_limit_minor: 10,
            duplicate_window_seconds: 600,
            on_duplicate,
          } as Authority;
          const [of_limits] = [...(given_facts.counters?.values() ?? [])];
          const withDuplicates = (slots: readonly CountedSlot[]) =>
            withSlots(countersOf(authority, 'agt_1', given_facts.request.action), ({ counter_id }) =>
              counter_id.startsWith('dup_') ? slots : (of_limits?.slots ?? []),
            );
          const until_ms = given_facts.now_ms + 1;
          const of_smaller = withDuplicates(
            repeats ? [{ starts_ms: 0, until_ms, count: 1, amount_minor: 1, decision_id: null }] : [],
          );
          const duplicates_of = inEveryAmount(of_smaller);
          const { request } = given_facts;
          const larger = { ...request, limitable: false, action: { ...request.action, amount_minor: 50 } };
          const facts = {
            ...given_facts,
            authority,
            request: larger,
            counters: withDuplicates([]),
            duplicates_of,
          };
          const room = smallerAmountOf(facts, decide(facts));
          const reduced = remediesFor(facts).find(({ type }) => type === 'REDUCE_AMOUNT');
          const { duplicates_of: _, ...unseen } = facts;
          expect(remediesFor(unseen).filter(({ type }) => type === 'REDUCE_AMOUNT')).toEqual([]);
          if (room === null) {
            expect(reduced).toBeUndefined();
            return;
          }
          const action = { ...facts.request.action, amount_minor: room };
          const after = decide({ ...facts, counters: of_smaller, request: { ...facts.request, action } });
          if (after.decision === 'DENY') {
            denied += 1;
            expect(reduced).toBeUndefined();
          } else {
            offered += 1;
            expect(reduced).toMatchObject({ max_amount_minor: room, then: after.decision });
            expect(after.reason_codes.filter((code) => reduced?.clears.includes(code))).toEqual([]);
          }
        },
      ),
      { seed: 20_261_123, numRuns: 2_000 },
    );
    expect([offered > 0, denied > 0]).toEqual([true, true]);
  });

  test('a later moment is offered only where it clears something', () => {
    fc.assert(
      fc.property(given, (facts) => {
        const later = remediesFor(facts).filter(({ type }) => type === 'RETRY_AT');
        for (const { clears } of later) expect(clears).not.toEqual([]);
      }),
      CHEAP,
    );
  });

  test('a moment at which the same reason only weighs less is passed over for one that clears it', () => {
    const limit = (name: string, window_seconds: number, on_exceeded: 'DENY' | 'REVIEW') =>
      ({ name, window: 'ROLLING', window_seconds, limit_count: 1, on_exceeded }) as const;
    const terms = { velocity_limits: [limit('short', 60, 'DENY'), limit('long', 3_600, 'REVIEW')] };
    const facts = factsOf({ terms });
    const until = { short: NOW_MS + 30_000, long: NOW_MS + 600_000 };
    const counters = withSlots(
      countersOf(facts.authority as Authority, 'agt_1', facts.request.action),
      ({ limit: of }) => [
        {
          starts_ms: 0,
          until_ms: until[of?.name as keyof typeof until],
          count: 1,
          amount_minor: 1,
          decision_id: null,
        },
      ],
    );
    expect(remediesFor({ ...facts, counters }).map(({ type }) => type)).toEqual(['ASK_OPERATOR']);
  });

  test('where only the operator can help, no amount that is acceptable passes', () => {
    let alone = 0;
    fc.assert(
      fc.property(given, (facts) => {
        const verdict = decide(facts);
        const remedies = remediesOf(facts, verdict, null);
        if (remedies[0]?.type !== 'ASK_OPERATOR' || verdict.reason_codes.includes('DUPLICATE_SPEND')) return;
        alone += 1;
        expect(remedies).toHaveLength(1);
        const { amount_minor } = facts.request.action;
        for (let some = facts.request.min_amount_minor ?? 1; some <= amount_minor; some++)
          expect(asking(facts, { amount_minor: some })).toBe('DENY');
      }),
      CHEAP,
    );
    expect(alone).toBeGreaterThan(0);
  });

  test('what is denied up to a moment is denied at every moment before, and what is not is not', () => {
    fc.assert(
      fc.property(given, fc.integer({ min: 0, max: 60 * 86_400_000 }), (facts, later) => {
        const until_ms = deniedUntilMs(facts);
        expect(until_ms !== null).toBe(decide(facts).decision === 'DENY');
        if (until_ms !== null && facts.now_ms + later < until_ms)
          expect(waiting(facts, facts.now_ms + later)).toBe('DENY');
      }),
      CHEAP,
    );
  });
});
