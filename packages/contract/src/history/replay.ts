import { type Static, Type } from 'typebox';
import { AuthorityBody } from '../authority.ts';
import { REASON_CODES } from '../reasons.ts';
import {
  Currency,
  Fields,
  Formed,
  IdIn,
  LimitMinor,
  Nullable,
  OneOf,
  QueryBound,
  Timestamp,
} from '../schema.ts';
import { ANOMALY_KINDS, RELAXATIONS, REPLAY_SKIPS } from '../values/history.ts';

const Share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const Count = () => Type.Integer({ minimum: 0 });
const kinds = { allow: Count(), review: Count(), deny: Count() };
const closed = { additionalProperties: false } as const;

/** The name of an agent in a filter. */
const AgentName = (description: string) =>
  Formed('^(agt_[0-9A-Za-z]{1,60}|[a-z0-9][a-z0-9_-]{0,63})$', "must be an agent's slug or id", {
    description,
    examples: ['infra-bot'],
  });

const FeedName = Formed('^[a-z0-9][a-z0-9_-]{0,63}$', 'must be the name of a feed', {
  description: 'Lines of this account or rail.',
  examples: ['ramp'],
});

/** The fields of a filter of lines that are looked at together. */
export const ReportFilter = {
  agent: Type.Optional(AgentName('Lines of this agent; `none`: lines that are nobody’s.')),
  feed: Type.Optional(FeedName),
  currency: Type.Optional(Currency({ description: 'By default that of most lines.' })),
  from: Type.Optional(QueryBound('from')),
  to: Type.Optional(QueryBound('to')),
};

/** A filter of lines in a body. */
export const FilterBody = Fields(
  {
    imports: Type.Optional(
      Type.Array(IdIn('import'), { maxItems: 50, description: 'Lines of these imports.' }),
    ),
    ...ReportFilter,
  },
  { $id: 'LineFilter' },
);

/** Decisions of a draft about lines. */
export const LineReplayBody = Type.Object(
  {
    saved: Type.Literal(false),
    evaluated: Count(),
    skipped: Type.Array(Type.Object({ reason: OneOf(REPLAY_SKIPS), count: Count() }, closed)),
    draft: Type.Object({ ...kinds, authorized_minor: LimitMinor() }, closed),
    allow_share: Share('The share of the evaluated lines that the draft allows.'),
    reviews_per_week: Type.Number({ minimum: 0 }),
    by_reason: Type.Array(Type.Object({ reason_code: OneOf(REASON_CODES), count: Count() }, closed)),
    by_day: Type.Array(Type.Object({ day: Type.String(), ...kinds }, closed)),
    stopped: Type.Array(
      Type.Object(
        {
          line_id: Type.String(),
          occurred_at: Timestamp(),
          merchant: Type.String(),
          amount_minor: LimitMinor(),
          decision: OneOf(['REVIEW', 'DENY']),
          reason_code: OneOf(REASON_CODES),
          explanation: Type.String(),
        },
        closed,
      ),
      { description: 'The newest 100 lines that the draft does not allow, newest first.' },
    ),
  },
  { ...closed, $id: 'LineReplay' },
);
export type LineReplayBody = Static<typeof LineReplayBody>;

const AnyObject = () => Type.Object({}, { additionalProperties: true });
/** A value of any field of an authority. */
const AnyValue = (description: string) =>
  Type.Union(
    [
      Type.Number(),
      Type.String(),
      Type.Array(Type.Union([Type.String(), AnyObject()])),
      AnyObject(),
      Type.Null(),
    ],
    { description },
  );

/** An authority made from lines, with the reason for each value. */
export const ProposalBody = Type.Object(
  {
    saved: Type.Literal(false),
    base: Nullable(
      Type.Object(
        { version: Type.Integer(), hash: Type.String() },
        {
          ...closed,
          description: 'The current version of the agent, for `if-match`; null: it has none.',
        },
      ),
    ),
    authority: AuthorityBody,
    fields: Type.Array(
      Type.Object(
        {
          path: Type.String(),
          value: AnyValue('The proposed value.'),
          base: AnyValue('The value of the current version; null: none.'),
          widens: OneOf(['yes', 'no', 'maybe']),
          why: Type.String(),
          line_ids: Type.Array(Type.String()),
        },
        closed,
      ),
    ),
    replay: LineReplayBody,
    check: Type.Object(
      { lines: Count(), allow_share: Share('The share of them that it allows.') },
      {
        ...closed,
        description: 'A proposal from the first four fifths of the lines, tried on the last fifth.',
      },
    ),
    reached: Type.Boolean({ description: 'It keeps the wanted share, with no more reviews than wanted.' }),
    relaxed: Type.Array(OneOf(RELAXATIONS), { description: 'Values that were dropped to keep the share.' }),
  },
  { ...closed, $id: 'Proposal' },
);
export type ProposalBody = Static<typeof ProposalBody>;

/** Lines that stand out. */
export const AnomalyBody = Type.Object(
  {
    kind: OneOf(ANOMALY_KINDS),
    line_ids: Type.Array(Type.String()),
    merchant: Type.String(),
    amount_minor: LimitMinor(),
    currency: Type.String(),
    at: Timestamp(),
    why: Type.String(),
  },
  { ...closed, $id: 'Anomaly' },
);
