import type { Authority } from '@purser/contract/authority';
import type { Remedy, SpendRequest } from '@purser/contract/decisions';
import type { CountersOf, LoadedCounter, SpendCounter } from '@purser/rules/policy/counters';
import type { Verdict as Decided } from '@purser/rules/policy/decide';
import type { DecideFacts } from '@purser/rules/policy/stage';
import type { AuthorityRequest, DecisionRequest } from '../types.ts';
import type { Verdict } from './rule.ts';
import { countersOf, decide, ofDuplicates, remediesOf, smallerAmountOf } from './rules.ts';

/** Purpose is not assessed: the rules are given every spend as aligned with it. */
export const ASSESSMENT = {
  assessment: 'PURPOSE_ALIGNED',
  confidence: 1,
  method: 'fake',
  rationale: 'The fake does not assess purpose.',
  evidence: [],
} as const;

/** A verdict, and its remedies once the time of the review is known. */
export interface Judged {
  verdict: Decided;
  remedies(review_expires_at: string | null): readonly Remedy[];
}

/**
 * The verdict of the policy. A smaller amount is offered instead of a denied one only if it repeats no earlier spend, so its
 * counters are loaded, too.
 */
export function judgedByPolicy(
  facts: DecideFacts & { authority: Authority },
  agent_id: string,
  load: (counters: CountersOf<SpendCounter>) => CountersOf<LoadedCounter>,
): Judged {
  const verdict = decide(facts);
  const { authority, request } = facts;
  const amount_minor =
    authority.duplicate_window_seconds === undefined ? null : smallerAmountOf(facts, verdict);
  if (amount_minor === null) return judged(facts, verdict);
  const counters = countersOf(authority, agent_id, { ...request.action, amount_minor });
  const duplicates_of = new Map([[amount_minor, load(ofDuplicates(counters))]]);
  return judged({ ...facts, duplicates_of }, verdict);
}

const judged = (facts: DecideFacts, verdict: Decided): Judged => ({
  verdict,
  remedies: (review_expires_at) => remediesOf(facts, verdict, review_expires_at),
});

const REASONS = { ALLOW: 'WITHIN_AUTHORITY', REVIEW: 'PURPOSE_UNCLEAR', DENY: 'MERCHANT_BLOCKED' } as const;

/** The verdict of a test's own rule, which no stage of the policy has judged. */
export function judgedByRule({ action }: DecisionRequest, verdict: Exclude<Verdict, string>): Judged {
  const { decision, reason_code = REASONS[verdict.decision] } = verdict;
  const authorized = decision === 'ALLOW' ? (verdict.authorized_amount_minor ?? action.amount_minor) : 0;
  const assessment = decision === 'REVIEW' ? 'PURPOSE_UNCLEAR' : ASSESSMENT.assessment;
  return {
    verdict: {
      decision,
      reason_code,
      reason_codes: [reason_code],
      authorized_amount_minor: authorized,
      held_amount_minor: decision === 'REVIEW' ? action.amount_minor : authorized,
      policy_trace: [],
      explanation: verdict.explanation ?? `The fake decided ${decision}.`,
      purpose: { ...ASSESSMENT, assessment, evidence: [] },
    },
    remedies: (expires_at) => {
      const change = { clears: [reason_code], then: 'ALLOW' as const };
      if (decision === 'REVIEW') return [{ type: 'WAIT_FOR_REVIEW', expires_at, ...change }];
      return decision === 'DENY' ? [{ type: 'ASK_OPERATOR', ...change }] : [];
    },
  };
}

/** An authority that allows whatever is requested. */
export function openAuthority({ action }: SpendRequest): AuthorityRequest {
  return { purpose: { objective: 'Everything' }, currency: action.currency };
}
