import { blockedBy } from '../merchants/blocklist.ts';
import { blockingEntry, type Directory, listedBy } from '../merchants/directory.ts';
import { formatMoney } from '../values/money.ts';
import { type Assessment, storedAssessment } from './assessment.ts';
import type { Authority } from './authorities.ts';
import { type BudgetCounter, remainingMinor } from './budget.ts';
import {
  type DecisionKind,
  type ReasonCode,
  STAGES,
  type Stage,
  type StageFinding,
  type StageOutcome,
} from './decisions.ts';
import type { SpendRequest } from './spends.ts';

/** Everything that a decision depends on. */
export interface DecideFacts {
  authority: Authority | null;
  request: SpendRequest;
  /** The merchants listed for the agent, as they stand. */
  directory: Directory;
  /** The counter of the request's currency in the current month. */
  budget: BudgetCounter;
  /** Made for the purpose of `authority`; null exactly where there is no authority. */
  assessment: Assessment | null;
}

/** What the stages together say. Amounts are minor units of the request's currency. */
export interface Verdict {
  decision: DecisionKind;
  reason_code: ReasonCode;
  reason_codes: ReasonCode[];
  /** What may be spent now: 0 on DENY and on REVIEW. */
  authorized_amount_minor: number;
  /** What is held against the budget: the amount after capping, 0 on DENY. */
  held_amount_minor: number;
  policy_trace: StageFinding[];
  explanation: string;
  purpose: Assessment;
}

const SEVERITY: Record<StageOutcome, number> = { DENY: 3, REVIEW: 2, LIMIT: 1, PASS: 0, SKIPPED: 0 };

/** The `purpose` of a verdict without an authority. */
const NO_PURPOSE: Assessment = {
  assessment: 'PURPOSE_UNCLEAR',
  confidence: 0,
  method: 'none',
  rationale: 'The agent has no authority, so there is no purpose to judge against.',
  evidence: [],
};

/**
 * Decides a spend: every stage is evaluated and the most severe finding wins, DENY over REVIEW over ALLOW.
 * Pure: the same facts give the same verdict.
 */
export function decide(facts: DecideFacts): Verdict {
  const { request, assessment } = facts;
  const { findings, amount_minor } = judgeStages(facts);

  // Array.prototype.sort is stable, so findings of one severity keep the order of the stages.
  const reasons = findings
    .filter((finding) => finding.reason_code !== null)
    .sort((a, b) => SEVERITY[b.outcome] - SEVERITY[a.outcome]);
  const strictest = reasons[0]?.outcome;
  const decision: DecisionKind = strictest === 'DENY' || strictest === 'REVIEW' ? strictest : 'ALLOW';
  const reason_codes = [...new Set(reasons.map((finding) => finding.reason_code as ReasonCode))];
  if (reason_codes.length === 0) reason_codes.push('WITHIN_AUTHORITY');

  return {
    decision,
    reason_code: reason_codes[0] as ReasonCode,
    reason_codes,
    authorized_amount_minor: decision === 'ALLOW' ? amount_minor : 0,
    held_amount_minor: decision === 'DENY' ? 0 : amount_minor,
    policy_trace: findings,
    explanation: explain(request, reasons, findings),
    purpose: storedAssessment(assessment ?? NO_PURPOSE),
  };
}

/** Evaluates all stages in order, whatever they find. `amount_minor` is the requested amount after all capping. */
function judgeStages(facts: DecideFacts): { findings: StageFinding[]; amount_minor: number } {
  let { amount_minor } = facts.request.action;
  const findings = STAGES.map((stage): StageFinding => {
    const found = JUDGES[stage](facts, amount_minor);
    if (found.outcome === 'LIMIT') amount_minor = found.capped_minor;
    const { outcome, observed = null, limit = null, detail } = found;
    const reason_code = 'reason_code' in found ? found.reason_code : null;
    return { stage, outcome, reason_code, observed, limit, detail };
  });
  return { findings, amount_minor };
}

