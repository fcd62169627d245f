import { type Static, Type } from 'typebox';
import { AllowanceBody } from './allowances/fields.ts';
import { UsageBody } from './models/fields.ts';
import { REMEMBERED } from './reviews/reasons.ts';
import { AmountMinor, Fields, Id, LimitMinor, Nullable, OneOf, Timestamp } from './schema.ts';
import { SignatureBody } from './signing/fields.ts';
import {
  CAPABILITY_STATUSES,
  LABELS,
  OUTCOME_FLAGS,
  OUTCOME_SOURCES,
  OUTCOME_TYPES,
  REVIEW_ACTIONS,
  REVIEW_WAYS,
} from './values/decisions.ts';

const ConsumptionRecord = Fields(
  {
    amount_minor: AmountMinor(),
    payee_id: Nullable(Type.String()),
    merchant: Nullable(Type.String({ description: 'As the payment adapter named it.' })),
    external_reference: Nullable(Type.String({ description: "The payment rail's own reference." })),
    consumed_by: Fields({ key_id: Id('api_key'), principal_id: Nullable(Type.String()) }),
  },
  { $id: 'ConsumptionRecord', description: 'How it was used; omitted until then.' },
);
/** How a capability was used, as its decision shows it. Minor units of the capability's currency. */
export interface ConsumptionSummary extends Static<typeof ConsumptionRecord> {}

/** A capability as the API answers it. */
export const CapabilityBody = Fields(
  {
    capability_id: Id('capability'),
    token: Type.Optional(
      Type.String({
        description:
          "The token that a payment adapter consumes. Only the key that requested the decision and the agent's own keys see it, and only when the decision is created, replayed or read by id: no list, export or event contains it.",
      }),
    ),
    status: OneOf(CAPABILITY_STATUSES),
    max_amount_minor: AmountMinor(),
    currency: Type.String({ examples: ['EUR'] }),
    merchant: Type.String(),
    payee_id: Nullable(Type.String({ description: 'If set, only this payee may be paid.' })),
    issued_at: Timestamp(),
    expires_at: Timestamp(),
    consumed_at: Nullable(Timestamp()),
    consumption: Type.Optional(ConsumptionRecord),
  },
  { $id: 'Capability', description: 'Permission for one payment; only in ENFORCE.' },
);

/** The permission to make one payment. Minor units. The token that proves it is never part of this object. */
export interface Capability extends Omit<Static<typeof CapabilityBody>, 'token'> {}

const Who = {
  principal_id: Nullable(Type.String({ examples: ['user:ada'] })),
  key_id: Nullable(Id('api_key', { description: 'Null for a person, who is named by `principal_id`.' })),
};

const Answered = () =>
  Type.Array(Id('question'), { description: 'The questions of the decision that it answered.' });

const reviewFields = {
  review_id: Id('review'),
  decision_id: Id('decision'),
  action: OneOf(REVIEW_ACTIONS),
  reason_code: Type.String({ examples: ['VENDOR_CONFIRMED'] }),
  comment: Nullable(Type.String()),
  supersedes: Nullable(Id('review', { description: 'The review that this one replaces.' })),
  ...Who,
  by_key_maker: Type.Boolean({
    description:
      'True if the reviewer created the key that requested the spend, directly or through other keys.',
  }),
  on_behalf_of: Nullable(
    Type.String({ description: 'The absent approver whose place the reviewer used; null: their own.' }),
  ),
  questions: Answered(),
  remember: Nullable(
    OneOf(REMEMBERED, {
      description: 'ALWAYS: the review listed the merchant as allowed. NEVER: as blocked. Null: neither.',
    }),
  ),
  via: Type.Optional(
    OneOf(REVIEW_WAYS, { description: 'The button that recorded it; omitted for other reviews.' }),
  ),
  signature: Type.Optional(SignatureBody),
  created_at: Timestamp(),
};

/** A review as a decision shows it. */
export const ReviewBody = Fields(reviewFields, { $id: 'Review' });
/** A person's ALLOW or DENY of a REVIEW decision. Never changed or removed. */
export interface Review extends Static<typeof ReviewBody> {}

/** A review as the API answers it when it is recorded. */
export const RecordedReviewBody = Fields(
  {
    ...reviewFields,
    effective_decision: OneOf(['ALLOW', 'REVIEW', 'DENY'], {
      description: 'The decision in effect from now on.',
    }),
    capability: Type.Optional(CapabilityBody),
    allowance: Type.Optional(AllowanceBody),
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
    supersedes: Nullable(Id('label', { description: 'The label that this one replaces.' })),
    ...Who,
    questions: Answered(),
    created_at: Timestamp(),
  },
  { $id: 'Label' },
);
/** A person's judgement of whether a spend served the purpose. Never changed or removed. */
export interface Label extends Static<typeof LabelBody> {}

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
        'OVER_AUTHORIZED: more than the authorized amount. UNAUTHORIZED_EXECUTION: executed in ENFORCE without being allowed. LATE: reported after the hold ended. CONTRADICTS_CLIENT: the payment rail contradicts the client. ADJUSTED: the payment rail raised the executed amount that it had reported before.',
    }),
    usage: Type.Optional(UsageBody),
  },
  { $id: 'Outcome' },
);
