import type { Assessment } from '../purpose/assessment.ts';
import type { Authority } from './authorities.ts';
import { type BudgetCounter, remainingMinor } from './budget.ts';
import type { ReasonCode, Stage, StageFinding } from './decisions.ts';
import { blockedBy } from './merchants.ts';
import { formatMoney } from './money.ts';
import type { SpendRequest } from './spends.ts';

/** What a stage is judged on. `budget` counts the request's currency in the current month. */
export interface StageFacts {
  authority: Authority | null;
  request: SpendRequest;
  budget: BudgetCounter;
  assessment: Assessment | null;
}

/** A finding, and the amount that the next stage goes on with (below the amount it was given when it LIMITs). */
interface Judged {
  finding: StageFinding;
  amount_minor: number;
}

type JudgeStage = (facts: StageFacts, amount_minor: number) => Judged;

const NO_AUTHORITY_DETAIL = 'Not evaluated: the agent has no authority.';

function pass(
  stage: Stage,
  amount_minor: number,
  observed: StageFinding['observed'],
  limit: StageFinding['limit'],
  detail: string,
): Judged {
  return { finding: { stage, outcome: 'PASS', reason_code: null, observed, limit, detail }, amount_minor };
}

function skipped(stage: Stage, amount_minor: number, detail: string): Judged {
  return {
    finding: { stage, outcome: 'SKIPPED', reason_code: null, observed: null, limit: null, detail },
    amount_minor,
  };
}

function found(
  stage: Stage,
  outcome: 'LIMIT' | 'REVIEW' | 'DENY',
  reason_code: ReasonCode,
  amount_minor: number,
  observed: StageFinding['observed'],
  limit: StageFinding['limit'],
  detail: string,
): Judged {
  return { finding: { stage, outcome, reason_code, observed, limit, detail }, amount_minor };
}

/** Amounts of two currencies cannot be compared, so the stages that compare amounts do not pretend to. */
function incomparable(stage: Stage, facts: StageFacts, amount_minor: number): Judged | null {
  const { authority, request } = facts;
  if (authority === null) return skipped(stage, amount_minor, NO_AUTHORITY_DETAIL);
  if (authority.currency !== request.action.currency) {
    return skipped(
      stage,
      amount_minor,
      `Not evaluated: the request is in ${request.action.currency}, the authority in ${authority.currency}.`,
    );
  }
  return null;
}

const judgeAuthority: JudgeStage = ({ authority }, amount_minor) =>
  authority === null
    ? found('authority', 'DENY', 'NO_AUTHORITY', amount_minor, null, null, 'The agent has no authority.')
    : pass('authority', amount_minor, null, null, 'The agent has an authority.');

const judgeCurrency: JudgeStage = ({ authority, request }, amount_minor) => {
  if (authority === null) return skipped('currency', amount_minor, NO_AUTHORITY_DETAIL);
  const { currency } = request.action;
  return currency === authority.currency
    ? pass('currency', amount_minor, currency, authority.currency, `The authority is in ${currency}.`)
    : found(
        'currency',
        'DENY',
        'CURRENCY_NOT_AUTHORIZED',
        amount_minor,
        currency,
        authority.currency,
        `Requested ${formatMoney(amount_minor, currency)}, but the authority is in ${authority.currency}.`,
      );
};

const judgeMerchant: JudgeStage = ({ authority, request }, amount_minor) => {
  if (authority === null) return skipped('merchant', amount_minor, NO_AUTHORITY_DETAIL);
  const blocked = authority.blocked_merchants ?? [];
  const { merchant } = request.action;
  if (blocked.length === 0) return skipped('merchant', amount_minor, 'No merchants are blocked.');
  const entry = blockedBy(merchant, blocked);
  return entry === null
    ? pass('merchant', amount_minor, merchant, null, 'The merchant is not on the blocklist.')
    : found(
        'merchant',
        'DENY',
        'MERCHANT_BLOCKED',
        amount_minor,
        merchant,
        entry,
        `The merchant "${merchant}" is blocked by the entry "${entry}".`,
      );
};

const judgePerTransactionLimit: JudgeStage = (facts, amount_minor) => {
  const stage = 'per_transaction_limit';
  const refused = incomparable(stage, facts, amount_minor);
  if (refused !== null) return refused;
  const limit = facts.authority?.per_transaction_limit_minor;
  if (limit === undefined) return skipped(stage, amount_minor, 'No per-transaction limit is set.');
  const money = (minor: number) => formatMoney(minor, facts.request.action.currency);
  if (amount_minor <= limit) {
    return pass(
      stage,
      amount_minor,
      amount_minor,
      limit,
      `Within the per-transaction limit of ${money(limit)}.`,
    );
  }
  if (facts.request.limitable === true) {
    return found(
      stage,
      'LIMIT',
      'AMOUNT_LIMITED',
      limit,
      amount_minor,
      limit,
      `Requested ${money(amount_minor)}, capped to the per-transaction limit of ${money(limit)}.`,
    );
  }
  return found(
    stage,
    'DENY',
    'PER_TRANSACTION_LIMIT_EXCEEDED',
    amount_minor,
    amount_minor,
    limit,
    `Requested ${money(amount_minor)}, over the per-transaction limit of ${money(limit)}.`,
  );
};

