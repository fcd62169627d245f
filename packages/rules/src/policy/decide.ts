import type { Authority } from '@purser/contract/authority';
import type { Assessment, Decision, SpendRequest, StageFinding } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import { CONTRACT_STAGES, STAGES, type Stage } from '@purser/contract/stages';
import { storedAssessment } from '../domain/assessment.ts';
import type { DecisionKind, PublishedVerdict, StageOutcome } from '../domain/decisions.ts';
import { POLICY } from '../sentences/policy.ts';
import { formatMoney } from '../values/money.ts';
import { judgeAllowances } from './allowances.ts';
import { isBoundToList, judgeMerchantAllowlist } from './allowed-merchants.ts';
import {
  judgeMinAmount,
  judgeMonthlyBudget,
  judgePerTransactionLimit,
  judgeReviewThreshold,
} from './amounts.ts';
import { judgeDuplicates } from './duplicates.ts';
import { judgeMerchant } from './merchants.ts';
import { newMerchantJudges } from './new-merchant.ts';
import { judgePurpose } from './purpose.ts';
import { judgeSharedBudgets } from './shared-budgets.ts';
import { type DecideFacts, type Judge, type JudgedBy, type JudgesOf, NO_JUDGES, skipped } from './stage.ts';
import { answerAhead } from './standing-approvals.ts';
import { judgeActionType, judgeActiveHours, judgeCurrency, judgeValidity } from './terms.ts';
import { judgeVelocity } from './velocity.ts';

/** The combined result of the stages. Amounts are minor units of the request's currency. */
export interface Verdict extends PublishedVerdict {
  /** The amount held against the budget: after capping, 0 on DENY. */
  held_amount_minor: number;
  /** The standing approval that was used in place of a review. */
  standing_approval?: NonNullable<Decision['standing_approval']>;
}

const SEVERITY: Record<StageOutcome, number> = { DENY: 3, REVIEW: 2, LIMIT: 1, PASS: 0, SKIPPED: 0 };

/** The `purpose` of a verdict without an authority. */
const noPurpose = (): Assessment => ({
  assessment: 'PURPOSE_UNCLEAR',
  confidence: 0,
  method: 'none',
  rationale: POLICY.no_purpose(),
  evidence: [],
});

/**
 * Decides a spend: every stage is evaluated and the most severe finding wins, DENY over REVIEW over ALLOW.
 * Pure: the same facts give the same verdict.
 */
export function decide(facts: DecideFacts): Verdict {
  return verdictOf(facts, judgeStages(facts));
}

/** Derives the verdict from the results of the stages. Some of them may be answered ahead. */
export function verdictOf(facts: DecideFacts, { judged: found, amount_minor }: AllFound): Verdict {
  const { request, assessment } = facts;
  const { judged, ...answered } = answerAhead(facts, found, amount_minor);
  const findings = judged.map(findingOf);

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
    purpose: storedAssessment(assessment ?? noPurpose()),
    ...answered,
  };
}

/** The results of all stages, in order. */
interface AllFound {
  judged: readonly JudgedBy[];
  /** The requested amount after all caps. */
  amount_minor: number;
}

/** Evaluates all stages in order, whatever they find; those of `without` are left out. */
export function judgeStages(facts: DecideFacts, without: ReadonlySet<Stage> = NO_STAGES): AllFound {
  const { authority } = facts;
  let { amount_minor } = facts.request.action;
  if (authority === null) return { judged: withoutAuthority(), amount_minor };
  const judged: JudgedBy[] = [];
  for (const stage of STAGES) {
    if (without.has(stage)) continue;
    for (const judge of JUDGES[stage](authority, facts)) {
      const found = judge(authority, facts, amount_minor);
      if (found.outcome === 'LIMIT') amount_minor = Math.min(amount_minor, found.capped_minor);
      judged.push({ stage, found });
    }
  }
  return { judged, amount_minor };
}

const NO_STAGES: ReadonlySet<Stage> = new Set();

function findingOf({ stage, found }: JudgedBy): StageFinding {
  const { name, outcome, observed = null, limit = null, detail } = found;
  const reason_code = 'reason_code' in found ? found.reason_code : null;
  return name === undefined
    ? { stage, outcome, reason_code, observed, limit, detail }
    : { stage, name, outcome, reason_code, observed, limit, detail };
}

/** One or two findings, the strictest ones; without any, that the spend is within the policy. */
function explain(request: SpendRequest, reasons: StageFinding[], findings: StageFinding[]): string {
  const sentences = [...new Set(reasons.map((finding) => finding.detail))].slice(0, 2);
  if (sentences.length > 0) return sentences.join(' ');
  const { amount_minor, currency, merchant } = request.action;
  const budget = findings.find((finding) => finding.stage === 'monthly_budget' && finding.outcome === 'PASS');
  const left = budget === undefined ? undefined : Number(budget.limit) - Number(budget.observed);
  const is_unclear = findings.some(
    (finding) => finding.stage === 'purpose' && finding.observed === 'PURPOSE_UNCLEAR',
  );
  return [
    POLICY.within(formatMoney(amount_minor, currency), merchant),
    ...(left === undefined ? [] : [POLICY.budget_left(formatMoney(left, currency))]),
    ...(is_unclear ? [POLICY.unclear_allowed()] : []),
  ].join(' ');
}

/** The judge of a stage that is in every trace. */
const always = (judge: Judge): JudgesOf => {
  const one = [judge];
  return () => one;
};

/** The judge of a stage that is in the trace where the authority speaks of it. */
const where = (speaks: (authority: Authority) => boolean, judge: Judge): JudgesOf => {
  const one = [judge];
  return (authority) => (speaks(authority) ? one : NO_JUDGES);
};

const JUDGES: Record<Stage, JudgesOf> = {
  authority: always(() => ({ outcome: 'PASS', detail: POLICY.has_policy() })),
  validity: where(
    ({ valid_from, valid_until }) => valid_from !== undefined || valid_until !== undefined,
    judgeValidity,
  ),
  currency: always(judgeCurrency),
  action_type: where(
    ({ allowed_action_types: allowed, review_action_types: reviewed }) =>
      allowed !== undefined || reviewed !== undefined,
    judgeActionType,
  ),
  merchant: always(judgeMerchant),
  merchant_allowlist: where(isBoundToList, judgeMerchantAllowlist),
  active_hours: where(({ active_hours }) => active_hours !== undefined, judgeActiveHours),
  duplicate: judgeDuplicates,
  per_transaction_limit: always(judgePerTransactionLimit),
  velocity: judgeVelocity,
  monthly_budget: always(judgeMonthlyBudget),
  shared_budget: judgeSharedBudgets,
  allowance: judgeAllowances,
  min_amount: always(judgeMinAmount),
  purpose: always(judgePurpose),
  new_merchant: newMerchantJudges,
  review_threshold: always(judgeReviewThreshold),
};

const withoutAuthority = (): JudgedBy[] =>
  CONTRACT_STAGES.map((stage) => ({
    stage,
    found:
      stage === 'authority'
        ? { outcome: 'DENY', reason_code: 'NO_AUTHORITY', detail: POLICY.no_policy() }
        : skipped(POLICY.not_checked()),
  }));
