import type { Decision } from '@purser/contract/decisions';
import type { routes } from '@purser/contract/routes/reviews/reviews';
import type { Caller } from '@purser/rules/domain/keys';
import type pg from 'pg';
import {
  type CreateReviewInput,
  NO_POLICY,
  type ReadTier,
  type Remembering,
} from '../../engine/commands/reviews/review-case.ts';
import { readDecision } from '../../engine/questions/answers-of-records.ts';
import { loadTopmostKeys } from '../../engine/storage/api-keys.ts';
import { getDecision } from '../../engine/storage/decisions.ts';
import type { CallOf } from '../http/route.ts';

/** The part of a request that says who reviews what, and how. */
type ReviewCall = Pick<CallOf<typeof routes.createReview>, 'body' | 'caller' | 'params'>;

/** The listing that a review asks for; null without one, and for a decision that does not exist. */
function rememberingOf(
  { body: { remember }, caller }: ReviewCall,
  decision: Decision | undefined,
): Remembering | null {
  if (remember === undefined || decision === undefined) return null;
  return { remember, agent_id: decision.agent.id, is_reviewer: !caller.scopes.includes('admin') };
}

/** The standing approval that a review asks for. */
function standingAsked(
  { body: { standing_approval: body }, caller }: ReviewCall,
  decision: Decision | undefined,
): Pick<CreateReviewInput, 'standing_approval'> {
  if (body === undefined || decision === undefined) return {};
  const is_reviewer = !caller.scopes.includes('admin');
  return { standing_approval: { body, agent_id: decision.agent.id, is_reviewer } };
}

/** Reads what the review policy needs of a decision and its reviewer. */
async function readTier(
  db: pg.Pool,
  { workspace_id, key_id, principal_id }: Caller,
  decision: Decision | undefined,
): Promise<ReadTier> {
  const review_policy_version = decision?.review_policy_version ?? 0;
  if (decision === undefined || review_policy_version === 0) return NO_POLICY;
  const key_ids = [decision.requested_by.key_id, ...(key_id === null ? [] : [key_id])];
  const topmost_keys = await loadTopmostKeys(db, workspace_id, key_ids);
  return { review_policy_version, topmost_keys, reviewer_principal_id: principal_id };
}

/** Reads what the lane needs to know of a review before it; its signature is left out. */
export async function readReview(db: pg.Pool, call: ReviewCall): Promise<CreateReviewInput> {
  const { action, reason_code, comment = null, supersedes = null, questions: named = null } = call.body;
  const decision_id = call.params.id;
  const asked = await getDecision(db, call.caller.workspace_id, decision_id, null);
  return {
    decision_id,
    ...readDecision(asked?.decision),
    ...(await readTier(db, call.caller, asked?.decision)),
    action,
    reason_code,
    comment,
    supersedes,
    named,
    remember: rememberingOf(call, asked?.decision),
    ...standingAsked(call, asked?.decision),
    signature: null,
    slack_account: null,
  };
}
