import { changesOf, isSameAuthority } from '@purser/contract/authority-changes';
import type { Authority } from '@purser/sdk';
import { describe, expect, test } from 'vitest';
import { formatMoney } from '../money.ts';
import { authorityOf, type Draft, draftOf, EMPTY_DRAFT, fieldOf } from './draft.ts';
import { summaryOf } from './summary.ts';
import type { VelocityDraft } from './velocity.ts';

const AUTHORITY: Authority = {
  purpose: {
    objective: 'Keep the staging servers running',
    success_criteria: ['No outage'],
    constraints: ['No gift cards', 'No travel'],
  },
  currency: 'EUR',
  per_transaction_limit_minor: 20_000,
  monthly_budget_minor: 150_050,
  blocked_merchants: [],
  allowed_merchants: ['Hetzner Online'],
};

const EVERYTHING: Authority = {
  ...AUTHORITY,
  purpose: {
    ...AUTHORITY.purpose,
    attention: 'HIGH',
    ask_model: 'UNCLEAR',
    reading: {
      not: [{ kind: 'cloud and hosting', words: 'servers' }],
      also: [{ kind: 'merchant', words: 'Contabo' }],
    },
  },
  require_description: true,
  on_purpose_unclear: 'ALLOW',
  valid_from: '2026-11-30T23:00:00.500Z',
  valid_until: '2027-02-28T23:00:00.000Z',
  time_zone: 'Europe/Berlin',
  active_hours: [
    { days: ['MON', 'TUE', 'WED', 'THU', 'FRI'], from: '08:00', to: '18:00' },
    { days: ['SAT'], from: '22:00', to: '24:00' },
  ],
  on_outside_hours: 'REVIEW',
  on_new_merchant: 'REVIEW',
  new_merchant_threshold_minor: 2_000,
  reviewer_allowance_limit_minor: 5_000,
  allowed_action_types: ['purchase', 'top_up'],
  review_action_types: ['subscription'],
  allowed_payees: [
    { payee_id: 'iban:DE44500105175407324931', merchant: 'Hetzner Online' },
    { payee_id: 'stripe:acct_1032D82eZvKYlo2C' },
  ],
  on_other_merchants: 'DENY',
  model_usage: { models: ['gpt-5-mini', 'claude-*'], on_unknown_price: 'HIGHEST_PRICE' },
  velocity_limits: [
    { name: 'day', window: 'DAY', per: 'MERCHANT', limit_amount_minor: 50_000, limit_count: 5 },
    { name: 'burst', window: 'ROLLING', window_seconds: 600, limit_count: 1, on_exceeded: 'REVIEW' },
    { name: 'ads', window: 'MONTH', per: 'AGENT', limit_amount_minor: 0, merchants: ['Google Ads'] },
  ],
  duplicate_window_seconds: 5_400,
  review_ttl_seconds: 14_400,
  on_duplicate: 'DENY',
  alert_percents: [50, 80, 100],
};

