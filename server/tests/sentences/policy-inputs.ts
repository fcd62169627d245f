import type { Authority } from '@purser/contract/authority';
import type { Assessment, Remedy } from '@purser/contract/decisions';
import type { LoadedAllowance } from '@purser/rules/counters/allowances';
import type { CountedSlot } from '@purser/rules/counters/counters';
import type { LoadedBudget } from '@purser/rules/counters/shared-budgets';
import { directoryAt, EMPTY_DIRECTORY, type MerchantEntry } from '@purser/rules/merchants/directory';
import { countersOf, withSlots } from '@purser/rules/policy/counters';
import type { DecideFacts } from '@purser/rules/policy/stage';
import { firstIdAt } from '@purser/rules/values/ids';

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

const ALIGNED: Assessment = {
  assessment: 'PURPOSE_ALIGNED',
  confidence: 1,
  method: 'test',
  rationale: 'The purpose names "Metro".',
  evidence: [],
};
const UNCLEAR: Assessment = {
  ...ALIGNED,
  assessment: 'PURPOSE_UNCLEAR',
  rationale: 'The request hides words in "action.description" behind small capitals.',
};

interface Given {
  terms?: Partial<Authority>;
  action?: Partial<DecideFacts['request']['action']>;
  request?: Partial<DecideFacts['request']>;
  facts?: Partial<DecideFacts>;
  /** The content of every counter. */
  used?: Partial<CountedSlot>;
}

function factsOf({ terms = {}, action = {}, request = {}, facts = {}, used }: Given): DecideFacts {
  const authority: Authority = { purpose: { objective: 'Anything' }, currency: 'EUR', ...terms };
  const asked = { type: 'purchase', merchant: 'Metro', amount_minor: 154_200, currency: 'EUR', ...action };
  const slot = {
    count: 5,
    amount_minor: 0,
    starts_ms: NOW_MS - 60_000,
    until_ms: NOW_MS + 7_660_000,
    decision_id: null,
    ...used,
  };
  return {
    authority,
    request: { action: asked, ...request },
    directory: EMPTY_DIRECTORY,
    budget: { held_minor: 0, committed_minor: 0 },
    counters: withSlots(countersOf(authority, 'agt_1', { ...asked, currency: authority.currency }), () =>
      used === undefined ? [] : [slot],
    ),
    assessment: ALIGNED,
    is_known_merchant: true,
    now_ms: NOW_MS,
    ...facts,
  };
}

const limitable = { limitable: true };
const office = { active_hours: [{ days: ['FRI' as const], from: '08:00', to: '18:00' }] };
const TODAY = { time_zone: 'Europe/Berlin' };

const entry = (verdict: MerchantEntry['verdict']): MerchantEntry => ({
  entry_id: 'mer_1',
  agent_id: 'agt_1',
  merchant: 'Metro',
  payee_ids: [],
  verdict,
  note: null,
  listed_in: 1,
  unlisted_in: null,
  created_at: '2026-11-03T08:00:00.000Z',
  unlisted_at: null,
  key_id: null,
  principal_id: 'user:ada',
});

const budget = (period: LoadedBudget['period'], used_minor: number, more: Partial<LoadedBudget> = {}) => ({
  terms: { budgets: ['marketing'] },
  facts: {
    shared_budgets: [
      {
        budget_id: 'bud_1',
        slug: 'marketing',
        name: 'Marketing',
        currency: 'EUR',
        period,
        time_zone: 'UTC',
        limit_minor: 600_000,
        parent_id: null,
        status: 'active',
        alert_percents: null,
        told_period: null,
        told_percent: null,
        created_at: '2026-11-01T00:00:00.000Z',
        updated_at: '2026-11-01T00:00:00.000Z',
        slots: [
          {
            count: 1,
            amount_minor: used_minor,
            starts_ms: Date.parse('2026-11-01T00:00:00Z'),
            until_ms: Date.parse('2026-12-01T00:00:00Z'),
            decision_id: null,
          },
        ],
        ...more,
      } satisfies LoadedBudget,
    ],
  },
});

/** A spend under an allowance of EUR 6,000.00. */
const allowance = (more: Partial<LoadedAllowance> = {}, terms: object = {}) => ({
  facts: {
    allowances: [
      {
        allowance_id: 'alw_1',
        agent_id: 'agt_1',
        budget_id: null,
        parent_id: null,
        path: ['alw_1'],
        currency: 'EUR',
        amount_minor: 600_000,
        period: 'TOTAL',
        time_zone: 'UTC',
        per_spend_limit_minor: null,
        max_count: null,
        expires_at: '2027-01-01T00:00:00.000Z',
        status: 'OPEN',
        terms: JSON.stringify({ answers: [], labels: {}, ...terms }),
        vouches: true,
        automatic: false,
        name: 'Nightly build',
        external_id: null,
        body_hash: null,
        source: 'API',
        created_at: '2026-11-01T00:00:00.000Z',
        created_by_key_id: null,
        created_by_principal_id: 'user:ada',
        made_by_agent: false,
        issuer_id: null,
        decide_by: null,
        request: null,
        decided: null,
        revoked: null,
        told_period: null,
        told_percent: null,
        slots: [],
        total_slots: [],
        ...more,
      } satisfies LoadedAllowance,
    ],
  },
});