/** One or two sentences: the strictest findings, or that the spend is within the authority. */
function explain(request: SpendRequest, reasons: StageFinding[], findings: StageFinding[]): string {
  const sentences = [...new Set(reasons.map((finding) => finding.detail))].slice(0, 2);
  if (sentences.length > 0) return sentences.join(' ');
  const { amount_minor, currency, merchant } = request.action;
  const budget = findings.find((finding) => finding.stage === 'monthly_budget' && finding.outcome === 'PASS');
  const left = budget === undefined ? undefined : Number(budget.limit) - Number(budget.observed);
  const within = `${formatMoney(amount_minor, currency)} to ${merchant} is within the agent's authority`;
  const remaining =
    left === undefined ? '' : `; ${formatMoney(left, currency)} of this month's budget remain`;
  const is_unclear = findings.some(
    (finding) => finding.stage === 'purpose' && finding.observed === 'PURPOSE_UNCLEAR',
  );
  return `${within}${remaining}.${is_unclear ? ' Its purpose is unclear, which the authority lets pass.' : ''}`;
}

/** What a stage found. Fields that are left out are null in the trace. */
type Found = { observed?: StageFinding['observed']; limit?: StageFinding['limit']; detail: string } & (
  | { outcome: 'PASS' | 'SKIPPED' }
  | { outcome: 'REVIEW' | 'DENY'; reason_code: ReasonCode }
  /** The following stages judge `capped_minor` instead of the requested amount. */
  | { outcome: 'LIMIT'; reason_code: ReasonCode; capped_minor: number }
);

/** `amount_minor`: the amount after capping by earlier stages, in minor units of the request's currency. */
type JudgeStage = (facts: DecideFacts, amount_minor: number) => Found;
type JudgeUnder = (authority: Authority, facts: DecideFacts, amount_minor: number) => Found;

const skipped = (detail: string): Found => ({ outcome: 'SKIPPED', detail });

/** A stage that is skipped where there is no authority. */
const underAuthority =
  (judge: JudgeUnder): JudgeStage =>
  (facts, amount_minor) =>
    facts.authority === null
      ? skipped('Not evaluated: the agent has no authority.')
      : judge(facts.authority, facts, amount_minor);

/** A stage that compares amounts. It is skipped where the request is in another currency than the authority. */
const inItsCurrency = (judge: JudgeUnder): JudgeStage =>
  underAuthority((authority, facts, amount_minor) => {
    const { currency } = facts.request.action;
    return authority.currency === currency
      ? judge(authority, facts, amount_minor)
      : skipped(`Not evaluated: the request is in ${currency}, the authority in ${authority.currency}.`);
  });

const judgeCurrency: JudgeUnder = (authority, { request }, amount_minor) => {
  const { currency: observed } = request.action;
  const { currency: limit } = authority;
  if (observed === limit)
    return { outcome: 'PASS', observed, limit, detail: `The authority is in ${limit}.` };
  return {
    outcome: 'DENY',
    reason_code: 'CURRENCY_NOT_AUTHORIZED',
    observed,
    limit,
    detail: `Requested ${formatMoney(amount_minor, observed)}, but the authority is in ${limit}.`,
  };
};

const judgeMerchant: JudgeUnder = ({ blocked_merchants = [] }, { request, directory }) => {
  const { merchant: observed } = request.action;
  if (blocked_merchants.length === 0 && directory.blocked.length === 0)
    return skipped('No merchants are blocked.');
  const blocked = (limit: string, by: string): Found => ({
    outcome: 'DENY',
    reason_code: 'MERCHANT_BLOCKED',
    observed,
    limit,
    detail: `The merchant "${observed}" is blocked by the entry "${limit}"${by}.`,
  });
  const of_authority = blockedBy(observed, blocked_merchants);
  if (of_authority !== null) return blocked(of_authority, '');
  const entry = blockingEntry(directory, observed);
  return entry === null
    ? { outcome: 'PASS', observed, detail: 'The merchant is not on the blocklist.' }
    : blocked(entry.merchant, `, ${listedBy(entry)}`);
};

const judgePerTransactionLimit: JudgeUnder = (authority, { request }, observed) => {
  const limit = authority.per_transaction_limit_minor;
  if (limit === undefined) return skipped('No per-transaction limit is set.');
  const money = (minor: number) => formatMoney(minor, authority.currency);
  const the_limit = `the per-transaction limit of ${money(limit)}`;
  if (observed <= limit) return { outcome: 'PASS', observed, limit, detail: `Within ${the_limit}.` };
  const requested = `Requested ${money(observed)}`;
  return request.limitable === true
    ? {
        outcome: 'LIMIT',
        reason_code: 'AMOUNT_LIMITED',
        capped_minor: limit,
        observed,
        limit,
        detail: `${requested}, capped to ${the_limit}.`,
      }
    : {
        outcome: 'DENY',
        reason_code: 'PER_TRANSACTION_LIMIT_EXCEEDED',
        observed,
        limit,
        detail: `${requested}, over ${the_limit}.`,
      };
};

