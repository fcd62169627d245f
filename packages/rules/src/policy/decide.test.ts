import type { Authority } from '@purser/contract/authority';
import type { Assessment, StageFinding } from '@purser/contract/decisions';
import { REASONS, type ReasonCode } from '@purser/contract/reasons';
import { CONTRACT_STAGES, type STAGES } from '@purser/contract/stages';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PurposeAssessment } from '../domain/assessment.ts';
import type { DecisionKind, StageOutcome } from '../domain/decisions.ts';
import { EMPTY_DIRECTORY } from '../merchants/directory.ts';
import { decide } from './decide.ts';
import type { DecideFacts } from './stage.ts';

const assessed = (assessment: PurposeAssessment): Assessment => ({
  assessment,
  confidence: 1,
  method: 'test',
  rationale: `It is ${assessment}.`,
  evidence: [],
});

/** Decides with that assessment, where there is an authority to assess against. */
const decideAs = (
  facts: Omit<DecideFacts, 'assessment' | 'directory' | 'is_known_merchant' | 'now_ms'>,
  assessment: PurposeAssessment,
) =>
  decide({
    directory: EMPTY_DIRECTORY,
    is_known_merchant: false,
    now_ms: Date.UTC(2026, 10, 22),
    ...facts,
    assessment: facts.authority === null ? null : assessed(assessment),
  });

const purpose = { objective: 'Anything' };

interface Case {
  name: string;
  authority?: Partial<Authority> | null;
  budget?: [held: number, committed: number];
  amount: number;
  currency?: string;
  merchant?: string;
  request?: { limitable?: boolean; min_amount_minor?: number };
  assessment?: PurposeAssessment;
  /** decision, reasons, authorized, held */
  expect: [DecisionKind, ReasonCode[], number, number];
  /** Outcomes of stages worth naming. */
  trace?: Partial<Record<(typeof STAGES)[number], StageOutcome>>;
  explanation?: string;
}

/** Every reason comes from a stage, and is as severe, as its row in the contract says. */
function expectReasonsAsTabled(trace: readonly StageFinding[]): void {
  for (const { stage, outcome, reason_code } of trace) {
    if (reason_code === null) continue;
    const { stages, severities } = REASONS[reason_code] as {
      stages: readonly string[];
      severities: readonly string[];
    };
    expect(stages, reason_code).toContain(stage);
    expect(severities, reason_code).toContain(outcome);
  }
}

