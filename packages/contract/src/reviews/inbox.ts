import { type Static, Type } from 'typebox';
import { MAX_AMOUNT_MINOR, TEXT_LENGTHS } from '../limits.ts';
import { REASON_CODES } from '../reasons.ts';
import {
  AgentRef,
  AmountMinor,
  Currency,
  Fields,
  Formed,
  Id,
  LimitMinor,
  Line,
  Nullable,
  OneOf,
  PageQuery,
  QueryBoolean,
  QueryInteger,
  QuerySeveral,
  Timestamp,
} from '../schema.ts';

/** The pending reviews that a search reads the texts of. */
export const MAX_SEARCHED = 10_000;
/** The groups that an inbox shows: those of the most reviews. */
export const MAX_GROUPS = 100;

export const INBOX_SORTS = ['expires', 'newest', 'oldest', 'amount'] as const;
export const INBOX_GROUPS = ['agent', 'merchant', 'reason', 'alike'] as const;

const Amount = (side: string) =>
  Type.Optional(QueryInteger({ min: 0, max: MAX_AMOUNT_MINOR }, { description: `${side}, minor units.` }));

/** Filters, order and grouping of the inbox. All filters must match. */
export const InboxQuery = Fields({
  agent: Type.Optional(AgentRef()),
  merchant: Type.Optional(
    Line({ max: TEXT_LENGTHS.merchant }, { description: 'The whole name, as the agent gave it.' }),
  ),
  currency: Type.Optional(Currency()),
  reason: Type.Optional(QuerySeveral(OneOf(REASON_CODES))),
  from_minor: Amount('At least this amount'),
  to_minor: Amount('At most this amount'),
  assigned: Type.Optional(
    Formed('^(none|user:[!-~]{1,128})$', 'must be a principal, or "none" for reviews assigned to nobody', {
      examples: ['user:ada'],
    }),
  ),
  mine: Type.Optional(QueryBoolean({ description: 'Whether they are assigned to the caller.' })),
  search: Type.Optional(
    Line(
      { max: TEXT_LENGTHS.merchant },
      {
        description: `Part of the merchant, description, task, a note, or an id, case-insensitive. Among more than ${MAX_SEARCHED.toLocaleString('en')} reviews, the newest are searched.`,
      },
    ),
  ),
  sort: Type.Optional(
    OneOf(INBOX_SORTS, {
      description:
        'Defaults to `expires`: the one that expires soonest first. `amount`: the largest first; needs `currency`.',
    }),
  ),
  group: Type.Optional(
    OneOf(INBOX_GROUPS, {
      description: 'Adds `groups`. `alike`: the same agent, merchant, currency and reason.',
    }),
  ),
  ...PageQuery,
});

const RowBody = Fields(
  {
    decision_id: Id('decision'),
    agent: Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) }),
    merchant: Type.String(),
    amount_minor: AmountMinor({ description: 'What an ALLOW authorizes.' }),
    currency: Type.String({ examples: ['EUR'] }),
    reason_code: OneOf(REASON_CODES),
    created_at: Timestamp(),
    expires_at: Nullable(Timestamp()),
    required: Type.Integer({ minimum: 1, description: 'Approvals that an ALLOW needs.' }),
    given: Type.Integer({ minimum: 0, description: 'Approvals given so far.' }),
    signed: Type.Boolean({ description: 'True if an approval has to be signed.' }),
    bulk: Type.Boolean({ description: 'Whether it may be reviewed together with others.' }),
    assigned_to: Nullable(Type.String({ examples: ['user:ada'] })),
    may_allow: Type.Boolean({ description: 'Whether the caller may allow it now.' }),
  },
  { $id: 'InboxRow' },
);
/** A pending review in the inbox. */
export interface InboxRow extends Static<typeof RowBody> {}

const GroupBody = Fields(
  {
    key: Type.String({ description: 'Names the group within its grouping.' }),
    filter: Fields(
      {
        agent: Type.Optional(Type.String()),
        merchant: Type.Optional(Type.String()),
        currency: Type.Optional(Type.String()),
        reason: Type.Optional(OneOf(REASON_CODES)),
      },
      { description: 'The filters that select its reviews, besides those of the request.' },
    ),
    count: Type.Integer({ minimum: 1 }),
    amounts: Type.Array(Fields({ currency: Type.String(), amount_minor: LimitMinor() }), {
      description: 'The sum of each currency.',
    }),
  },
  { $id: 'InboxGroup' },
);
/** Pending reviews that have something in common, counted. */
export interface InboxGroup extends Static<typeof GroupBody> {}

/** A page of the inbox. */
export const InboxBody = Fields(
  {
    data: Type.Array(RowBody),
    total: Type.Integer({ minimum: 0, description: 'All reviews that match, on every page.' }),
    groups: Type.Array(GroupBody, {
      maxItems: MAX_GROUPS,
      description: 'Of all reviews that match, the largest group first; empty without `group`.',
    }),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Give it as `cursor` to get the next page; null on the last page.',
      examples: [null],
    }),
  },
  { $id: 'Inbox' },
);
