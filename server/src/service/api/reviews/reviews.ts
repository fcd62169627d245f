import { routes } from '@purser/contract/routes/reviews/reviews';
import { reviewBody } from '@purser/rules/domain/reviews';
import { ApiError } from '@purser/rules/errors';
import type pg from 'pg';
import { createLabel } from '../../../engine/commands/create-label.ts';
import type { CreatedReview } from '../../../engine/commands/reviews/create-review.ts';
import type { CreateReviewInput } from '../../../engine/commands/reviews/review-case.ts';
import type { Command } from '../../../engine/lane/command.ts';
import type { Lane } from '../../../engine/lane/lane.ts';
import { readDecision } from '../../../engine/questions/answers-of-records.ts';
import { getDecision } from '../../../engine/storage/decisions.ts';
import { listLabels } from '../../../engine/storage/labels.ts';
import { loadReviewsOfDecisions } from '../../../engine/storage/reviews.ts';
import { isWithinAllowance } from '../../allowances/may-see.ts';
import { shownAllowance } from '../../allowances/present-allowances.ts';
import { agentScopeOf } from '../../decisions/present-decisions.ts';
import { type CallOf, type Route, serve } from '../../http/route.ts';
import { originOf } from '../../people/callers.ts';
import type { Signing } from '../../people/signing.ts';
import { readReview } from '../../reviews/read-review.ts';
import { takeSignature } from './signed-reviews.ts';

/** Makes the routes for reviews and labels. */
export function makeReviewRoutes(options: {
  db: pg.Pool;
  lane: Lane;
  createReview: Command<CreateReviewInput, CreatedReview>;
  signing: Signing;
}): Route[] {
  const { db, lane, createReview, signing } = options;

  /** Throws `not_found` if the caller may not see the decision. */
  async function mustSee({ caller, params }: CallOf<typeof routes.listReviews>): Promise<void> {
    const found = await getDecision(db, caller.workspace_id, params.id, agentScopeOf(caller));
    if (found === undefined || !(await isWithinAllowance(db, caller, params.id)))
      throw new ApiError('not_found', 'No such decision.');
  }

  return [
    // Listing the merchant weighs as much as on the route for it.
    serve(routes.createReview, { isWeighty: ({ body }) => body.remember !== undefined })(async (call) => {
      const { workspace_id } = call.caller;
      const signature = await takeSignature(db, signing, call);
      const { review, effective_decision, capability, standing } = await lane.submit(
        workspace_id,
        createReview,
        { ...(await readReview(db, call)), signature },
        originOf(call),
      );
      const issued = capability === null ? {} : { capability };
      const made =
        standing === null ? {} : { allowance: await shownAllowance(db, workspace_id, standing.allowance_id) };
      return { status: 201, body: { ...reviewBody(review), effective_decision, ...issued, ...made } };
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
