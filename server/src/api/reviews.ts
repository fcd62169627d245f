import Type, { type Static } from 'typebox';
import { createLabel } from '../commands/create-label.ts';
import type { CreatedReview, CreateReviewInput } from '../commands/create-review.ts';
import { LABELS } from '../domain/labels.ts';
import { REVIEW_ACTIONS, reviewBody } from '../domain/reviews.ts';
import type { Call, Route } from '../http/route.ts';
import { Fields, Formed, IdIn, LongText, OneOf } from '../http/schemas.ts';
import type { Command } from '../lane/command.ts';
import type { Lane } from '../lane/lane.ts';
import { TEXT_LENGTHS } from '../values/text.ts';
import { originOf } from './origin.ts';
import { LabelBody, RecordedReviewBody } from './record-schemas.ts';

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
      IdIn('review', { description: 'In SHADOW: the current review, which this one corrects.' }),
    ),
  },
  { $id: 'ReviewRequest' },
);

const LabelRequest = Fields(
  {
    label: OneOf(LABELS),
    comment: Comment(),
    supersedes: Type.Optional(IdIn('label', { description: 'A current label, which this one corrects.' })),
  },
  { $id: 'LabelRequest' },
);

/** What people say of decisions. */
export function makeReviewRoutes(options: {
  lane: Lane;
  createReview: Command<CreateReviewInput, CreatedReview>;
}): Route[] {
  const { lane, createReview } = options;
  return [
    {
      method: 'POST',
      path: '/v1/decisions/:id/reviews',
      operationId: 'createReview',
      tag: 'Reviews and labels',
      summary: 'Allow or deny a REVIEW decision',
      description:
        'Whoever requested the spend cannot review it. In ENFORCE a review is final: ALLOW issues the capability, DENY lets the hold go. In SHADOW a later review corrects the current one, which it names in `supersedes`.',
      scopes: ['review'],
      params: IdParams,
      body: ReviewRequest,
      responses: { 201: { description: 'The review.', schema: RecordedReviewBody } },
      errors: ['not_found', 'not_reviewable', 'self_review_forbidden', 'review_final', 'authority_changed'],
      handler: async (call: Call<{ id: string }, unknown, Static<typeof ReviewRequest>>) => {
        const { action, reason_code, comment = null, supersedes = null } = call.body;
        const { review, effective_decision, capability } = await lane.submit(
          call.caller.workspace_id,
          createReview,
          { decision_id: call.params.id, action, reason_code, comment, supersedes },
          originOf(call),
        );
        const issued = capability === null ? {} : { capability };
        return { status: 201, body: { ...reviewBody(review), effective_decision, ...issued } };
      },
    },
    {
      method: 'POST',
      path: '/v1/decisions/:id/labels',
      operationId: 'createLabel',
      tag: 'Reviews and labels',
      summary: 'Say whether a spend fit the purpose',
      description:
        'For any decision. A label stands beside earlier ones, or corrects the one it names in `supersedes`.',
      scopes: ['review'],
      params: IdParams,
      body: LabelRequest,
      responses: { 201: { description: 'The label.', schema: LabelBody } },
      errors: ['not_found'],
      handler: async (call: Call<{ id: string }, unknown, Static<typeof LabelRequest>>) => {
        const { label, comment = null, supersedes = null } = call.body;
        const recorded = await lane.submit(
          call.caller.workspace_id,
          createLabel,
          { decision_id: call.params.id, label, comment, supersedes },
          originOf(call),
        );
        return { status: 201, body: recorded };
      },
    },
  ];
}
