import type { Authority } from '@purser/sdk';
import { describe, expect, test } from 'vitest';
import { changeLines, changesOf } from '../src/authority-changes.ts';

const BASE = { purpose: { objective: 'Buy paper' }, currency: 'EUR' };
const office = { days: ['MON', 'TUE'], from: '08:00', to: '18:00' };
const day = { name: 'day', window: 'DAY', limit_amount_minor: 50_000 };
const burst = { name: 'burst', window: 'ROLLING', window_seconds: 600, limit_count: 5 };
const payee = { merchant: 'Acme', payee_id: 'iban:DE1' };

/** Fields before, fields after, and the sentences that tell the difference. */
const CASES: [object, object, string[]][] = [
  [{}, { valid_until: '2027-03-01T00:00:00Z' }, ['the agent may spend until 2027-03-01T00:00:00Z']],
  [
    { valid_until: '2027-03-01T00:00:00Z' },
    { valid_until: '2027-04-01T00:00:00Z' },
    ['the agent may spend until 2027-04-01T00:00:00Z; it was 2027-03-01T00:00:00Z (widens)'],
  ],
  [{ valid_until: '2027-03-01T00:00:00Z' }, { valid_until: '2027-03-01T01:00:00+01:00' }, []],
  [
    { valid_from: '2027-03-01T00:00:00Z' },
    {},
    ['the agent may spend from no certain moment; it was 2027-03-01T00:00:00Z (widens)'],
  ],
  [
    { valid_from: '2027-03-01T00:00:00Z' },
    { valid_from: '2027-02-01T00:00:00Z' },
    ['the agent may spend from 2027-02-01T00:00:00Z; it was 2027-03-01T00:00:00Z (widens)'],
  ],
  [
    {},
    { active_hours: [office] },
    ['the agent may no longer spend MON 00:00 to MON 08:00, MON 18:00 to TUE 08:00, TUE 18:00 to MON 00:00'],
  ],
  [
    { active_hours: [office] },
    { active_hours: [{ ...office, to: '19:00' }] },
    ['the agent may also spend MON 18:00 to MON 19:00, TUE 18:00 to TUE 19:00 (widens)'],
  ],
  [
    { active_hours: [office] },
    { active_hours: [{ days: ['TUE'], from: '20:00', to: '02:00' }] },
    [
      'the agent may also spend TUE 20:00 to WED 02:00 (widens)',
      'the agent may no longer spend MON 08:00 to MON 18:00, TUE 08:00 to TUE 18:00',
    ],
  ],
  [{ active_hours: [office, office] }, { active_hours: [office] }, []],
  [{ active_hours: [office] }, {}, ['the agent may spend at any hour; it had hours (widens)']],
  [
    { on_outside_hours: 'DENY' },
    { on_outside_hours: 'REVIEW' },
    ['a spend outside the hours is reviewed by a person; it was denied (widens)'],
  ],
  [{}, { on_outside_hours: 'DENY' }, []],
  [
    {},
    { on_new_merchant: 'REVIEW', new_merchant_threshold_minor: 2_000 },
    [
      'a first spend with a merchant or payee is reviewed by a person; it was allowed',
      'the amount up to which a new merchant is paid is set to EUR 20.00; there was none (widens)',
    ],
  ],
  [
    { new_merchant_threshold_minor: 2_000 },
    {},
    ['the amount up to which a new merchant is paid is removed; it was EUR 20.00'],
  ],
  [
    { on_purpose_unclear: 'REVIEW' },
    { on_purpose_unclear: 'ALLOW' },
    ['a spend whose purpose is unclear is allowed; it was reviewed by a person (widens)'],
  ],
  [
    {},
    { on_other_merchants: 'DENY', allowed_payees: [payee] },
    [
      'a spend at a merchant that is on no list is denied; it was allowed',
      '“iban:DE1 of Acme” is now among the allowed payees (may widen)',
    ],
  ],
  [{}, { allowed_action_types: ['purchase'] }, ['only these are among the allowed action types: purchase']],
  [
    { allowed_action_types: ['purchase'] },
    { allowed_action_types: ['purchase', 'subscription'] },
    ['“subscription” is now among the allowed action types (widens)'],
  ],
  [
    { allowed_action_types: ['purchase'] },
    {},
    ['nothing is among the allowed action types any more: all are (widens)'],
  ],
  [
    { review_action_types: ['subscription'] },
    { review_action_types: [] },
    ['“subscription” is no longer an action type that goes to a person (widens)'],
  ],
  [{}, { reviewer_may_list: true }, ['reviewers too may list merchants (widens)']],
  [
    { duplicate_window_seconds: 600 },
    { duplicate_window_seconds: 1_800 },
    ['a spend that repeats another is noticed within 1800 s; it was 600 s'],
  ],
  [
    { duplicate_window_seconds: 600, on_duplicate: 'DENY' },
    {},
    [
      'spends may repeat others; they were looked at for 600 s (widens)',
      'a spend that repeats another is reviewed by a person; it was denied (widens)',
    ],
  ],
  [
    {},
    { velocity_limits: [day, burst] },
    ['the limit “day” is new: EUR 500.00 a day', 'the limit “burst” is new: 5 spends within 600 s'],
  ],
  [
    { velocity_limits: [day, burst] },
    { velocity_limits: [{ ...day, limit_amount_minor: 60_000 }] },
    [
      'the limit “day” goes from EUR 500.00 a day to EUR 600.00 a day (widens)',
      'the limit “burst” is removed; it was 5 spends within 600 s (widens)',
    ],
  ],
  [
    { velocity_limits: [{ ...day, limit_count: 3 }] },
    { velocity_limits: [{ ...day, limit_count: 2, limit_amount_minor: 40_000 }] },
    ['the limit “day” goes from EUR 500.00 and 3 spends a day to EUR 400.00 and 2 spends a day'],
  ],
  [
    { velocity_limits: [{ ...day, limit_count: 3 }] },
    { velocity_limits: [{ ...day, limit_amount_minor: 40_000 }] },
    ['the limit “day” goes from EUR 500.00 and 3 spends a day to EUR 400.00 a day (widens)'],
  ],
  [
    { velocity_limits: [day] },
    { velocity_limits: [{ ...day, on_exceeded: 'REVIEW' }] },
    [
      'the limit “day” goes from EUR 500.00 a day to EUR 500.00 a day; beyond it a person reviews, what was denied (widens)',
    ],
  ],
  [
    { velocity_limits: [day] },
    { velocity_limits: [{ ...day, per: 'MERCHANT' }] },
    ['the limit “day” goes from EUR 500.00 a day to EUR 500.00 a day, each merchant by itself (may widen)'],
  ],
  [
    { time_zone: 'UTC' },
    { time_zone: 'Europe/Berlin' },
    ['time_zone becomes “Europe/Berlin”; it was “UTC” (may widen)'],
  ],
];

describe('a difference between authorities is told in sentences that say what widens', () => {
  test.each(CASES)('%j → %j', (before, after, told) => {
    const authority = (fields: object) => ({ ...BASE, ...fields }) as Authority;
    const lines = changeLines(changesOf(authority(before), authority(after)));
    expect(lines.map((line) => line.trim())).toEqual(told);
  });
});
