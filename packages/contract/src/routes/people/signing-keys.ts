import { Type } from 'typebox';
import { TEXT_LENGTHS } from '../../limits.ts';
import { ReviewPolicyBody } from '../../reviews/policy.ts';
import { route } from '../../route.ts';
import { Fields, Line, page } from '../../schema.ts';
import { SigningKeyBody, StatementBody, signatureFields } from '../../signing/fields.ts';
import { MAX_SIGNING_KEYS } from '../../values/signing.ts';
import { signedFields } from '../reviews/reviews.ts';

const IdParams = Fields({ id: Type.String() });

const EnrolBody = Fields(
  {
    name: Line({ max: TEXT_LENGTHS.name }, { examples: ['Ada’s laptop'] }),
    ...signatureFields,
  },
  { $id: 'EnrolSigningKeyRequest' },
);

const StatementRequest = Fields(signedFields, { $id: 'ReviewStatementRequest' });

const EndorseBody = Fields(signatureFields, { $id: 'EndorseSigningKeyRequest' });

export const routes = {
  beginSigningKey: route({
    method: 'POST',
    path: '/v1/me/signing-keys/options',
    operationId: 'beginSigningKey',
    tag: 'Signing keys',
    summary: 'Begin to make one of your passkeys a signing key',
    description:
      'A statement for one of your passkeys to sign within five minutes. Answers 404 if you have no passkey that could sign, or the service is at an IP address.',
    scopes: 'session',
    weighs: true,
    responses: { 200: { description: 'What to sign.', schema: StatementBody } },
    errors: ['not_found'],
  }),
  enrolSigningKey: route({
    method: 'POST',
    path: '/v1/me/signing-keys',
    operationId: 'enrolSigningKey',
    tag: 'Signing keys',
    summary: 'Make one of your passkeys a signing key',
    description: `The workspace's first signing key must be an administrator's. It is the root and ACTIVE at once; later keys are PENDING until another administrator endorses them. A person may have at most ${MAX_SIGNING_KEYS}.`,
    scopes: 'session',
    weighs: true,
    body: EnrolBody,
    responses: { 201: { description: 'The key.', schema: SigningKeyBody } },
    errors: ['not_found', 'signature_invalid', 'signing_key_exists', 'signing_key_limit'],
  }),
  beginEndorsement: route({
    method: 'POST',
    path: '/v1/signing-keys/:id/endorse/options',
    operationId: 'beginEndorsement',
    tag: 'Signing keys',
    summary: "Begin to endorse another person's signing key",
    description:
      'A statement for your own active signing key to sign within five minutes. Compare the fingerprint with the one that its owner sees.',
    scopes: 'session',
    params: IdParams,
    responses: { 200: { description: 'What to sign.', schema: StatementBody } },
    errors: ['not_found', 'signature_required'],
  }),
  endorseSigningKey: route({
    method: 'POST',
    path: '/v1/signing-keys/:id/endorse',
    operationId: 'endorseSigningKey',
    tag: 'Signing keys',
    summary: "Endorse another person's signing key",
    description:
      'Makes a PENDING key ACTIVE. The signature has to be that of an ACTIVE key of an administrator other than its owner.',
    scopes: 'session',
    params: IdParams,
    body: EndorseBody,
    responses: { 200: { description: 'The key.', schema: SigningKeyBody } },
    errors: ['not_found', 'signature_invalid'],
  }),
  revokeSigningKey: route({
    method: 'DELETE',
    path: '/v1/signing-keys/:id',
    operationId: 'revokeSigningKey',
    tag: 'Signing keys',
    summary: 'Revoke a signing key',
    description:
      'By its owner or an administrator. It signs nothing more; what it signed before stays good. Repeating the request changes nothing.',
    scopes: 'session',
    weighs: true,
    params: IdParams,
    responses: { 204: { description: 'Revoked.', schema: null } },
    errors: ['not_found'],
  }),
  beginSignedReviewPolicy: route({
    method: 'POST',
    path: '/v1/review-policy/statement',
    operationId: 'beginSignedReviewPolicy',
    tag: 'Reviews and labels',
    summary: 'Begin to sign a review policy',
    description:
      "A statement of the policy's hash and the present one's, for an administrator's signing key to sign within five minutes. Send both as `signature` with `PUT /v1/review-policy`. A policy with a `signed` tier needs it, and so does one that replaces it.",
    scopes: 'session',
    body: Fields({ policy: ReviewPolicyBody }, { $id: 'ReviewPolicyStatementRequest' }),
    responses: { 200: { description: 'What to sign.', schema: StatementBody } },
    errors: ['signature_required'],
  }),
  beginSignedReview: route({
    method: 'POST',
    path: '/v1/decisions/:id/reviews/statement',
    operationId: 'beginSignedReview',
    tag: 'Reviews and labels',
    summary: 'Begin to sign a review',
    description:
      'A statement of the decision and your verdict on it, for your signing key to sign within five minutes. Send both as `signature` with the review, whose fields must be the same. Answers 403 `signature_required` if you have no active signing key.',
    scopes: 'session',
    params: IdParams,
    body: StatementRequest,
    responses: { 200: { description: 'What to sign.', schema: StatementBody } },
    errors: [
      'not_found',
      'not_reviewable',
      'self_review_forbidden',
      'review_final',
      'already_reviewed',
      'approval_limit_exceeded',
      'signature_required',
      'merchant_limit',
      'authority_changed',
      'budget_frozen',
      'allowance_not_open',
    ],
  }),
};

/** The routes of signing keys that keys may call too. */
export const listRoutes = {
  listSigningKeys: route({
    method: 'GET',
    path: '/v1/signing-keys',
    operationId: 'listSigningKeys',
    tag: 'Signing keys',
    summary: 'List the signing keys',
    description: 'Oldest first; all of them, including revoked ones.',
    scopes: ['read'],
    responses: {
      200: { description: 'The keys.', schema: page(SigningKeyBody, { $id: 'SigningKeyPage' }) },
    },
    errors: [],
  }),
};
