import { Type } from 'typebox';
import { CurrencyCount, ReportQuery } from '../reports.ts';
import { Fields, Id, LimitMinor, Nullable, OneOf, Timestamp } from '../schema.ts';
import { MODES } from '../values/agents.ts';
import { MAX_PARTS, MAX_SHARING_AGENTS, SPENDING_BY } from '../values/reports.ts';

const Count = () => Type.Integer({ minimum: 0 });
const Sum = () => LimitMinor({ description: 'A sum of requested amounts, at most 9007199254740991.' });
const Kind = () => Fields({ count: Count(), amount_minor: Sum() });

/** Amounts and numbers of one day, or of a period, by decision as it was made. */
const KINDS = { allow: Kind(), review: Kind(), deny: Kind() };

const Series = {
  ...KINDS,
  before: Fields(
    { count: Count(), amount_minor: Sum() },
    { description: 'The same in the period of the same length directly before.' },
  ),
  by_day: Type.Array(Fields({ day: Type.String({ format: 'date', examples: ['2026-11-21'] }), ...KINDS }), {
    description: 'UTC days with decisions, oldest first.',
  }),
};

/** Requested amounts over time. */
export const SpendingBody = Fields(
  {
    from: Timestamp({ description: 'Start: decisions made at or after this time …' }),
    to: Timestamp({ description: '… and before this time.' }),
    agent: Nullable(Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) })),
    generated_at: Timestamp(),
    by: OneOf(SPENDING_BY),
    totals: Type.Array(CurrencyCount(Series), { description: 'All decisions, by currency.' }),
    parts: Type.Array(
      CurrencyCount({
        name: Type.String({
          description: 'The slug of the agent or shared budget, or the merchant as requested.',
        }),
        ...Series,
      }),
      { description: `Largest amount first, at most ${MAX_PARTS} of each currency.` },
    ),
  },
  {
    $id: 'Spending',
    description:
      'Requested amounts, by the decision as it was made; later reviews and outcomes do not change them.',
  },
);

/** The query of a spending report. */
export const SpendingQuery = Fields({
  ...ReportQuery.properties,
  by: Type.Optional(
    OneOf(SPENDING_BY, {
      description: `What the parts are; \`agent\` by default. \`budget\`: the requests of the agents that spend from a shared budget by their authority of now, in its currency, so that one request may be in several parts; of the ${MAX_SHARING_AGENTS} newest agents.`,
    }),
  ),
  mode: Type.Optional(OneOf(MODES, { description: 'Only decisions in this mode.' })),
});

/** A budget's remainder at a time. */
const Point = Fields({
  at: Timestamp(),
  remaining_minor: LimitMinor({ description: 'In the month or period then.' }),
});

/** How a budget is used up over its period. */
export const BurnDownBody = Fields(
  {
    name: Type.String({ description: 'The slug of the agent or of the shared budget.' }),
    currency: Type.String({ examples: ['EUR'] }),
    starts_at: Timestamp(),
    ends_at: Timestamp(),
    limit_minor: LimitMinor({ description: 'As it is now.' }),
    used_minor: Type.Integer({ minimum: 0, description: 'Held plus spent, now.' }),
    points: Type.Array(Point, {
      description:
        'What remained, oldest first: after the last decision of each UTC day as that decision says, and now.',
    }),
    used_up_at: Nullable(
      Timestamp({
        description:
          'When nothing will remain at the pace of the period so far; null if that is after its end, or nothing was used.',
      }),
    ),
    thresholds: Type.Array(LimitMinor({ description: 'A remainder at which the budget alerts.' })),
    generated_at: Timestamp(),
  },
  { $id: 'BurnDown' },
);

/** The curves of an agent's monthly budget. */
export const BurnDownsBody = Fields(
  {
    data: Type.Array(BurnDownBody, { description: 'Empty without a monthly budget.' }),
    next_cursor: Type.Null(),
  },
  { $id: 'BurnDowns' },
);