/** Behaviour as data, from the wire contract's table of stages. */
const CASES: Case[] = [
  {
    name: 'nothing speaks against it',
    amount: 100,
    expect: ['ALLOW', ['WITHIN_AUTHORITY'], 100, 100],
    explanation: 'USD 1.00 to "Shop" is within the policy.',
  },
  {
    name: 'no authority denies, and the rest is not evaluated',
    authority: null,
    amount: 100,
    expect: ['DENY', ['NO_AUTHORITY'], 0, 0],
    trace: { purpose: 'SKIPPED', monthly_budget: 'SKIPPED' },
  },
  {
    name: 'another currency denies, and amounts are not compared',
    authority: { per_transaction_limit_minor: 1 },
    currency: 'JPY',
    amount: 100,
    expect: ['DENY', ['CURRENCY_NOT_AUTHORIZED'], 0, 0],
    trace: { per_transaction_limit: 'SKIPPED', purpose: 'PASS' },
    explanation: 'Requested JPY 100, but the policy allows only USD.',
  },
  {
    name: 'a blocked merchant denies',
    authority: { blocked_merchants: ['Shop'] },
    merchant: 'SQ *SHOP, Inc.',
    amount: 1,
    expect: ['DENY', ['MERCHANT_BLOCKED'], 0, 0],
  },
  {
    name: 'the limit itself is within the limit',
    authority: { per_transaction_limit_minor: 100 },
    amount: 100,
    expect: ['ALLOW', ['WITHIN_AUTHORITY'], 100, 100],
  },
  {
    name: 'over the limit denies',
    authority: { per_transaction_limit_minor: 10_000 },
    amount: 12_000,
    expect: ['DENY', ['PER_TRANSACTION_LIMIT_EXCEEDED'], 0, 0],
    explanation: 'Requested USD 120.00, over the per-transaction limit of USD 100.00.',
  },
  {
    name: 'over the limit but limitable is capped',
    authority: { per_transaction_limit_minor: 100 },
    request: { limitable: true },
    amount: 120,
    expect: ['ALLOW', ['AMOUNT_LIMITED'], 100, 100],
    trace: { per_transaction_limit: 'LIMIT' },
  },
  {
    name: 'a limit of zero leaves nothing to cap to',
    authority: { per_transaction_limit_minor: 0 },
    request: { limitable: true },
    amount: 1,
    expect: ['DENY', ['MIN_AMOUNT_UNREACHABLE', 'AMOUNT_LIMITED'], 0, 0],
  },
  {
    name: 'the budget itself is within the budget',
    authority: { monthly_budget_minor: 100 },
    budget: [30, 20],
    amount: 50,
    expect: ['ALLOW', ['WITHIN_AUTHORITY'], 50, 50],
  },
  {
    name: 'over the budget denies',
    authority: { monthly_budget_minor: 100 },
    budget: [30, 20],
    amount: 51,
    expect: ['DENY', ['MONTHLY_BUDGET_EXCEEDED'], 0, 0],
    explanation:
      'Requested USD 0.51, over the USD 0.50 left of the monthly budget of USD 1.00. It resets at 2026-12-01 00:00 UTC.',
  },
  {
    name: 'over the budget but limitable is capped to what is left',
    authority: { monthly_budget_minor: 100 },
    budget: [30, 20],
    request: { limitable: true },
    amount: 51,
    expect: ['ALLOW', ['AMOUNT_LIMITED'], 50, 50],
  },
  {
    name: 'limitable with nothing left denies',
    authority: { monthly_budget_minor: 100 },
    budget: [80, 20],
    request: { limitable: true },
    amount: 5,
    expect: ['DENY', ['MONTHLY_BUDGET_EXCEEDED'], 0, 0],
  },
  {
    name: 'a budget overdrawn by late outcomes has nothing left',
    authority: { monthly_budget_minor: 100 },
    budget: [0, 150],
    request: { limitable: true },
    amount: 5,
    expect: ['DENY', ['MONTHLY_BUDGET_EXCEEDED'], 0, 0],
  },
  {
    name: 'capped twice is one reason',
    authority: { per_transaction_limit_minor: 80, monthly_budget_minor: 50 },
    request: { limitable: true },
    amount: 100,
    expect: ['ALLOW', ['AMOUNT_LIMITED'], 50, 50],
    explanation:
      'Requested USD 1.00, reduced to the per-transaction limit of USD 0.80. Requested USD 1.00, reduced to the USD 0.50 left of the monthly budget of USD 0.50.',
  },
  {
    name: 'a capped amount that finds nothing left is explained by what was requested',
    authority: { per_transaction_limit_minor: 80, monthly_budget_minor: 50 },
    budget: [50, 0],
    request: { limitable: true },
    amount: 100,
    expect: ['DENY', ['MONTHLY_BUDGET_EXCEEDED', 'AMOUNT_LIMITED'], 0, 0],
    explanation:
      'Requested USD 1.00, but nothing is left of the monthly budget of USD 0.50. It resets at 2026-12-01 00:00 UTC. Requested USD 1.00, reduced to the per-transaction limit of USD 0.80.',
  },
  {
    name: 'the least acceptable amount is reached exactly',
    authority: { per_transaction_limit_minor: 80 },
    request: { limitable: true, min_amount_minor: 80 },
    amount: 100,
    expect: ['ALLOW', ['AMOUNT_LIMITED'], 80, 80],
  },
  {
    name: 'the least acceptable amount is missed',
    authority: { per_transaction_limit_minor: 80 },
    request: { limitable: true, min_amount_minor: 81 },
    amount: 100,
    expect: ['DENY', ['MIN_AMOUNT_UNREACHABLE', 'AMOUNT_LIMITED'], 0, 0],
    trace: { min_amount: 'DENY' },
  },
  {
    name: 'without capping the least amount does not matter',
    request: { limitable: true, min_amount_minor: 500 },
    amount: 100,
    expect: ['ALLOW', ['WITHIN_AUTHORITY'], 100, 100],
    trace: { min_amount: 'PASS' },
  },
  {
    name: 'a misaligned purpose is reviewed and held',
    amount: 100,
    assessment: 'PURPOSE_MISALIGNED',
    expect: ['REVIEW', ['PURPOSE_MISALIGNED'], 0, 100],
    explanation: 'It is PURPOSE_MISALIGNED.',
  },
  {
    name: 'an unclear purpose is reviewed and held',
    amount: 100,
    assessment: 'PURPOSE_UNCLEAR',
    expect: ['REVIEW', ['PURPOSE_UNCLEAR'], 0, 100],
  },
  {
    name: 'an unclear purpose passes where the authority says so, and the explanation tells',
    authority: { on_purpose_unclear: 'ALLOW' },
    amount: 100,
    assessment: 'PURPOSE_UNCLEAR',
    expect: ['ALLOW', ['WITHIN_AUTHORITY'], 100, 100],
    trace: { purpose: 'PASS' },
    explanation: 'USD 1.00 to "Shop" is within the policy. The policy allows an unclear purpose.',
  },
  {
    name: 'a merchant by the name of a verdict changes no explanation',
    authority: { blocked_merchants: ['Evil'] },
    merchant: 'PURPOSE_UNCLEAR',
    amount: 100,
    expect: ['ALLOW', ['WITHIN_AUTHORITY'], 100, 100],
    explanation: 'USD 1.00 to "PURPOSE_UNCLEAR" is within the policy.',
  },
  {
    name: 'letting unclear spends pass lets no misaligned one pass',
    authority: { on_purpose_unclear: 'ALLOW' },
    amount: 100,
    assessment: 'PURPOSE_MISALIGNED',
    expect: ['REVIEW', ['PURPOSE_MISALIGNED'], 0, 100],
  },
  {
    name: 'letting unclear spends pass moves no limit and no threshold',
    authority: { on_purpose_unclear: 'ALLOW', review_threshold_minor: 50, per_transaction_limit_minor: 99 },
    amount: 100,
    assessment: 'PURPOSE_UNCLEAR',
    expect: ['DENY', ['PER_TRANSACTION_LIMIT_EXCEEDED', 'REVIEW_THRESHOLD_EXCEEDED'], 0, 0],
  },
  {
    name: 'an unclear purpose is reviewed where the authority says REVIEW',
    authority: { on_purpose_unclear: 'REVIEW' },
    amount: 100,
    assessment: 'PURPOSE_UNCLEAR',
    expect: ['REVIEW', ['PURPOSE_UNCLEAR'], 0, 100],
  },
  {
    name: 'an allowed merchant that is blocked is blocked',
    authority: { allowed_merchants: ['Shop'], blocked_merchants: ['Shop'] },
    amount: 100,
    expect: ['DENY', ['MERCHANT_BLOCKED'], 0, 0],
  },
  {
    name: 'the threshold itself needs no review',
    authority: { review_threshold_minor: 100 },
    amount: 100,
    expect: ['ALLOW', ['WITHIN_AUTHORITY'], 100, 100],
  },
  {
    name: 'over the threshold is reviewed',
    authority: { review_threshold_minor: 100 },
    amount: 101,
    expect: ['REVIEW', ['REVIEW_THRESHOLD_EXCEEDED'], 0, 101],
  },
  {
    name: 'the threshold looks at the capped amount',
    authority: { per_transaction_limit_minor: 100, review_threshold_minor: 100 },
    request: { limitable: true },
    amount: 500,
    expect: ['ALLOW', ['AMOUNT_LIMITED'], 100, 100],
  },
  {
    name: 'a capped review holds the capped amount',
    authority: { per_transaction_limit_minor: 100, review_threshold_minor: 50 },
    request: { limitable: true },
    amount: 500,
    expect: ['REVIEW', ['REVIEW_THRESHOLD_EXCEEDED', 'AMOUNT_LIMITED'], 0, 100],
  },
  {
    name: 'DENY comes before REVIEW, and REVIEW before a cap, whatever their stage',
    authority: { blocked_merchants: ['Shop'], per_transaction_limit_minor: 100, review_threshold_minor: 50 },
    request: { limitable: true },
    amount: 500,
    assessment: 'PURPOSE_UNCLEAR',
    expect: [
      'DENY',
      ['MERCHANT_BLOCKED', 'PURPOSE_UNCLEAR', 'REVIEW_THRESHOLD_EXCEEDED', 'AMOUNT_LIMITED'],
      0,
      0,
    ],
  },
  {
    name: 'every stage is evaluated although the first denied',
    authority: { per_transaction_limit_minor: 10, monthly_budget_minor: 20, review_threshold_minor: 5 },
    amount: 100,
    assessment: 'PURPOSE_MISALIGNED',
    expect: [
      'DENY',
      [
        'PER_TRANSACTION_LIMIT_EXCEEDED',
        'MONTHLY_BUDGET_EXCEEDED',
        'PURPOSE_MISALIGNED',
        'REVIEW_THRESHOLD_EXCEEDED',
      ],
      0,
      0,
    ],
  },
  {
    name: 'without a budget the month still has an end: what can be counted exactly',
    budget: [Number.MAX_SAFE_INTEGER - 5, 0],
    amount: 6,
    expect: ['DENY', ['MONTHLY_BUDGET_EXCEEDED'], 0, 0],
  },
  {
    name: 'a currency without minor digits is shown without',
    authority: { currency: 'JPY', per_transaction_limit_minor: 5_000 },
    currency: 'JPY',
    amount: 12_000,
    expect: ['DENY', ['PER_TRANSACTION_LIMIT_EXCEEDED'], 0, 0],
    explanation: 'Requested JPY 12,000, over the per-transaction limit of JPY 5,000.',
  },
  {
    name: 'a currency with three digits is shown with three',
    authority: { currency: 'KWD', per_transaction_limit_minor: 1_250 },
    currency: 'KWD',
    amount: 1_251,
    expect: ['DENY', ['PER_TRANSACTION_LIMIT_EXCEEDED'], 0, 0],
    explanation: 'Requested KWD 1.251, over the per-transaction limit of KWD 1.250.',
  },
];

