import type { Decision } from '@purser/contract/decisions';
import { reviewReasons } from '@purser/contract/reviews/choices';
import { requiredApprovals } from '../domain/decision-states.ts';
import { needsSignature } from './signed-tiers.ts';

/** The verdicts that one click may give. */
export interface Clickable {
  allow: boolean;
  deny: boolean;
}

/** Returns the verdicts that a click can give: one unsigned approval must be enough, and the reason follow from the cause. */
export function clickable(decision: Decision): Clickable {
  const required = requiredApprovals(decision);
  const signed = needsSignature(decision);
  const { default_allow, default_deny } = reviewReasons(decision, { required, signed });
  const is_simple = required === 1 && !signed && decision.mode === 'ENFORCE';
  return { allow: is_simple && default_allow !== null, deny: is_simple && default_deny !== null };
}
