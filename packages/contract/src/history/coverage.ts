import { type Static, Type } from 'typebox';
import { TEXT_LENGTHS } from '../limits.ts';
import {
  Currency,
  Fields,
  Formed,
  Id,
  IdIn,
  LimitMinor,
  LongText,
  Nullable,
  OneOf,
  QueryBound,
  Timestamp,
  WholeNumber,
} from '../schema.ts';
import { MAX_NEAREST, MAX_NEVER_ASKED, RESOLUTION_ACTIONS, UNMATCHED_STATES } from '../values/coverage.ts';
import { LineBody } from './lines.ts';

const Count = () => Type.Integer({ minimum: 0 });
const closed = { additionalProperties: false } as const;

/** How lines are compared with decisions. */
const settings = {
  window_days: WholeNumber(
    { min: 1, max: 31 },
    { description: 'How many days before a payment its request may have been made; 7 at first.' },
  ),
  tolerance_percent: WholeNumber(
    { min: 0, max: 20 },
    {
      description:
        'How far an amount may differ from the expected one, in percent of it; 2 at first. The larger of the two tolerances counts.',
    },
  ),
  tolerance_minor: WholeNumber(
    { min: 0, max: 1_000_000 },
    { description: 'The same in minor units; 0 at first.' },
  ),
  grace_seconds: WholeNumber(
    { min: 0, max: 604_800 },
    { description: 'How long after a payment it is not yet called unasked; 3,600 at first.' },
  ),
};

export const CoverageSettingsBody = Fields(settings, { $id: 'CoverageSettings' });

/** Settings to change; those left out stay as they are. */
export const CoverageSettingsChange = Fields(
  {
    window_days: Type.Optional(settings.window_days),
    tolerance_percent: Type.Optional(settings.tolerance_percent),
    tolerance_minor: Type.Optional(settings.tolerance_minor),
    grace_seconds: Type.Optional(settings.grace_seconds),
  },
  { $id: 'CoverageSettingsChange' },
);

export const ResolutionRequest = Fields(
  {
    action: OneOf(RESOLUTION_ACTIONS, {
      description:
        '`MATCH`: `decision_id` asked for it. `UNMATCH`: no decision did. `EXCLUDE`: it counts in no share. `INCLUDE`: what was said of it before no longer holds.',
    }),
    decision_id: Type.Optional(
      Nullable(IdIn('decision', { description: 'With `MATCH`: the decision that asked for it.' })),
    ),
    comment: Type.Optional(Nullable(LongText({ max: TEXT_LENGTHS.comment }))),
  },
  { $id: 'LineResolutionRequest', examples: [{ action: 'EXCLUDE', comment: 'A fee of the bank.' }] },
);

export const ResolutionBody = Fields(
  {
    resolution_id: Id('line_resolution'),
    line_id: Id('line'),
    action: OneOf(RESOLUTION_ACTIONS),
    decision_id: Nullable(Type.String()),
    comment: Nullable(Type.String()),
    principal_id: Nullable(Type.String({ examples: ['user:ada'] })),
    key_id: Nullable(Id('api_key', { description: 'Null for a person, who is named by `principal_id`.' })),
    created_at: Timestamp(),
  },
  {
    $id: 'LineResolution',
    description: 'What a person said of a line. Never changed or removed; the newest holds.',
  },
);
export type ResolutionBody = Static<typeof ResolutionBody>;

const Sum = () => Type.Object({ lines: Count(), amount_minor: LimitMinor() }, closed);
const Share = (description: string) => Nullable(Type.Number({ minimum: 0, maximum: 1, description }));

const sums = {
  currency: Type.String(),
  asked: Sum(),
  late: Sum(),
  refused: Sum(),
  never_asked: Sum(),
  waiting: Sum(),
  excluded: Sum(),
  asked_share: Share(
    'The share of the amount that was asked for, of asked, late, refused and never asked; null without any.',
  ),
  asked_share_lines: Share('The same share of the lines.'),
};
const AgentName = Type.Object({ id: Id('agent'), slug: Type.String() }, closed);

export const CoverageReportQuery = Fields({
  from: Type.Optional(QueryBound('from')),
  to: Type.Optional(QueryBound('to')),
  agent: Type.Optional(
    Formed('^(agt_[0-9A-Za-z]{1,60}|[a-z0-9][a-z0-9_-]{0,63})$', "must be an agent's slug or id", {
      description: 'Lines of this agent.',
      examples: ['infra-bot'],
    }),
  ),
  feed: Type.Optional(
    Formed('^[a-z0-9][a-z0-9_-]{0,63}$', 'must be the name of a feed', { examples: ['ramp'] }),
  ),
  currency: Type.Optional(Currency()),
});

export const CoverageReportBody = Type.Object(
  {
    totals: Type.Array(Type.Object(sums, closed)),
    by_day: Type.Array(Type.Object({ day: Type.String({ description: 'In UTC.' }), ...sums }, closed)),
    by_agent: Type.Array(Type.Object({ agent: AgentName, ...sums }, closed)),
    by_feed: Type.Array(Type.Object({ feed: Type.String(), ...sums }, closed)),
    never_asked: Type.Array(LineBody, {
      description: `The ${MAX_NEVER_ASKED} largest lines that nobody asked for, of each currency the largest first.`,
    }),
    unassigned: Type.Integer({ minimum: 0, description: 'The number of lines that are nobody’s.' }),
    deleted_imports: Type.Integer({
      minimum: 0,
      description: 'The number of imports that were deleted, of all times.',
    }),
  },
  { ...closed, $id: 'CoverageReport' },
);
export type CoverageReportBody = Static<typeof CoverageReportBody>;
export type CoverageSums = CoverageReportBody['totals'][number];

/** The data of `spend.unmatched`. */
export const UnmatchedSpendBody = Type.Object(
  {
    line: LineBody,
    state: OneOf(UNMATCHED_STATES),
    nearest: Type.Array(Type.Object({ decision_id: Id('decision'), why: Type.String() }, closed), {
      maxItems: MAX_NEAREST,
      description: 'Decisions of the agent that are nearest to it, and what keeps each from being its.',
    }),
  },
  { ...closed, $id: 'UnmatchedSpend' },
);
export type UnmatchedSpendBody = Static<typeof UnmatchedSpendBody>;