function factsOf(
  given: Case,
): Omit<DecideFacts, 'assessment' | 'directory' | 'is_known_merchant' | 'now_ms'> {
  const [held_minor, committed_minor] = given.budget ?? [0, 0];
  const action = {
    type: 'purchase',
    merchant: given.merchant ?? 'Shop',
    amount_minor: given.amount,
    currency: given.currency ?? 'USD',
  };
  return {
    authority: given.authority === null ? null : { purpose, currency: 'USD', ...given.authority },
    request: { action, ...given.request },
    budget: { held_minor, committed_minor },
  };
}

describe('cases', () => {
  test.each(CASES)('$name', (given) => {
    const verdict = decideAs(factsOf(given), given.assessment ?? 'PURPOSE_ALIGNED');
    const [decision, reasons, authorized, held] = given.expect;
    expect(verdict).toMatchObject({
      decision,
      reason_code: reasons[0],
      reason_codes: reasons,
      authorized_amount_minor: authorized,
      held_amount_minor: held,
    });
    expectReasonsAsTabled(verdict.policy_trace);
    const outcomes = Object.fromEntries(verdict.policy_trace.map((entry) => [entry.stage, entry.outcome]));
    expect(outcomes).toMatchObject(given.trace ?? {});
    if (given.explanation !== undefined) expect(verdict.explanation).toBe(given.explanation);
  });
});

