import type { Decision } from '@purser/contract/decisions';
import { routes } from '@purser/contract/routes/reviews/reviews';
import type { Caller } from '@purser/rules/domain/keys';
import { reviewBody } from '@purser/rules/domain/reviews';
import { ApiError } from '@purser/rules/errors';
import type pg from 'pg';
import { createLabel } from '../../../engine/commands/create-label.ts';
import type { CreatedReview } from '../../../engine/commands/reviews/create-review.ts';
import {
  type CreateReviewInput,
  NO_POLICY,
  type ReadTier,
  type Remembering,
} from '../../../engine/commands/reviews/review-case.ts';
import type { Command } from '../../../engine/lane/command.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { readDecision } from '../../../engine/questions/answers-of-records.ts';
import { loadTopmostKeys } from '../../../engine/storage/api-keys.ts';
import { getDecision } from '../../../engine/storage/decisions.ts';
import { listLabels } from '../../../engine/storage/labels.ts';
import { loadReviewsOfDecisions } from '../../../engine/storage/reviews.ts';
import { agentScopeOf } from '../../decisions/present-decisions.ts';
import { type CallOf, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';

/** The listing that a review asks for; null without one, and for a decision that does not exist. */
function rememberingOf(
  { body: { remember }, caller }: CallOf<typeof routes.createReview>,
  decision: Decision | undefined,
): Remembering | null {
  if (remember === undefined || decision === undefined) return null;
  return { remember, agent_id: decision.agent.id, is_reviewer: !caller.scopes.includes('admin') };
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

/** Makes the routes for reviews and labels. */
export function makeReviewRoutes(options: {
  db: pg.Pool;
  lane: Lane;
  createReview: Command<CreateReviewInput, CreatedReview>;
}): Route[] {
  const { db, lane, createReview } = options;

  /** Throws `not_found` if the caller may not see the decision. */
  async function mustSee({ caller, params }: CallOf<typeof routes.listReviews>): Promise<void> {
    const found = await getDecision(db, caller.workspace_id, params.id, agentScopeOf(caller));
    if (found === undefined) throw new ApiError('not_found', 'No such decision.');
  }

  return [
    // Listing the merchant weighs as much as on the route for it.
    serve(routes.createReview, { isWeighty: ({ body }) => body.remember !== undefined })(async (call) => {
      const { action, reason_code, comment = null, supersedes = null, questions: named = null } = call.body;
      const { workspace_id } = call.caller;
      const decision_id = call.params.id;
      const asked = await getDecision(db, workspace_id, decision_id, null);
      const tier = await readTier(db, call.caller, asked?.decision);
      const { review, effective_decision, capability } = await lane.submit(
        workspace_id,
        createReview,
        {
          decision_id,
          ...readDecision(asked?.decision),
          ...tier,
          action,
          reason_code,
          comment,
          supersedes,
          named,
          remember: rememberingOf(call, asked?.decision),
        },
        originOf(call),
      );
      const issued = capability === null ? {} : { capability };
      return { status: 201, body: { ...reviewBody(review), effective_decision, ...issued } };
    }),
    serve(routes.listReviews, { shares: 'reads' })(async (call) => {
      await mustSee(call);
      const rows = await loadReviewsOfDecisions(db, call.caller.workspace_id, [call.params.id]);
      return { status: 200, body: { data: rows.map(reviewBody), next_cursor: null } };
    }),
    serve(routes.createLabel)(async (call) => {
      const { label, comment = null, supersedes = null, questions: named = null } = call.body;
      const { workspace_id } = call.caller;
      const decision_id = call.params.id;
      const asked = await getDecision(db, workspace_id, decision_id, null);
      const recorded = await lane.submit(
        workspace_id,
        createLabel,
        { decision_id, ...readDecision(asked?.decision), label, comment, supersedes, named },
        originOf(call),
      );
      return { status: 201, body: recorded };
    }),
    serve(routes.listLabels, { shares: 'reads' })(async (call) => {
      await mustSee(call);
      const data = await listLabels(db, call.caller.workspace_id, call.params.id);
      return { status: 200, body: { data, next_cursor: null } };
    }),
  ];
}
