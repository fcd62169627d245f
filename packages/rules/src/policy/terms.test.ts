import type { Authority } from '@purser/contract/authority';
import type { Assessment } from '@purser/contract/decisions';
import { CONTRACT_STAGES } from '@purser/contract/stages';
import { describe, expect, test } from 'vitest';
import { EMPTY_DIRECTORY } from '../merchants/directory.ts';
import { decide } from './decide.ts';

const assessment: Assessment = {
  assessment: 'PURPOSE_ALIGNED',
  confidence: 1,
  method: 'test',
  rationale: 'It serves the purpose.',
  evidence: [],
};

/** The decision about a spend of EUR 1.00 under these terms at a given time. */
function decidedAt(terms: Partial<Authority>, iso: string, type = 'purchase') {
  return decide({
    authority: { purpose: { objective: 'Anything' }, currency: 'EUR', ...terms },
    request: { action: { type, merchant: 'Acme Paper', amount_minor: 100, currency: 'EUR' } },
    directory: EMPTY_DIRECTORY,
    budget: { held_minor: 0, committed_minor: 0 },
    assessment,
    is_known_merchant: false,
    now_ms: Date.parse(iso),
  });
}
const told = ({ decision, reason_code }: ReturnType<typeof decide>) => [decision, reason_code];
const stagesOf = ({ policy_trace }: ReturnType<typeof decide>) => policy_trace.map(({ stage }) => stage);

test('a stage stands in the trace where the authority speaks of it, and in its place', () => {
  const now = '2026-11-20T12:00:00Z';
  expect(stagesOf(decidedAt({ time_zone: 'Europe/Berlin' }, now))).toEqual([...CONTRACT_STAGES]);
  const terms = {
    valid_until: '2026-12-01T00:00:00.000Z',
    active_hours: [{ days: ['FRI' as const], from: '08:00', to: '18:00' }],
  };
  expect(stagesOf(decidedAt(terms, now))).toEqual([
    'authority',
    'validity',
    'currency',
    'merchant',
    'active_hours',
    'per_transaction_limit',
    'monthly_budget',
    'min_amount',
    'purpose',
    'review_threshold',
  ]);
});

test('an authority is valid from its first millisecond to the last one before its end', () => {
  const terms = { valid_from: '2026-12-01T00:00:00.000Z', valid_until: '2027-03-01T00:00:00.000Z' };
  expect(told(decidedAt(terms, '2026-11-30T23:59:59.999Z'))).toEqual(['DENY', 'AUTHORITY_NOT_YET_VALID']);
  expect(told(decidedAt(terms, '2026-12-01T00:00:00.000Z'))).toEqual(['ALLOW', 'WITHIN_AUTHORITY']);
  expect(told(decidedAt(terms, '2027-02-28T23:59:59.999Z'))).toEqual(['ALLOW', 'WITHIN_AUTHORITY']);
  const after = decidedAt(terms, '2027-03-01T00:00:00.000Z');
  expect(told(after)).toEqual(['DENY', 'AUTHORITY_EXPIRED']);
  expect(after.explanation).toBe(
    'The policy expired at 2027-03-01 00:00 UTC. Set a new one to let the agent spend.',
  );
});

describe('active hours', () => {
  const office = [{ days: ['MON', 'TUE', 'WED', 'THU', 'FRI'] as const, from: '08:00', to: '18:00' }];
  const hours = (active_hours: unknown, more: Partial<Authority> = {}) =>
    ({ active_hours, time_zone: 'Europe/Berlin', ...more }) as Partial<Authority>;

  test('end at their last second and begin again on Monday by clocks that were changed meanwhile', () => {
    expect(told(decidedAt(hours(office), '2026-03-27T16:59:59Z'))).toEqual(['ALLOW', 'WITHIN_AUTHORITY']);
    const outside = decidedAt(hours(office), '2026-03-27T17:00:00Z');
    expect(told(outside)).toEqual(['DENY', 'OUTSIDE_ACTIVE_HOURS']);
    expect(outside.explanation).toBe(
      'It is Friday 18:00 in Europe/Berlin, outside the active hours. The agent may spend again from Monday 08:00.',
    );
    expect(told(decidedAt(hours(office), '2026-03-30T05:59:59.999Z'))[0]).toBe('DENY');
    expect(told(decidedAt(hours(office), '2026-03-30T06:00:00Z'))[0]).toBe('ALLOW');
  });
  test('go on over midnight where they begin on a day that is listed', () => {
    const night = hours([{ days: ['FRI'], from: '22:00', to: '06:00' }]);
    expect(told(decidedAt(night, '2026-11-21T04:59:59Z'))[0]).toBe('ALLOW');
    expect(told(decidedAt(night, '2026-11-21T05:00:00Z'))[0]).toBe('DENY');
  });
  test('send a spend outside them to a person where the authority says so, with what it asked for held', () => {
    const verdict = decidedAt(hours(office, { on_outside_hours: 'REVIEW' }), '2026-11-21T12:00:00Z');
    expect(told(verdict)).toEqual(['REVIEW', 'OUTSIDE_ACTIVE_HOURS']);
    expect(verdict.held_amount_minor).toBe(100);
  });
  test('are of UTC where the authority names no zone', () => {
    const utc = { active_hours: [{ days: ['SAT' as const], from: '00:00', to: '24:00' }] };
    expect(told(decidedAt(utc, '2026-11-21T23:59:59.999Z'))[0]).toBe('ALLOW');
    const sunday = decidedAt(utc, '2026-11-22T00:00:00Z');
    expect(sunday.explanation).toBe(
      'It is Sunday 00:00 in UTC, outside the active hours. The agent may spend again from Saturday 00:00.',
    );
  });
});

describe('types of action', () => {
  const terms = { allowed_action_types: ['purchase', 'Top_Up'], review_action_types: ['subscription'] };
  test.each([
    ['purchase', 'ALLOW', 'WITHIN_AUTHORITY'],
    ['TOP_UP', 'ALLOW', 'WITHIN_AUTHORITY'],
    ['Subscription', 'REVIEW', 'ACTION_TYPE_NEEDS_REVIEW'],
    ['gift', 'DENY', 'ACTION_TYPE_NOT_ALLOWED'],
  ])('that is %s becomes %s: %s', (type, decision, reason) => {
    expect(told(decidedAt(terms, '2026-11-20T12:00:00Z', type))).toEqual([decision, reason]);
  });
  test('that go to a person leave all others as they are where no list says which are allowed', () => {
    const only = { review_action_types: ['subscription'] };
    expect(told(decidedAt(only, '2026-11-20T12:00:00Z', 'gift'))[0]).toBe('ALLOW');
  });
});