describe('the form of an authority', () => {
  test.each<[string, Authority]>([
    ['with most fields', AUTHORITY],
    ['with the least', { purpose: { objective: 'Anything' }, currency: 'JPY' }],
    [
      'in a currency of three digits, with defaults written out',
      {
        purpose: { objective: 'Anything', context: 'Kuwait' },
        currency: 'KWD',
        review_threshold_minor: 0,
        on_purpose_unclear: 'REVIEW',
      },
    ],
    ['with every field', EVERYTHING],
    ['with model calls on default terms', { ...AUTHORITY, model_usage: {} }],
    [
      'with defaults of its questions written out',
      {
        ...AUTHORITY,
        purpose: { objective: 'Anything', attention: 'NORMAL' },
        require_description: false,
      },
    ],
    [
      'in a time zone that the browser does not know',
      { ...AUTHORITY, time_zone: 'Europe/Erehwon', valid_from: '2026-12-01T00:00:00.000Z' },
    ],
    [
      'with what the form does not know',
      {
        ...AUTHORITY,
        reviewer_may_list: true,
        purpose: { ...AUTHORITY.purpose, tone: 'x' },
        velocity_limits: [{ name: 'day', window: 'DAY', limit_count: 1, colour: 'red' }],
      } as never,
    ],
  ])('gives the very same authority back: %s', (_, authority) => {
    expect(authorityOf(draftOf(authority), authority)).toEqual({ authority, problems: null });
  });

  test('an amount that was emptied limits no more, and a list that was emptied is gone', () => {
    const draft: Draft = { ...draftOf(AUTHORITY), monthly_budget: ' ', constraints: '\n' };
    const { authority } = authorityOf(draft, AUTHORITY);
    expect(authority).not.toHaveProperty('monthly_budget_minor');
    expect(authority?.purpose).not.toHaveProperty('constraints');
  });

  test('limits that are wrong are named by their path, as the service names them', () => {
    const [day, burst] = draftOf(EVERYTHING).velocity_limits as [VelocityDraft, VelocityDraft];
    const limits = [
      day,
      { ...burst, name: 'day', length: 'x' },
      { ...day, name: 'A', amount: '', count: '' },
    ];
    const { problems } = authorityOf({ ...draftOf(EVERYTHING), velocity_limits: limits }, EVERYTHING);
    expect(Object.keys(problems ?? {}).sort()).toEqual([
      'velocity_limits[1].name',
      'velocity_limits[1].window_seconds',
      'velocity_limits[2].limit_amount_minor',
      'velocity_limits[2].name',
    ]);
    expect(fieldOf('velocity_limits[2].limit_amount_minor')?.field).toBe(
      'velocity_limits[2].limit_amount_minor',
    );
    expect(fieldOf('velocity_limits[1]')?.field).toBe('velocity_limits[1]');
    expect(fieldOf('duplicate_window_seconds')?.field).toBe('duplicate_window');
  });

  test('a field that qualifies another is removed with it', () => {
    const draft: Draft = { ...draftOf(EVERYTHING), active_hours: [], on_new_merchant: 'ALLOW' };
    const { authority } = authorityOf(draft, { ...EVERYTHING, on_new_merchant: undefined });
    expect(authority).not.toHaveProperty('on_outside_hours');
    expect(authority).not.toHaveProperty('new_merchant_threshold_minor');
  });

  test('times are local to the zone, and an unchanged one keeps its milliseconds', () => {
    const draft = draftOf(EVERYTHING);
    expect([draft.valid_from, draft.valid_until]).toEqual(['2026-12-01T00:00', '2027-03-01T00:00']);
    const { authority } = authorityOf({ ...draft, valid_until: '2027-07-01T00:00' }, EVERYTHING);
    expect(authority?.valid_from).toBe(EVERYTHING.valid_from);
    expect(authority?.valid_until).toBe('2027-06-30T22:00:00.000Z');
  });

  test('an authority is described in plain words', () => {
    expect(summaryOf(EVERYTHING)).toEqual([
      'A request may be for at most EUR 200.00.',
      'A request that waits for a review expires after 4 hours.',
      'The agent may spend EUR 1,500.50 per calendar month (UTC).',
      'At most EUR 500.00 and 5 requests per day at each merchant (day); anything beyond that is denied.',
      'At most 1 request in any 10 minutes (burst); anything beyond that needs review.',
      'At most EUR 0.00 per month at Google Ads (ads); anything beyond that is denied.',
      'Purser alerts when 50 %, 80 % and 100 % of the monthly budget or of a velocity limit is used.',
      'A second request for the same amount at the same merchant within 90 minutes is denied.',
      'The policy is valid from 2026-12-01 00:00 until 2027-03-01 00:00 (Europe/Berlin).',
      'The agent may spend on weekdays from 08:00 to 18:00 and on Saturday from 22:00 to 24:00 (Europe/Berlin); a request at any other time needs review.',
      'Allowed: 1 merchant and 2 payees. A request for any other is denied.',
      'Hetzner Online may be paid only at 1 known account; any other account is denied.',
      'A first payment to a merchant needs review, unless it is EUR 20.00 or less.',
      'The action type must be purchase or top_up; any other is denied.',
      'A request of type subscription needs review.',
      'Model calls are allowed: gpt-5-mini and claude-*; a low budget lowers the output limit; unknown prices count as the highest price.',
      'Reviewers are also asked about any word that nobody has allowed at the merchant.',
      'The purpose of a request without a description is unclear.',
      'A request whose purpose is unclear is allowed.',
    ]);
  });

  test('each wrong field is named', () => {
    const draft = {
      ...EMPTY_DRAFT,
      currency: 'E',
      monthly_budget: '1.234',
      review_threshold: 'much',
      time_zone: 'Mars/Olympus',
      valid_until: '2026-01-01T00:00',
      valid_from: '2026-01-01T00:00',
      allowed_payees: 'stripe:acct_1\nHetzner',
    };
    const { problems } = authorityOf(draft, null);
    expect(problems?.allowed_payees).toMatch(/^line 2 /);
    expect(Object.keys(problems ?? {}).sort()).toEqual([
      'allowed_payees',
      'currency',
      'monthly_budget',
      'objective',
      'review_threshold',
      'time_zone',
      'valid_until',
    ]);
  });

  test('a refusal of one entry belongs to its list', () => {
    expect(fieldOf('purpose.constraints[2]')).toEqual({ field: 'constraints', line: 3 });
    expect(fieldOf('allowed_payees[0].payee_id')).toEqual({ field: 'allowed_payees', line: 1 });
    expect(fieldOf('per_transaction_limit_minor')).toEqual({ field: 'per_transaction_limit', line: null });
    expect(fieldOf('active_hours[1].to')?.field).toBe('active_hours[1].to');
    expect(fieldOf('active_hours[1].days[3]')?.field).toBe('active_hours[1].days');
    expect([fieldOf('nonsense'), fieldOf(undefined)]).toEqual([undefined, undefined]);
  });
});