describe('what holds of every decision', () => {
  const amount = fc.oneof(
    fc.integer({ min: 1, max: 1_000 }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  );
  const limit = fc.option(fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.maxSafeNat()), { nil: undefined });
  const count = fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 0, max: 2 ** 52 }));
  const facts = fc
    .record({
      per_transaction_limit_minor: limit,
      monthly_budget_minor: limit,
      review_threshold_minor: limit,
      held_minor: count,
      committed_minor: count,
      amount_minor: amount,
      limitable: fc.boolean(),
      min_amount_minor: fc.option(amount, { nil: undefined }),
      currency: fc.constantFrom('USD', 'USD', 'USD', 'JPY'),
      bare: fc.integer({ min: 0, max: 9 }),
      assessment: fc.constantFrom<PurposeAssessment>(
        'PURPOSE_ALIGNED',
        'PURPOSE_MISALIGNED',
        'PURPOSE_UNCLEAR',
      ),
    })
    .map((given) => {
      const limits = Object.fromEntries(
        Object.entries(given).filter(
          ([name, value]) =>
            /_minor$/.test(name) && /limit|budget|threshold/.test(name) && value !== undefined,
        ),
      );
      const authority: Authority | null = given.bare === 0 ? null : { purpose, currency: 'USD', ...limits };
      const { limitable, min_amount_minor, amount_minor, currency, held_minor, committed_minor, assessment } =
        given;
      const request = {
        action: { type: 't', merchant: 'm', amount_minor, currency },
        limitable,
        ...(min_amount_minor === undefined ? {} : { min_amount_minor }),
      };
      return {
        facts: { authority, request, budget: { held_minor, committed_minor } },
        assessment,
      };
    });

  const SEVERITY: Record<StageOutcome, number> = { DENY: 3, REVIEW: 2, LIMIT: 1, PASS: 0, SKIPPED: 0 };

  test('the money authorized and held never passes what was asked, a limit, or what is left of the month', () => {
    fc.assert(
      fc.property(facts, ({ facts: given, assessment }) => {
        const verdict = decideAs(given, assessment);
        const { authority, request, budget } = given;
        const { authorized_amount_minor: authorized, held_amount_minor: held } = verdict;
        expect(authorized).toBe(verdict.decision === 'ALLOW' ? held : 0);
        expect(held === 0).toBe(verdict.decision === 'DENY');
        expect(held).toBeLessThanOrEqual(request.action.amount_minor);
        if (held > 0) {
          expect(held).toBeLessThanOrEqual(authority?.per_transaction_limit_minor ?? held);
          const used = BigInt(budget.held_minor) + BigInt(budget.committed_minor) + BigInt(held);
          expect(used <= BigInt(authority?.monthly_budget_minor ?? Number.MAX_SAFE_INTEGER)).toBe(true);
          if (request.limitable)
            expect(held).toBeGreaterThanOrEqual(
              Math.min(request.min_amount_minor ?? 1, request.action.amount_minor),
            );
          else expect(held).toBe(request.action.amount_minor);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('every stage appears once and in order, the strictest decides, reasons are sorted and never repeated', () => {
    fc.assert(
      fc.property(facts, ({ facts: given, assessment }) => {
        const verdict = decideAs(given, assessment);
        expect(verdict.policy_trace.map((entry) => entry.stage)).toEqual([...CONTRACT_STAGES]);
        expectReasonsAsTabled(verdict.policy_trace);
        const found = verdict.policy_trace.filter((entry) => entry.reason_code !== null);
        const worst = Math.max(0, ...found.map((entry) => SEVERITY[entry.outcome]));
        expect(verdict.decision).toBe(worst === 3 ? 'DENY' : worst === 2 ? 'REVIEW' : 'ALLOW');
        expect(new Set(verdict.reason_codes).size).toBe(verdict.reason_codes.length);
        expect(verdict.reason_code).toBe(verdict.reason_codes[0]);
        const severities = verdict.reason_codes.map(
          (code) => SEVERITY[found.find((entry) => entry.reason_code === code)?.outcome ?? 'PASS'],
        );
        expect(severities).toEqual([...severities].sort((a, b) => b - a));
        expect(verdict.explanation).not.toBe('');
        expect(decideAs(given, assessment)).toEqual(verdict);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a worse assessment never raises a decision', () => {
    const rank = { ALLOW: 0, REVIEW: 1, DENY: 2 };
    fc.assert(
      fc.property(facts, ({ facts: given }) => {
        const aligned = decideAs(given, 'PURPOSE_ALIGNED');
        const unclear = decideAs(given, 'PURPOSE_UNCLEAR');
        expect(rank[unclear.decision]).toBeGreaterThanOrEqual(rank[aligned.decision]);
        expect(unclear.held_amount_minor).toBe(aligned.held_amount_minor);
      }),
    );
  });

  test('a month of spends never overspends, whatever is asked in whatever order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5_000 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 900 }), fc.boolean()), { maxLength: 40 }),
        (monthly_budget_minor, spends) => {
          const holds: number[] = [];
          const total = () => holds.reduce((sum, held) => sum + held, 0);
          for (const [amount_minor, limitable] of spends) {
            const left = monthly_budget_minor - total();
            const expected = amount_minor <= left ? amount_minor : limitable && left > 0 ? left : 0;
            const request = {
              action: { type: 't', merchant: 'm', amount_minor, currency: 'USD' },
              limitable,
            };
            const authority = { purpose, currency: 'USD', monthly_budget_minor };
            const verdict = decideAs(
              { authority, request, budget: { held_minor: total(), committed_minor: 0 } },
              'PURPOSE_ALIGNED',
            );
            expect(verdict.held_amount_minor).toBe(expected);
            holds.push(verdict.held_amount_minor);
            expect(total()).toBeLessThanOrEqual(monthly_budget_minor);
          }
        },
      ),
    );
  });
});