const judgeMonthlyBudget: JudgeStage = (facts, amount_minor) => {
  const stage = 'monthly_budget';
  const refused = incomparable(stage, facts, amount_minor);
  if (refused !== null) return refused;
  const { budget, request } = facts;
  const limit = facts.authority?.monthly_budget_minor ?? null;
  const left = remainingMinor(budget, limit);
  const money = (minor: number) => formatMoney(minor, request.action.currency);
  const used = budget.held_minor + budget.committed_minor;
  const observed = Math.min(used + amount_minor, Number.MAX_SAFE_INTEGER);
  if (amount_minor <= left) {
    return limit === null
      ? skipped(stage, amount_minor, 'No monthly budget is set.')
      : pass(
          stage,
          amount_minor,
          observed,
          limit,
          `Within the monthly budget of ${money(limit)}: ${money(left - amount_minor)} remain.`,
        );
  }
  const bounds =
    limit === null
      ? `${money(left)} that this month's counter can still carry`
      : `${money(left)} left of the monthly budget of ${money(limit)}`;
  const requested = `Requested ${money(request.action.amount_minor)}`;
  if (request.limitable === true && left > 0) {
    return found(
      stage,
      'LIMIT',
      'AMOUNT_LIMITED',
      left,
      observed,
      limit,
      `${requested}, capped to the ${bounds}.`,
    );
  }
  return found(
    stage,
    'DENY',
    'MONTHLY_BUDGET_EXCEEDED',
    amount_minor,
    observed,
    limit,
    `${requested}, over the ${bounds}.`,
  );
};

const judgeMinAmount: JudgeStage = (facts, amount_minor) => {
  const stage = 'min_amount';
  const refused = incomparable(stage, facts, amount_minor);
  if (refused !== null) return refused;
  const { action, limitable, min_amount_minor } = facts.request;
  if (limitable !== true) return skipped(stage, amount_minor, 'The amount may not be capped.');
  const least = min_amount_minor ?? 1;
  const money = (minor: number) => formatMoney(minor, action.currency);
  if (amount_minor === action.amount_minor) {
    return pass(stage, amount_minor, amount_minor, least, 'The amount was not capped.');
  }
  return amount_minor >= least
    ? pass(
        stage,
        amount_minor,
        amount_minor,
        least,
        `The capped amount reaches the least of ${money(least)}.`,
      )
    : found(
        stage,
        'DENY',
        'MIN_AMOUNT_UNREACHABLE',
        amount_minor,
        amount_minor,
        least,
        `At most ${money(amount_minor)} could be authorized, under the lowest acceptable amount of ${money(least)}.`,
      );
};

const judgePurpose: JudgeStage = ({ authority, assessment }, amount_minor) => {
  const stage = 'purpose';
  if (authority === null || assessment === null) return skipped(stage, amount_minor, NO_AUTHORITY_DETAIL);
  const { assessment: verdict, rationale } = assessment;
  if (verdict === 'PURPOSE_UNCLEAR' && authority.on_purpose_unclear === 'ALLOW') {
    return pass(
      stage,
      amount_minor,
      verdict,
      null,
      `${rationale} The authority lets spends pass whose purpose is unclear.`,
    );
  }
  return verdict === 'PURPOSE_ALIGNED'
    ? pass(stage, amount_minor, verdict, null, rationale)
    : found(stage, 'REVIEW', verdict, amount_minor, verdict, null, rationale);
};

const judgeReviewThreshold: JudgeStage = (facts, amount_minor) => {
  const stage = 'review_threshold';
  const refused = incomparable(stage, facts, amount_minor);
  if (refused !== null) return refused;
  const threshold = facts.authority?.review_threshold_minor;
  if (threshold === undefined) return skipped(stage, amount_minor, 'No review threshold is set.');
  const money = (minor: number) => formatMoney(minor, facts.request.action.currency);
  return amount_minor > threshold
    ? found(
        stage,
        'REVIEW',
        'REVIEW_THRESHOLD_EXCEEDED',
        amount_minor,
        amount_minor,
        threshold,
        `${money(amount_minor)} is over the review threshold of ${money(threshold)}.`,
      )
    : pass(
        stage,
        amount_minor,
        amount_minor,
        threshold,
        `Within the review threshold of ${money(threshold)}.`,
      );
};

const JUDGES: readonly JudgeStage[] = [
  judgeAuthority,
  judgeCurrency,
  judgeMerchant,
  judgePerTransactionLimit,
  judgeMonthlyBudget,
  judgeMinAmount,
  judgePurpose,
  judgeReviewThreshold,
];

/**
 * Evaluates every stage in order, none cut short. `amount_minor` is the requested amount after all capping.
 */
export function judgeStages(facts: StageFacts): { findings: StageFinding[]; amount_minor: number } {
  let amount_minor = facts.request.action.amount_minor;
  const findings: StageFinding[] = [];
  for (const judge of JUDGES) {
    const judged = judge(facts, amount_minor);
    findings.push(judged.finding);
    amount_minor = judged.amount_minor;
  }
  return { findings, amount_minor };
}