describe('the difference of two authorities', () => {
  test('is nothing between an authority and itself, and an empty list is no list', () => {
    const { blocked_merchants: _, ...without } = AUTHORITY;
    expect(changesOf(AUTHORITY, structuredClone(AUTHORITY), formatMoney)).toEqual([]);
    expect(changesOf(AUTHORITY, without, formatMoney)).toEqual([]);
    const [payee] = EVERYTHING.allowed_payees ?? [];
    const turned = [{ merchant: payee?.merchant, payee_id: payee?.payee_id as string }];
    const allowed_payees = [payee as (typeof turned)[0]];
    const [one, other] = [allowed_payees, turned].map((each) => ({ ...AUTHORITY, allowed_payees: each }));
    expect(changesOf(one as Authority, other as Authority, formatMoney)).toEqual([]);
    expect(isSameAuthority(one as Authority, other as Authority)).toBe(true);
  });

  test('names what changed, with amounts in their currency, entries of lists, and what widens', () => {
    const after: Authority = {
      ...AUTHORITY,
      purpose: { ...AUTHORITY.purpose, constraints: ['No travel', 'No software'] },
      per_transaction_limit_minor: 10_000,
      review_threshold_minor: 5_000,
    };
    const told = changesOf(AUTHORITY, after, formatMoney).map((each) => Object.values(each));
    expect(told).toEqual([
      ['purpose.constraints', 'Constraints', true, 'No gift cards', null, 'yes'],
      ['purpose.constraints', 'Constraints', true, null, 'No software', 'no'],
      ['per_transaction_limit_minor', 'Per-transaction limit', false, 'EUR 200.00', 'EUR 100.00', 'no'],
      ['review_threshold_minor', 'Review threshold', false, null, 'EUR 50.00', 'no'],
    ]);
  });

  test('of none and one is all of it', () => {
    expect(changesOf(null, AUTHORITY, formatMoney).map((each) => each.label)).toContain('Objective');
  });
});