const judgeMonthlyBudget: JudgeUnder = (authority, { request, budget }, amount_minor) => {
  const limit = authority.monthly_budget_minor ?? null;
  const left = remainingMinor(budget, limit);
  const money = (minor: number) => formatMoney(minor, authority.currency);
  const used = budget.held_minor + budget.committed_minor;
  const observed = Math.min(used + amount_minor, Number.MAX_SAFE_INTEGER);
  if (amount_minor <= left) {
    if (limit === null) return skipped('No monthly budget is set.');
    const remain = `${money(left - amount_minor)} remain`;
    const detail = `Within the monthly budget of ${money(limit)}: ${remain}.`;
    return { outcome: 'PASS', observed, limit, detail };
  }
  const bounds =
    limit === null
      ? `the ${money(left)} that this month's counter can still carry`
      : `the ${money(left)} left of the monthly budget of ${money(limit)}`;
  const requested = `Requested ${money(request.action.amount_minor)}`;
  return request.limitable === true && left > 0
    ? {
        outcome: 'LIMIT',
        reason_code: 'AMOUNT_LIMITED',
        capped_minor: left,
        observed,
        limit,
        detail: `${requested}, capped to ${bounds}.`,
      }
    : {
        outcome: 'DENY',
        reason_code: 'MONTHLY_BUDGET_EXCEEDED',
        observed,
        limit,
        detail: `${requested}, over ${bounds}.`,
      };
};

const judgeMinAmount: JudgeUnder = ({ currency }, { request }, observed) => {
  const { action, limitable, min_amount_minor: limit = 1 } = request;
  if (limitable !== true) return skipped('The amount may not be capped.');
  if (observed === action.amount_minor) {
    return { outcome: 'PASS', observed, limit, detail: 'The amount was not capped.' };
  }
  const money = (minor: number) => formatMoney(minor, currency);
  if (observed >= limit) {
    const detail = `The capped amount reaches the least of ${money(limit)}.`;
    return { outcome: 'PASS', observed, limit, detail };
  }
  return {
    outcome: 'DENY',
    reason_code: 'MIN_AMOUNT_UNREACHABLE',
    observed,
    limit,
    detail: `At most ${money(observed)} could be authorized, under the lowest acceptable amount of ${money(limit)}.`,
  };
};

const judgePurpose: JudgeUnder = ({ on_purpose_unclear }, { assessment }) => {
  const { assessment: observed, rationale } = assessment as Assessment;
  if (observed === 'PURPOSE_ALIGNED') return { outcome: 'PASS', observed, detail: rationale };
  if (observed === 'PURPOSE_UNCLEAR' && on_purpose_unclear === 'ALLOW') {
    const detail = `${rationale} The authority lets spends pass whose purpose is unclear.`;
    return { outcome: 'PASS', observed, detail };
  }
  return { outcome: 'REVIEW', reason_code: observed, observed, detail: rationale };
};

const judgeReviewThreshold: JudgeUnder = ({ currency, review_threshold_minor: limit }, _facts, observed) => {
  if (limit === undefined) return skipped('No review threshold is set.');
  const money = (minor: number) => formatMoney(minor, currency);
  const threshold = `the review threshold of ${money(limit)}`;
  if (observed <= limit) return { outcome: 'PASS', observed, limit, detail: `Within ${threshold}.` };
  return {
    outcome: 'REVIEW',
    reason_code: 'REVIEW_THRESHOLD_EXCEEDED',
    observed,
    limit,
    detail: `${money(observed)} is over ${threshold}.`,
  };
};

const JUDGES: Record<Stage, JudgeStage> = {
  authority: ({ authority }) =>
    authority === null
      ? { outcome: 'DENY', reason_code: 'NO_AUTHORITY', detail: 'The agent has no authority.' }
      : { outcome: 'PASS', detail: 'The agent has an authority.' },
  currency: underAuthority(judgeCurrency),
  merchant: underAuthority(judgeMerchant),
  per_transaction_limit: inItsCurrency(judgePerTransactionLimit),
  monthly_budget: inItsCurrency(judgeMonthlyBudget),
  min_amount: inItsCurrency(judgeMinAmount),
  purpose: underAuthority(judgePurpose),
  review_threshold: inItsCurrency(judgeReviewThreshold),
};
