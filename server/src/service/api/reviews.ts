import { route } from '@purser/contract/route';
import { LABELS } from '@purser/rules/domain/labels';
import { REVIEW_ACTIONS, reviewBody } from '@purser/rules/domain/reviews';
import { ApiError } from '@purser/rules/errors';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import type pg from 'pg';
import Type from 'typebox';
import { createLabel } from '../../engine/commands/create-label.ts';
import type { CreatedReview, CreateReviewInput } from '../../engine/commands/create-review.ts';
import type { Command } from '../../engine/lane/command.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { getDecision } from '../../engine/storage/decisions.ts';
import { listLabels } from '../../engine/storage/labels.ts';
import { loadReviewsOfDecisions } from '../../engine/storage/reviews.ts';
import { onlyAgentOf } from '../decisions/present-decisions.ts';
import { type Call, type Route, serve } from '../http/route.ts';
import { Fields, Formed, IdIn, LongText, OneOf, page } from '../http/schemas.ts';
import { originOf } from '../people/callers.ts';
import { LabelBody, RecordedReviewBody, ReviewBody } from './schemas/records.ts';

const IdParams = Fields({ id: Type.String() });
const Comment = () => Type.Optional(LongText({ max: TEXT_LENGTHS.description }));

const ReviewRequest = Fields(
  {
    action: OneOf(REVIEW_ACTIONS),
    reason_code: Formed('^[A-Z0-9_]{1,64}$', 'must be 1 to 64 of A-Z, 0-9 and "_"', {
      examples: ['VENDOR_CONFIRMED'],
    }),
    comment: Comment(),
    supersedes: Type.Optional(
      IdIn('review', { description: 'In SHADOW: the current review, which this one replaces.' }),
    ),
  },
  { $id: 'ReviewRequest' },
);

const LabelRequest = Fields(
  {
    label: OneOf(LABELS),
    comment: Comment(),
    supersedes: Type.Optional(IdIn('label', { description: 'A current label, which this one replaces.' })),
  },
  { $id: 'LabelRequest' },
);

const routes = {
  createReview: route({
    method: 'POST',
    path: '/v1/decisions/:id/reviews',
    operationId: 'createReview',
    tag: 'Reviews and labels',
    summary: 'Allow or deny a REVIEW decision',
    description:
      'Whoever requested the spend cannot review it. In ENFORCE a review is final: ALLOW issues the capability, DENY releases the hold. While the spend counts toward a frozen shared budget, an ALLOW that would issue a capability is refused with `budget_frozen`. In SHADOW a later review replaces the current one, which it names in `supersedes`.',
    scopes: ['review'],
    params: IdParams,
    body: ReviewRequest,
    responses: { 201: { description: 'The review.', schema: RecordedReviewBody } },
    errors: [
      'not_found',
      'not_reviewable',
      'self_review_forbidden',
      'review_final',
      'authority_changed',
      'budget_frozen',
    ],
  }),
  listReviews: route({
    method: 'GET',
    path: '/v1/decisions/:id/reviews',
    operationId: 'listReviews',
    tag: 'Reviews and labels',
    summary: 'List the reviews of a decision',
    description: 'Oldest first; all of them, including replaced ones.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    responses: { 200: { description: 'The reviews.', schema: page(ReviewBody, { $id: 'ReviewPage' }) } },
    errors: ['not_found'],
  }),
  createLabel: route({
    method: 'POST',
    path: '/v1/decisions/:id/labels',
    operationId: 'createLabel',
    tag: 'Reviews and labels',
    summary: 'Label whether a spend fit the purpose',
    description:
      'Works for any decision. A label adds to earlier ones, or replaces the one it names in `supersedes`.',
    scopes: ['review'],
    params: IdParams,
    body: LabelRequest,
    responses: { 201: { description: 'The label.', schema: LabelBody } },
    errors: ['not_found'],
  }),
  listLabels: route({
    method: 'GET',
    path: '/v1/decisions/:id/labels',
    operationId: 'listLabels',
    tag: 'Reviews and labels',
    summary: 'List the labels of a decision',
    description: 'Oldest first; all of them, including replaced ones.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    responses: { 200: { description: 'The labels.', schema: page(LabelBody, { $id: 'LabelPage' }) } },
    errors: ['not_found'],
  }),
};

/** Makes the routes for reviews and labels. */
export function makeReviewRoutes(options: {
  db: pg.Pool;
  lane: Lane;
  createReview: Command<CreateReviewInput, CreatedReview>;
}): Route[] {
  const { db, lane, createReview } = options;

  /** Throws `not_found` if the caller may not see the decision. */
  async function mustSee({ caller, params }: Call<{ id: string }, unknown, unknown>): Promise<void> {
    const found = await getDecision(db, caller.workspace_id, params.id, onlyAgentOf(caller));
    if (found === undefined) throw new ApiError('not_found', 'No such decision.');
  }

  return [
    serve(routes.createReview)(async (call) => {
      const { action, reason_code, comment = null, supersedes = null } = call.body;
      const { workspace_id } = call.caller;
      const decision_id = call.params.id;
      const asked = await getDecision(db, workspace_id, decision_id, null);
      const requesting_key_id = asked?.decision.requested_by.key_id ?? null;
      const { review, effective_decision, capability } = await lane.submit(
        workspace_id,
        createReview,
        { decision_id, requesting_key_id, action, reason_code, comment, supersedes },
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
      const { label, comment = null, supersedes = null } = call.body;
      const recorded = await lane.submit(
        call.caller.workspace_id,
        createLabel,
        { decision_id: call.params.id, label, comment, supersedes },
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
