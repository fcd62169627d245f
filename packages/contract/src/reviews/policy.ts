import { type Static, Type } from 'typebox';
import { Currency, Fields, Formed, LimitMinor, PrincipalId, WholeNumber } from '../schema.ts';

/** The bounds of a review policy. */
export const REVIEW_POLICY_LIMITS = {
  groups: 20,
  members: 50,
  tiers: 30,
  approvers: 50,
  approver_limits: 500,
  approvals: 5,
  seconds: 604_800,
} as const;

const { groups, members, tiers, approvers, approver_limits, approvals, seconds } = REVIEW_POLICY_LIMITS;

const Seconds = (description: string) => WholeNumber({ min: 1, max: seconds }, { description });

const GroupName = '^[a-z0-9][a-z0-9_-]{0,63}$';

const Approvers = (description: string) =>
  Type.Array(
    Formed(
      '^(user:[!-~]{1,128}|[a-z0-9][a-z0-9_-]{0,63})$',
      'must be the name of a group, or a principal "user:<id>"',
      { examples: ['finance'] },
    ),
    { minItems: 1, maxItems: approvers, description },
  );

const Tier = Fields(
  {
    currency: Currency(),
    from_minor: LimitMinor({
      description: 'The tier applies to held amounts of at least this, up to the next tier of the currency.',
    }),
    approvals: WholeNumber({ min: 1, max: approvals }, { description: 'How many people must allow it.' }),
    approvers: Type.Optional(
      Approvers(
        'Groups, or principals of members or keys that may review. Without it, anyone with `review` counts.',
      ),
    ),
    signed: Type.Optional(Type.Boolean({ description: 'Every approval must be signed with a signing key.' })),
    escalation: Type.Optional(
      Fields(
        {
          after_seconds: Seconds('Counted from the decision.'),
          approvers: Approvers('They count too from then on.'),
        },
        { description: 'Further approvers for a request that is still pending.' },
      ),
    ),
  },
  { $id: 'ReviewTierRule' },
);

const ApproverLimit = Fields(
  {
    approver: PrincipalId({ description: 'A member or key that may review.' }),
    currency: Currency(),
    max_minor: LimitMinor({ description: 'The largest held amount that they may allow.' }),
  },
  { $id: 'ApproverLimit' },
);

/** The document that says who decides a REVIEW. */
export const ReviewPolicyBody = Fields(
  {
    groups: Type.Optional(
      Type.Unsafe<Record<string, string[]>>({
        type: 'object',
        propertyNames: { type: 'string', pattern: GroupName },
        maxProperties: groups,
        additionalProperties: Type.Array(PrincipalId(), { minItems: 1, maxItems: members }),
        description: `At most ${groups} groups of up to ${members} principals, by name.`,
      }),
    ),
    tiers: Type.Optional(
      Type.Array(Tier, {
        maxItems: tiers,
        description:
          "The tier of a REVIEW in ENFORCE is its currency's highest `from_minor` not over the held amount. Without one, a single approval by anyone with `review` is enough.",
      }),
    ),
    approver_limits: Type.Optional(
      Type.Array(ApproverLimit, {
        maxItems: approver_limits,
        description:
          'An approver with a limit may allow no more than it, and nothing in a currency for which they have none.',
      }),
    ),
    remind_before_seconds: Type.Optional(
      Seconds('Remind the approvers of a pending request this long before it expires.'),
    ),
  },
  {
    $id: 'ReviewPolicy',
    'x-together': 'review_policy',
    'x-root': true,
    examples: [
      {
        groups: { finance: ['user:ada', 'user:bo'], board: ['user:cy'] },
        tiers: [
          {
            currency: 'EUR',
            from_minor: 100_000,
            approvals: 2,
            approvers: ['finance'],
            escalation: { after_seconds: 3_600, approvers: ['board'] },
          },
        ],
        approver_limits: [{ approver: 'user:bo', currency: 'EUR', max_minor: 500_000 }],
        remind_before_seconds: 3_600,
      },
    ],
  },
);

/** A workspace's rules for reviews. Amounts are minor units. */
export interface ReviewPolicy extends Static<typeof ReviewPolicyBody> {}
