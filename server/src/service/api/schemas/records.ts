import { CAPABILITY_STATUSES } from '@purser/rules/domain/capabilities';
import { LABELS } from '@purser/rules/domain/labels';
import { OUTCOME_FLAGS, OUTCOME_SOURCES, OUTCOME_TYPES } from '@purser/rules/domain/outcomes';
import { REVIEW_ACTIONS } from '@purser/rules/domain/reviews';
import Type from 'typebox';
import { AmountMinor, Fields, Id, LimitMinor, Nullable, OneOf, Timestamp } from '../../http/schemas.ts';

/** A capability as the API answers it. */
export const CapabilityBody = Fields(
  {
    capability_id: Id('capability'),
    token: Type.Optional(
      Type.String({
        description:
          "What a payment adapter consumes. Shown only to the key that asked for the decision and to the agent's own keys, and only where the decision is made, replayed or read by itself: no list, export or event has it.",
      }),
    ),
    status: OneOf(CAPABILITY_STATUSES),
    max_amount_minor: AmountMinor(),
    currency: Type.String({ examples: ['EUR'] }),
    merchant: Type.String(),
    payee_id: Nullable(Type.String({ description: 'Where it is set, only this payee may be paid.' })),
    issued_at: Timestamp(),
    expires_at: Timestamp(),
    consumed_at: Nullable(Timestamp()),
    consumption: Type.Optional(
      Fields(
        {
          amount_minor: AmountMinor(),
          payee_id: Nullable(Type.String()),
          merchant: Nullable(Type.String({ description: 'As the payment adapter named it.' })),
          external_reference: Nullable(Type.String({ description: "The payment rail's own reference." })),
          consumed_by: Fields({ key_id: Id('api_key'), principal_id: Nullable(Type.String()) }),
        },
        { $id: 'ConsumptionRecord', description: 'How it was used. Left out until it was.' },
      ),
    ),
  },
  { $id: 'Capability', description: 'Leave for one payment. Only in ENFORCE.' },
);

const Who = {
  principal_id: Nullable(Type.String({ examples: ['user:ada'] })),
  key_id: Nullable(Id('api_key', { description: 'Null: a person, whom `principal_id` names.' })),
};

const reviewFields = {
  review_id: Id('review'),
  decision_id: Id('decision'),
  action: OneOf(REVIEW_ACTIONS),
  reason_code: Type.String({ examples: ['VENDOR_CONFIRMED'] }),
  comment: Nullable(Type.String()),
  supersedes: Nullable(Id('review', { description: 'The review that this one corrects.' })),
  ...Who,
  by_key_maker: Type.Boolean({
    description:
      'The person behind the review made the key that requested the spend, or is at the root of its making.',
  }),
  created_at: Timestamp(),
};

/** A review as a decision shows it. */
export const ReviewBody = Fields(reviewFields, { $id: 'Review' });

/** A review as the API answers it when it is recorded. */
export const RecordedReviewBody = Fields(
  {
    ...reviewFields,
    effective_decision: OneOf(['ALLOW', 'REVIEW', 'DENY'], { description: 'What is in force from now on.' }),
    capability: Type.Optional(CapabilityBody),
  },
  { $id: 'RecordedReview' },
);

/** A label as the API answers it. */
export const LabelBody = Fields(
  {
    label_id: Id('label'),
    decision_id: Id('decision'),
    label: OneOf(LABELS),
    comment: Nullable(Type.String()),
    supersedes: Nullable(Id('label', { description: 'The label that this one corrects.' })),
    ...Who,
    created_at: Timestamp(),
  },
  { $id: 'Label' },
);

/** An outcome as the API answers it. */
export const OutcomeBody = Fields(
  {
    outcome_id: Id('outcome'),
    decision_id: Id('decision'),
    type: OneOf(OUTCOME_TYPES),
    amount_minor: Nullable(LimitMinor()),
    currency: Type.String({ examples: ['EUR'] }),
    external_reference: Nullable(Type.String()),
    occurred_at: Timestamp(),
    source: OneOf(OUTCOME_SOURCES),
    reported_by: Fields({ key_id: Who.key_id, principal_id: Who.principal_id }),
    recorded_at: Timestamp(),
    flags: Type.Array(OneOf(OUTCOME_FLAGS), {
      description:
        'OVER_AUTHORIZED: more than was authorized. UNAUTHORIZED_EXECUTION: executed in ENFORCE though not allowed. LATE: the hold was gone. CONTRADICTS_CLIENT: the payment rail reports something else than the client. ADJUSTED: the payment rail raises the amount that it reported as executed before.',
    }),
  },
  { $id: 'Outcome' },
);
