import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Mode } from './agents.ts';
import type { DecisionEvent } from './decision-history.ts';
import type { DecisionCore, DecisionKind } from './decisions.ts';
import {
  addLesson,
  type DecisionLesson,
  emptyFeedback,
  isNoLesson,
  lessonOf,
  NO_LESSON,
  placesOf,
  purposeHash,
} from './feedback.ts';
import type { OutcomeSource, OutcomeType } from './outcomes.ts';

const AT = '2026-03-01T00:00:00.000Z';
const LATER = '2026-03-01T12:00:00.000Z';

function spend(decision: DecisionKind, mode: Mode = 'ENFORCE', held_minor = 500): DecisionCore {
  const holds = decision !== 'DENY';
  return {
    decision_id: 'dec_1',
    decision,
    mode,
    review_state: decision === 'REVIEW' ? 'PENDING' : null,
    authorized_amount_minor: decision === 'ALLOW' ? held_minor : 0,
    currency: 'EUR',
    agent: { id: 'agt_1', slug: 'one' },
    action: { type: 'purchase', merchant: 'Staples', amount_minor: 90_000_000, currency: 'EUR' },
    reservation: {
      reservation_id: holds ? 'rsv_1' : null,
      status: holds ? 'HELD' : 'NONE',
      amount_minor: holds ? held_minor : 0,
      currency: 'EUR',
      period: '2026-03',
      expires_at: mode === 'ENFORCE' && decision === 'REVIEW' ? '2026-03-02T00:00:00.000Z' : null,
    },
    capability: null,
  } as unknown as DecisionCore;
}
const reported = (
  source: OutcomeSource,
  type: OutcomeType = 'SPEND_EXECUTED',
  amount_minor: number | null = 400,
): DecisionEvent => ({
  type: 'decision.outcome.recorded',
  at: LATER,
  report: { type, amount_minor, currency: 'EUR', external_reference: null, source },
});
const reviewed = (action: 'ALLOW' | 'DENY'): DecisionEvent => ({
  type: 'decision.review.recorded',
  at: AT,
  review: { review_id: 'rev_1', action, capability_expires_at: null },
});
const labelled = (label: 'PURPOSE_ALIGNED' | 'PURPOSE_MISALIGNED'): DecisionEvent => ({
  type: 'decision.label.recorded',
  at: AT,
  label: { label_id: 'lbl_1', label },
});

