import { Type } from 'typebox';
import { StandingApprovalIn } from '../../allowances/fields.ts';
import { TEXT_LENGTHS } from '../../limits.ts';
import { LabelBody, RecordedReviewBody, ReviewBody } from '../../records.ts';
import { REMEMBERED } from '../../reviews/reasons.ts';
import { route } from '../../route.ts';
import { Fields, Formed, IdIn, LongText, OneOf, page } from '../../schema.ts';
import { SignatureIn } from '../../signing/fields.ts';
import { LABELS, REVIEW_ACTIONS } from '../../values/decisions.ts';

/** More questions than a decision asks. */
const MAX_NAMED = 100;

const IdParams = Fields({ id: Type.String() });

const Comment = () => Type.Optional(LongText({ max: TEXT_LENGTHS.description }));

const Questions = () =>
  Type.Optional(
    Type.Array(IdIn('question'), {
      maxItems: MAX_NAMED,
      description:
        'Of a DENY or PURPOSE_MISALIGNED: the questions of the decision that it answers with NO. Without it, all open ones that are not about the merchant itself, or that one if it is the only one. ALLOW and PURPOSE_ALIGNED answer all of them with YES.',
    }),
  );

/** The part of a review that a reviewer signs. */
export const signedFields = {
  action: OneOf(REVIEW_ACTIONS),
  reason_code: Formed('^[A-Z0-9_]{1,64}$', 'must be 1 to 64 of A-Z, 0-9 and "_"', {
    examples: ['VENDOR_CONFIRMED'],
  }),
  comment: Comment(),
  remember: Type.Optional(
    OneOf(REMEMBERED, {
      description:
        'Lists the merchant for the agent with the review, and the payee if the request names one: ALWAYS, with ALLOW, as allowed; NEVER, with DENY, as blocked. It needs what `POST /v1/agents/:id/merchants` needs. If the merchant cannot be listed, nothing is recorded. An approval that others have to follow lists nothing and is recorded without it: the last one decides.',
    }),
  ),
};

const ReviewRequest = Fields(
  {
    ...signedFields,
    questions: Questions(),
    supersedes: Type.Optional(
      IdIn('review', { description: 'In SHADOW: the current review, which this one replaces.' }),
    ),
    signature: Type.Optional(SignatureIn()),
    standing_approval: Type.Optional(StandingApprovalIn),
  },
  { $id: 'ReviewRequest' },
);

const LabelRequest = Fields(
  {
    label: OneOf(LABELS),
    comment: Comment(),
    questions: Questions(),
    supersedes: Type.Optional(IdIn('label', { description: 'A current label, which this one replaces.' })),
  },
  { $id: 'LabelRequest' },
);

export const routes = {
  createReview: route({
    method: 'POST',
    path: '/v1/decisions/:id/reviews',
    operationId: 'createReview',
    tag: 'Reviews and labels',
    summary: 'Allow or deny a REVIEW decision',
    description:
      'The requester of the spend cannot review it. In ENFORCE a review is final: ALLOW issues the capability, DENY releases the hold. Where the tier of the review policy needs several approvals, an ALLOW before the last one leaves the request pending and issues nothing; a single DENY is final. While the spend counts toward a frozen shared budget, an ALLOW that would issue a capability is refused with `budget_frozen`. In SHADOW a later review replaces the current one, which it names in `supersedes`.',
    scopes: ['review'],
    weighs: 'by_request',
    params: IdParams,
    body: ReviewRequest,
    responses: { 201: { description: 'The review.', schema: RecordedReviewBody } },
    errors: [
      'not_found',
      'not_reviewable',
      'self_review_forbidden',
      'review_final',
      'already_reviewed',
      'approval_limit_exceeded',
      'signature_required',
      'signature_invalid',
      'authority_changed',
      'budget_frozen',
      'allowance_not_open',
      'allowance_limit',
      'merchant_limit',
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