/** The terms of one limit over time of EUR 5,000.00. */
const velocity = (more: Partial<NonNullable<Authority['velocity_limits']>[number]>): Partial<Authority> => ({
  ...TODAY,
  velocity_limits: [{ name: 'pace', window: 'DAY', limit_amount_minor: 500_000, ...more }],
});
const counted = (more: Partial<NonNullable<Authority['velocity_limits']>[number]>): Partial<Authority> => ({
  ...TODAY,
  velocity_limits: [{ name: 'burst', window: 'DAY', limit_count: 5, ...more }],
});
const ROLLING = { window: 'ROLLING', window_seconds: 7_200 } as const;
const ago = (seconds: number) => ({ count: 1, decision_id: firstIdAt('decision', NOW_MS - seconds * 1_000) });
const TWICE = { terms: { duplicate_window_seconds: 600 } };

/** Spends that between them make every sentence of the policy. */
export const POLICY_INPUTS: readonly DecideFacts[] = [
  {},
  { facts: { authority: null, assessment: null } },
  { action: { currency: 'USD' } },
  { request: limitable },
  { terms: { monthly_budget_minor: 600_000 } },
  { terms: { on_purpose_unclear: 'ALLOW' as const }, facts: { assessment: UNCLEAR } },

  { terms: { valid_from: '2026-11-01T00:00:00.000Z' } },
  { terms: { valid_until: '2026-12-01T00:00:00.000Z' } },
  { terms: { valid_from: '2026-12-01T00:00:00.000Z' } },
  { terms: { valid_until: '2026-11-20T11:30:10.000Z' } },

  { terms: { allowed_action_types: ['purchase'] } },
  { terms: { allowed_action_types: ['subscription', 'top_up'] } },
  { terms: { review_action_types: ['purchase'] } },

  { terms: { blocked_merchants: ['Evil'] } },
  { terms: { blocked_merchants: ['Evil'] }, action: { merchant: 'SQ *EVIL Refunds' } },
  { terms: { blocked_merchants: ['Metro'] } },
  { facts: { directory: directoryAt(1, [entry('BLOCKED')]) } },
  { facts: { directory: directoryAt(1, [entry('BLOCKED')]) }, action: { merchant: 'SQ *METRO' } },
  { terms: { allowed_merchants: ['Metro'], on_other_merchants: 'DENY' as const } },
  { terms: { allowed_merchants: ['JSTOR', 'Statista'], on_other_merchants: 'DENY' as const } },
  { terms: { allowed_payees: [{ payee_id: 'iban:DE1' }] }, action: { payee_id: 'iban:DE1' } },
  { terms: { allowed_payees: [{ payee_id: 'iban:DE1', merchant: 'JSTOR' }] } },
  { terms: { allowed_payees: [{ payee_id: 'iban:DE1', merchant: 'Metro' }] } },
  {
    terms: { allowed_payees: ['iban:DE1', 'iban:DE2'].map((payee_id) => ({ payee_id, merchant: 'Metro' })) },
    action: { payee_id: 'iban:DE3' },
  },

  { terms: office },
  { terms: { ...office, ...TODAY }, facts: { now_ms: NOW_MS + 8 * 3_600_000 } },
  { terms: { active_hours: [{ days: [], from: '02:00', to: '02:30' }] } },

  TWICE,
  { ...TWICE, used: ago(0) },
  { ...TWICE, used: ago(60) },
  { ...TWICE, used: ago(180) },
  { ...TWICE, used: { count: 1 } },

  { terms: { per_transaction_limit_minor: 200_000 } },
  { terms: { per_transaction_limit_minor: 100_000 } },
  { terms: { per_transaction_limit_minor: 100_000 }, request: limitable },

  { terms: velocity({ merchants: ['JSTOR'] }) },
  { terms: velocity({ action_types: ['subscription'] }) },
  { terms: velocity({ per: 'PAYEE', on_exceeded: 'REVIEW' }) },
  { terms: velocity({ per: 'PAYEE' }) },
  { terms: velocity({ window: 'WEEK', per: 'PAYEE' }), action: { payee_id: 'iban:DE1' } },
  { terms: velocity({ window: 'MONTH', per: 'MERCHANT' }) },
  { terms: velocity({}), used: { amount_minor: 400_000 } },
  { terms: velocity({}), used: { amount_minor: 500_000 } },
  { terms: velocity({}), used: { amount_minor: 400_000 }, request: limitable },
  { terms: velocity(ROLLING), used: { amount_minor: 400_000 } },
  { terms: counted({}) },
  { terms: counted({ window: 'WEEK' }) },
  { terms: counted({ window: 'MONTH' }), used: {} },
  { terms: counted({ window: 'ROLLING', window_seconds: 3_600 }), used: {} },

  { terms: { monthly_budget_minor: 100_000 } },
  {
    terms: { monthly_budget_minor: 200_000 },
    facts: { budget: { held_minor: 0, committed_minor: 200_000 } },
  },
  { terms: { monthly_budget_minor: 100_000 }, request: limitable },
  { facts: { budget: { held_minor: Number.MAX_SAFE_INTEGER - 5, committed_minor: 0 } } },
  { facts: { budget: { held_minor: Number.MAX_SAFE_INTEGER - 5, committed_minor: 0 } }, request: limitable },

  budget('MONTH', 0),
  budget('TOTAL', 0),
  budget('MONTH', 500_000),
  budget('MONTH', 600_000),
  { ...budget('MONTH', 500_000), request: limitable },
  budget('MONTH', 0, { status: 'frozen' }),

  { terms: { allowance_required: true } },
  allowance(),
  allowance({ period: 'MONTH' }),
  allowance({ status: 'REQUESTED', decide_by: '2026-12-01T00:00:00.000Z' }),
  allowance({ status: 'DENIED', decided: '{"at":"2026-11-20T08:00:00.000Z"}' }),
  allowance({ status: 'REVOKED', revoked: '{"at":"2026-11-20T08:00:00.000Z"}' }),
  allowance({ expires_at: '2026-11-20T08:00:00.000Z' }),
  allowance({ currency: 'USD' }),
  allowance({}, { merchants: ['JSTOR'] }),
  allowance({}, { payee_ids: ['iban:DE1'] }),
  allowance({}, { action_types: ['subscription'] }),
  allowance({ path: ['alw_1'] }, { through: 'alw_2' }),
  allowance({ max_count: 0 }),
  allowance({ per_spend_limit_minor: 100_000 }),
  { ...allowance({ per_spend_limit_minor: 100_000 }), request: limitable },

  { terms: { per_transaction_limit_minor: 100_000 }, request: { ...limitable, min_amount_minor: 120_000 } },

  { terms: { on_new_merchant: 'REVIEW' as const } },
  {
    terms: { on_new_merchant: 'REVIEW' as const },
    facts: { is_known_merchant: false, directory: directoryAt(1, [entry('ALLOWED')]) },
  },
  { terms: { on_new_merchant: 'REVIEW' as const }, facts: { is_known_merchant: false } },
  {
    terms: { on_new_merchant: 'DENY' as const },
    action: { payee_id: 'iban:DE1' },
    facts: { is_known_merchant: false },
  },
  ...[100_000, 200_000].map((new_merchant_threshold_minor) => ({
    terms: { on_new_merchant: 'REVIEW' as const, new_merchant_threshold_minor },
    facts: { is_known_merchant: false },
  })),

  {
    terms: { model_usage: {}, on_new_merchant: 'DENY' as const, duplicate_window_seconds: 600 },
    action: { type: 'model_usage', payee_id: 'model:openai' },
  },
  { terms: { review_threshold_minor: 200_000 } },
  { terms: { review_threshold_minor: 100_000 } },
  {
    terms: { review_threshold_minor: 100_000 },
    facts: {
      answers_ahead: {
        mayAnswer: () => true,
        standing: allowance({}, { answers: ['REVIEW_THRESHOLD_EXCEEDED'] }).facts.allowances,
      },
    },
  },
].map(factsOf);

/** Remedies that between them make every sentence of one. */
export const REMEDY_INPUTS: readonly Remedy[] = [
  { type: 'REDUCE_AMOUNT', max_amount_minor: 100_000, clears: [], then: 'ALLOW' },
  { type: 'RETRY_AT', at: '2026-12-01T00:00:00.000Z', clears: [], then: 'REVIEW' },
  { type: 'USE_CURRENCY', currency: 'USD', clears: [], then: 'ALLOW' },
  { type: 'CHOOSE_OTHER_MERCHANT', clears: [], then: 'ALLOW' },
  { type: 'REQUEST_ALLOWANCE', amount_minor: 100_000, clears: [], then: 'ALLOW' },
  { type: 'WAIT_FOR_REVIEW', expires_at: null, clears: [], then: 'ALLOW' },
  { type: 'ASK_OPERATOR', clears: [], then: 'REVIEW' },
];