describe('a decision teaches', () => {
  test('that its merchant was paid, with the amount that the rail executed, where it was in force', () => {
    expect(lessonOf(spend('ALLOW'), [reported('PAYMENT_RAIL')])).toEqual({
      ...NO_LESSON,
      paid: true,
      vouched_minor: 400,
    });
    const allowed = lessonOf(spend('REVIEW'), [reviewed('ALLOW'), reported('PAYMENT_RAIL')]);
    expect(allowed).toEqual({ ...NO_LESSON, allowed: true, paid: true, vouched_minor: 400 });
  });
  test.each<[string, DecisionCore, DecisionEvent[]]>([
    ['a REVIEW that nobody had allowed', spend('REVIEW'), [reported('PAYMENT_RAIL')]],
    ['the same in SHADOW', spend('REVIEW', 'SHADOW'), [reported('PAYMENT_RAIL')]],
    ['a DENY', spend('DENY'), [reported('PAYMENT_RAIL')]],
    ['a DENY in SHADOW', spend('DENY', 'SHADOW'), [reported('PAYMENT_RAIL')]],
    ['a spend that failed', spend('ALLOW'), [reported('PAYMENT_RAIL', 'SPEND_FAILED', null)]],
    [
      'a spend that was given back',
      spend('ALLOW'),
      [reported('PAYMENT_RAIL'), reported('PAYMENT_RAIL', 'REFUNDED')],
    ],
  ])('nothing by the rail’s word of %s', (_, made, events) => {
    expect(isNoLesson(lessonOf(made, events))).toBe(true);
  });
  test('no payment where a REVIEW was executed first and allowed afterwards', () => {
    const events = [reported('PAYMENT_RAIL'), reviewed('ALLOW')];
    expect(lessonOf(spend('REVIEW', 'SHADOW'), events)).toMatchObject({ allowed: true, paid: false });
  });
  test('what people judged, and on their word the amount that was held, not the one requested', () => {
    expect(lessonOf(spend('ALLOW'), [labelled('PURPOSE_ALIGNED')])).toEqual({
      ...NO_LESSON,
      aligned: true,
      vouched_minor: 500,
    });
    const corrected = [labelled('PURPOSE_ALIGNED'), labelled('PURPOSE_MISALIGNED')];
    expect(lessonOf(spend('ALLOW'), corrected)).toEqual({ ...NO_LESSON, misaligned: true });
    expect(lessonOf(spend('REVIEW'), [reviewed('DENY')])).toEqual({ ...NO_LESSON, denied: true });
  });
  test('the same whatever a client reports and whenever', () => {
    const event = fc.oneof(
      fc
        .constantFrom<OutcomeType>('SPEND_EXECUTED', 'SPEND_FAILED', 'REFUNDED')
        .map((type) => reported('PAYMENT_RAIL', type)),
      fc.constantFrom<'ALLOW' | 'DENY'>('ALLOW', 'DENY').map(reviewed),
      fc
        .constantFrom<'PURPOSE_ALIGNED' | 'PURPOSE_MISALIGNED'>('PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED')
        .map(labelled),
    );
    const claim = fc.record({
      type: fc.constantFrom<OutcomeType>(
        'SPEND_EXECUTED',
        'SPEND_FAILED',
        'SPEND_CANCELLED',
        'REFUNDED',
        'PARTIALLY_REFUNDED',
      ),
      amount: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      at: fc.nat(),
    });
    fc.assert(
      fc.property(
        fc.constantFrom<DecisionKind>('ALLOW', 'REVIEW', 'DENY'),
        fc.constantFrom<Mode>('ENFORCE', 'SHADOW'),
        fc.array(event, { maxLength: 6 }),
        fc.array(claim, { minLength: 1, maxLength: 4 }),
        (decision, mode, events, claims) => {
          const made = spend(decision, mode);
          const claimed = [...events];
          for (const { type, amount, at } of claims) {
            claimed.splice(at % (claimed.length + 1), 0, reported('CLIENT_REPORTED', type, amount));
          }
          expect(lessonOf(made, claimed)).toEqual(lessonOf(made, events));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

const lesson = fc.record<DecisionLesson>({
  decision_id: fc.constant('dec_1'),
  agent_id: fc.constant('agt_1'),
  purpose_hash: fc.constant('sha256:0'),
  merchant: fc.constant('staples'),
  payee_id: fc.option(fc.nat(40).map((n) => `iban:${n}`)),
  words: fc.constant([]),
  currency: fc.constantFrom('EUR', 'USD'),
  allowed: fc.boolean(),
  denied: fc.boolean(),
  aligned: fc.boolean(),
  misaligned: fc.boolean(),
  paid: fc.boolean(),
  vouched_minor: fc.option(fc.integer({ min: 1, max: 1_000 })),
});

test('a sum does not depend on the order of its lessons, and subtracting a lesson restores the counts', () => {
  fc.assert(
    fc.property(fc.array(lesson, { minLength: 1, maxLength: 60 }), lesson, (lessons, other) => {
      const [place] = placesOf(other);
      if (place === undefined) throw new Error('every spend has a merchant');
      const sumOf = (all: readonly DecisionLesson[]) =>
        all.reduce((row, each) => addLesson(row, each, 1), emptyFeedback(place));
      const sum = sumOf(lessons);
      expect(sumOf([...lessons].reverse())).toEqual(sum);
      const { usual_minor, ...counts } = addLesson(addLesson(sum, other, 1), other, -1);
      expect(sum).toMatchObject(counts);
    }),
  );
});

test('the hash of a purpose depends on its content, not on the order of its fields', () => {
  const one = purposeHash({ objective: 'a', constraints: ['b'] });
  expect(purposeHash({ constraints: ['b'], objective: 'a' })).toBe(one);
  expect(purposeHash({ objective: 'a', constraints: ['c'] })).not.toBe(one);
});
