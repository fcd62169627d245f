import { Type } from 'typebox';
import { TEXT_LENGTHS } from '../../limits.ts';
import { ReviewPolicyBody } from '../../reviews/policy.ts';
import { route } from '../../route.ts';
import { Fields, LongText, Nullable, PageQuery, page, QueryInteger, Timestamp } from '../../schema.ts';
import { SignatureIn } from '../../signing/fields.ts';

/** The newest version of a document that a request may name. */
const MAX_VERSION = 2_147_483_647;

const ReviewPolicyRequest = Fields(
  {
    policy: ReviewPolicyBody,
    signature: Type.Optional(SignatureIn()),
    note: Type.Optional(
      LongText(
        { max: TEXT_LENGTHS.description },
        { description: 'Why this version is created.', examples: ['Bo joined finance.'] },
      ),
    ),
  },
  {
    $id: 'ReviewPolicyRequest',
    examples: [{ policy: { tiers: [{ currency: 'EUR', from_minor: 100_000, approvals: 1 }] } }],
  },
);

const ReviewPolicyVersion = Fields(
  {
    version: Type.Integer({ minimum: 0, description: '0 until a policy is put.' }),
    hash: Type.String({ description: '`sha256:` + hex SHA-256 of the RFC 8785 form of the policy.' }),
    policy: ReviewPolicyBody,
    created_at: Nullable(Timestamp({ description: 'Null for version 0.' })),
    created_by: Nullable(Fields({ key_id: Nullable(Type.String()), principal_id: Nullable(Type.String()) })),
    note: Nullable(Type.String({ description: 'Why it was created.' })),
  },
  { $id: 'ReviewPolicyVersion' },
);

const VersionQuery = Fields({
  version: Type.Optional(
    QueryInteger({ min: 0, max: MAX_VERSION }, { description: 'Defaults to the newest.' }),
  ),
});

const ListQuery = Fields(PageQuery);

export const routes = {
  getReviewPolicy: route({
    method: 'GET',
    path: '/v1/review-policy',
    operationId: 'getReviewPolicy',
    tag: 'Reviews and labels',
    summary: 'Get the review policy',
    description:
      'Who decides a REVIEW. Returns the newest version, or the one given in `version`. Until a policy is put, it is version 0, the empty policy. Agent keys cannot read it.',
    scopes: ['read'],
    query: VersionQuery,
    responses: { 200: { description: 'The policy.', schema: ReviewPolicyVersion } },
    errors: ['not_found'],
  }),
  putReviewPolicy: route({
    method: 'PUT',
    path: '/v1/review-policy',
    operationId: 'putReviewPolicy',
    tag: 'Reviews and labels',
    summary: 'Set the review policy',
    description:
      'Takes the whole policy, which becomes the next version and counts from the next decision on; requests that are already pending keep their tier and limits. With the header `if-match: "sha256:…"`, it succeeds only if the current version has this hash, else 409 `review_policy_changed`. A `note` says why; it is not part of the hash. Every name must be that of a member or key that may review. A policy with a `signed` tier, and one that replaces it, needs the signature of an administrator.',
    scopes: ['admin'],
    body: ReviewPolicyRequest,
    responses: { 200: { description: 'The new version.', schema: ReviewPolicyVersion } },
    errors: ['review_policy_changed', 'signature_required', 'signature_invalid'],
  }),
  listReviewPolicyVersions: route({
    method: 'GET',
    path: '/v1/review-policy/versions',
    operationId: 'listReviewPolicyVersions',
    tag: 'Reviews and labels',
    summary: 'List the versions of the review policy',
    description: 'Newest first. A page ends at `limit` or at about 1 MB, whichever comes first.',
    scopes: ['read'],
    query: ListQuery,
    responses: {
      200: {
        description: 'A page of versions.',
        schema: page(ReviewPolicyVersion, { $id: 'ReviewPolicyVersionPage' }),
      },
    },
    errors: [],
  }),
};
