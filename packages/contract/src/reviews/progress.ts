import { type Static, Type } from 'typebox';
import { Fields, Id, LimitMinor, Nullable, Timestamp } from '../schema.ts';

const Principals = (description: string) => Type.Array(Type.String(), { description });

/** The tier that a decision keeps. */
export const ReviewTierBody = Fields(
  {
    from_minor: LimitMinor({ description: 'The tier applies to held amounts of at least this.' }),
    approvals: Type.Integer({ minimum: 1, description: 'How many people must allow it.' }),
    approvers: Type.Optional(
      Principals('The principals who may allow it; omitted if anyone with `review` may.'),
    ),
    signed: Type.Optional(
      Type.Boolean({ description: 'True if every approval must be signed; omitted otherwise.' }),
    ),
    escalation: Type.Optional(
      Fields({
        after_seconds: Type.Integer({ minimum: 1, description: 'Counted from the decision.' }),
        approvers: Principals('The principals who may allow it too from then on.'),
      }),
    ),
  },
  {
    $id: 'ReviewTier',
    description:
      'The tier of the review policy that applied when the decision was made, with its groups resolved. A later policy does not change it.',
  },
);
/** A tier with its groups resolved. Minor units of the decision's currency. */
export interface ReviewTier extends Static<typeof ReviewTierBody> {}

/** The approvals of a REVIEW so far. */
export const ReviewProgressBody = Fields(
  {
    required: Type.Integer({ minimum: 1, description: 'How many people must allow it.' }),
    given: Type.Array(
      Fields({
        review_id: Id('review'),
        principal_id: Nullable(Type.String()),
        signed: Type.Boolean(),
      }),
      { description: 'The approvals that count, oldest first.' },
    ),
    escalates_at: Nullable(
      Timestamp({ description: "When the escalation's approvers count too; null without one." }),
    ),
  },
  { $id: 'ReviewProgress', description: 'The approvals of a REVIEW; omitted for other decisions.' },
);
/** The approvals of a REVIEW, as a read decision shows them. */
export interface ReviewProgress extends Static<typeof ReviewProgressBody> {}
