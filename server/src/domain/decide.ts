import { formatMoney } from '../values/money.ts';
import type { Assessment } from './assessment.ts';
import type { DecisionKind, ReasonCode, StageFinding, StageOutcome } from './decisions.ts';
import type { SpendRequest } from './spends.ts';
import { type DecideFacts, judgeStages } from './stages.ts';

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
    purpose: assessment ?? NO_PURPOSE,
  };
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
