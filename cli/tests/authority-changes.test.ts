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
  [{}, { valid_until: '2027-03-01T00:00:00Z' }, ['Valid until: set to 2027-03-01T00:00:00Z']],
  [
    { valid_until: '2027-03-01T00:00:00Z' },
    { valid_until: '2027-04-01T00:00:00Z' },
    ['Valid until: 2027-03-01T00:00:00Z → 2027-04-01T00:00:00Z (widens)'],
  ],
  [{ valid_until: '2027-03-01T00:00:00Z' }, { valid_until: '2027-03-01T01:00:00+01:00' }, []],
  [{ valid_from: '2027-03-01T00:00:00Z' }, {}, ['Valid from: removed (was 2027-03-01T00:00:00Z) (widens)']],
  [
    { valid_from: '2027-03-01T00:00:00Z' },
    { valid_from: '2027-02-01T00:00:00Z' },
    ['Valid from: 2027-03-01T00:00:00Z → 2027-02-01T00:00:00Z (widens)'],
  ],
  [
    {},
    { active_hours: [office] },
    [
      'Active hours: removed MON 00:00 to MON 08:00',
      'Active hours: removed MON 18:00 to TUE 08:00',
      'Active hours: removed TUE 18:00 to MON 00:00',
    ],
  ],
  [
    { active_hours: [office] },
    { active_hours: [{ ...office, to: '19:00' }] },
    [
      'Active hours: added MON 18:00 to MON 19:00 (widens)',
      'Active hours: added TUE 18:00 to TUE 19:00 (widens)',
    ],
  ],
  [
    { active_hours: [office] },
    { active_hours: [{ days: ['TUE'], from: '20:00', to: '02:00' }] },
    [
      'Active hours: removed MON 08:00 to MON 18:00',
      'Active hours: removed TUE 08:00 to TUE 18:00',
      'Active hours: added TUE 20:00 to WED 02:00 (widens)',
    ],
  ],
  [{ active_hours: [office, office] }, { active_hours: [office] }, []],
  [
    { active_hours: [office] },
    {},
    ['Active hours: removed (was on Monday and Tuesday from 08:00 to 18:00) (widens)'],
  ],
  [
    { on_outside_hours: 'DENY' },
    { on_outside_hours: 'REVIEW' },
    ['Outside active hours: Deny → Review (widens)'],
  ],
  [{}, { on_outside_hours: 'DENY' }, []],
  [
    {},
    { on_new_merchant: 'REVIEW', new_merchant_threshold_minor: 2_000 },
    ['First payment to a merchant: Allow → Review', 'New merchants allowed up to: set to EUR 20.00 (widens)'],
  ],
  [{ new_merchant_threshold_minor: 2_000 }, {}, ['New merchants allowed up to: removed (was EUR 20.00)']],
  [
    { on_purpose_unclear: 'REVIEW' },
    { on_purpose_unclear: 'ALLOW' },
    ['Unclear purpose: Review → Allow (widens)'],
  ],
  [
    {},
    { on_other_merchants: 'DENY', allowed_payees: [payee] },
    ['Allowed payees: added iban:DE1 Acme (may widen)', 'Other merchants: Allow → Deny'],
  ],
  [{}, { allowed_action_types: ['purchase'] }, ['Allowed action types: set to purchase']],
  [
    { allowed_action_types: ['purchase'] },
    { allowed_action_types: ['purchase', 'subscription'] },
    ['Allowed action types: added subscription (widens)'],
  ],
  [{ allowed_action_types: ['purchase'] }, {}, ['Allowed action types: removed (was purchase) (widens)']],
  [
    { review_action_types: ['subscription'] },
    { review_action_types: [] },
    ['Action types that need review: removed subscription (widens)'],
  ],
  [{}, { reviewer_may_list: true }, ['Reviewers may list merchants: No → Yes (widens)']],
  [
    { duplicate_window_seconds: 600 },
    { duplicate_window_seconds: 1_800 },
    ['Duplicate window: 10 minutes → 30 minutes'],
  ],
  [
    { duplicate_window_seconds: 600, on_duplicate: 'DENY' },
    {},
    ['Duplicate window: removed (was 10 minutes) (widens)', 'Duplicate requests: Deny → Review (widens)'],
  ],
  [
    {},
    { velocity_limits: [day, burst] },
    [
      'Velocity limits: added day: At most EUR 500.00 per day',
      'Velocity limits: added burst: At most 5 requests in any 10 minutes',
    ],
  ],
  [
    { velocity_limits: [day, burst] },
    { velocity_limits: [{ ...day, limit_amount_minor: 60_000 }] },
    [
      'Velocity limits: removed burst: At most 5 requests in any 10 minutes (widens)',
      'Velocity limits: day: At most EUR 500.00 per day → day: At most EUR 600.00 per day (widens)',
    ],
  ],
  [
    { velocity_limits: [{ ...day, limit_count: 3 }] },
    { velocity_limits: [{ ...day, limit_count: 2, limit_amount_minor: 40_000 }] },
    [
      'Velocity limits: day: At most EUR 500.00 and 3 requests per day → day: At most EUR 400.00 and 2 requests per day',
    ],
  ],
  [
    { velocity_limits: [{ ...day, limit_count: 3 }] },
    { velocity_limits: [{ ...day, limit_amount_minor: 40_000 }] },
    [
      'Velocity limits: day: At most EUR 500.00 and 3 requests per day → day: At most EUR 400.00 per day (widens)',
    ],
  ],
  [
    { velocity_limits: [day] },
    { velocity_limits: [{ ...day, on_exceeded: 'REVIEW' }] },
    [
      'Velocity limits: day: At most EUR 500.00 per day → day: At most EUR 500.00 per day, otherwise needs review (widens)',
    ],
  ],
  [
    { velocity_limits: [day] },
    { velocity_limits: [{ ...day, per: 'MERCHANT' }] },
    [
      'Velocity limits: day: At most EUR 500.00 per day → day: At most EUR 500.00 per day at each merchant (may widen)',
    ],
  ],
  [{ time_zone: 'UTC' }, { time_zone: 'Europe/Berlin' }, ['Time zone: UTC → Europe/Berlin (may widen)']],
];

describe('a difference between authorities is told in sentences that say what widens', () => {
  test.each(CASES)('%j → %j', (before, after, told) => {
    const authority = (fields: object) => ({ ...BASE, ...fields }) as Authority;
    const lines = changeLines(changesOf(authority(before), authority(after)));
    expect(lines.map((line) => line.trim())).toEqual(told);
  });
});
