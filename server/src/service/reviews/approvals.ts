import type { SheetApproval } from '@purser/contract/reviews/sheet';
import { madeBy } from '@purser/rules/domain/audit';
import { stateAt } from '@purser/rules/domain/decision-states';
import type { ApiKey, Caller } from '@purser/rules/domain/keys';
import { isByKeyMaker, isOwnRequest, type Reviewer, whyFinal } from '@purser/rules/domain/reviews';
import type { Workspace } from '@purser/rules/domain/workspace';
import { needsSignature } from '@purser/rules/signing/history';
import { separates as separatesMakersOf } from '../../engine/commands/reviews/separation.ts';
import { loadKeys } from '../../engine/storage/api-keys.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import type { DecisionRecord } from '../../engine/storage/decisions.ts';
import { loadActiveReviewers } from '../../engine/storage/members.ts';
import { loadWorkspaces } from '../../engine/storage/workspaces.ts';

/** Everything that decides whether a caller may review decisions of a workspace. */
export interface Reviewing {
  caller: Pick<Caller, 'key_id' | 'principal_id' | 'scopes'>;
  reviewer: Reviewer;
  /** The creator of a requesting key may not review. */
  separates: boolean;
  /** The keys that requested the decisions, by id. */
  keys: ReadonlyMap<string, ApiKey>;
  now_ms: number;
}

/** Reads what decides whether a caller may review these decisions: a few look-ups by key, however many there are. */
export async function loadReviewing(
  db: Queryable,
  caller: Caller,
  records: readonly DecisionRecord[],
  now_ms: number,
): Promise<Reviewing> {
  const { workspace_id, key_id, principal_id, session } = caller;
  const key_ids = new Set(records.map(({ decision }) => decision.requested_by.key_id));
  if (key_id !== null) key_ids.add(key_id);
  const [keys, workspaces, reviewers] = await Promise.all([
    loadKeys(
      db,
      [...key_ids].map((id) => ({ workspace_id, key_id: id })),
    ),
    loadWorkspaces(db, [workspace_id]),
    loadActiveReviewers(db, workspace_id),
  ]);
  const by_id = new Map(keys.map((key) => [key.key_id, key]));
  const type = session === null ? 'api_key' : 'user';
  const actor = { type, key_id, session_id: session?.session_id ?? null, principal_id } as const;
  const { person } = madeBy(actor, key_id === null ? undefined : by_id.get(key_id));
  const reviewer = { principal_id, person };
  const separation = (workspaces[0] as Workspace).separation_of_duties;
  return {
    caller,
    reviewer,
    separates: separatesMakersOf(separation, reviewers, reviewer),
    keys: by_id,
    now_ms,
  };
}

/**
 * Returns what a decision needs to be allowed, and whether the caller may review it now: by scope, separation of duties and
 * the review's state. One approval is enough.
 */
export function approvalOf(
  { caller, reviewer, separates, keys, now_ms }: Reviewing,
  { decision, state }: DecisionRecord,
): SheetApproval {
  const { requested_by } = decision;
  const requesting = keys.get(requested_by.key_id);
  const is_maker = requesting !== undefined && isByKeyMaker(requesting, reviewer);
  const now = stateAt(decision, state, now_ms);
  const may_review =
    caller.scopes.includes('review') &&
    decision.decision === 'REVIEW' &&
    whyFinal(decision, now, now.review_id) === null &&
    !isOwnRequest(requested_by, caller) &&
    !(separates && is_maker);
  const given = now.review_state === 'ALLOWED' ? 1 : 0;
  const signed = needsSignature(decision);
  return { required: 1, given, signed, may_allow: may_review, may_deny: may_review };
}
