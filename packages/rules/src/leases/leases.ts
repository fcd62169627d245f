import type { Authority } from '@purser/contract/authority';
import type { Action } from '@purser/contract/decisions';
import { BY_AUTHORITY, type Judgement } from '../domain/assessment.ts';
import { PURPOSE } from '../sentences/purpose.ts';

const TYPE = 'model_usage';
const RAIL = 'model:';

/**
 * Returns true if a spend is a lease: money for model calls that a gateway takes in advance and gives out call by call. The
 * authority vouches for it by `model_usage`. Compared exactly, since it lets spends through; its capability pays `model:…` only.
 */
export function isLease(
  { model_usage }: Pick<Authority, 'model_usage'>,
  { type, payee_id }: Pick<Action, 'type' | 'payee_id'>,
): boolean {
  return model_usage !== undefined && type === TYPE && payee_id?.startsWith(RAIL) === true;
}

/**
 * The longest time, in seconds, that a lease may stay unconsumed. A gateway consumes it at once or never: one that was killed in
 * between would hold the money as long as a purchase may take.
 */
export const LEASE_TTL_SECONDS = 60;

/** The judgement of a lease: the authority vouches for it, and there is nothing to ask. */
export function judgementOfLease(): Judgement {
  return {
    assessment: 'PURPOSE_ALIGNED',
    confidence: 1,
    method: BY_AUTHORITY,
    rationale: PURPOSE.model_calls(),
    evidence: [],
    questions: [],
    vouched_by: null,
    is_final: false,
  };
}
