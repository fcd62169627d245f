import { type Static, type TObject, Type } from 'typebox';
import { Fields, Nullable, OneOf, page, Timestamp } from './schema.ts';
import { BUDGET_PERIODS, LIMIT_KINDS } from './values/budgets.ts';
import { VELOCITY_WINDOWS } from './velocity-limits.ts';

const Money = (description: string) => Type.Integer({ minimum: 0, description });

/** The fields of a limit over time and its use, the same in every answer. */
export const LIMIT_STANDING = {
  name: Type.String({ examples: ['day'] }),
  kind: OneOf(LIMIT_KINDS),
  subject: Nullable(
    Type.String({
      description:
        'The subject of a per-merchant or per-payee limit: `m:` and the merchant, or `p:` and the payee, normalized so that all spellings match; not for display. `p:` alone covers all spends without a payee. `all` is what an allowance counts in all periods together. Null if all spends count together.',
      examples: ['p:stripe:acct1032d82ezvkylo2c'],
    }),
  ),
  window: Fields({
    type: OneOf([...new Set([...VELOCITY_WINDOWS, ...BUDGET_PERIODS])], {
      description: '`TOTAL` ends with the year 9999.',
    }),
    starts_at: Timestamp(),
    ends_at: Timestamp(),
  }),
  limit_minor: Nullable(Money('The most that may be spent; null if the amount is not limited.')),
  used_minor: Money('Held plus spent. Refunds do not lower it in a velocity limit.'),
  remaining_minor: Nullable(
    Money('The remaining amount; 0 if usage exceeds the limit, null without a limit.'),
  ),
  limit_count: Nullable(Money('The largest number of spends; null if it is not limited.')),
  used_count: Nullable(Money('Number of held and executed spends; null if they are not counted.')),
  counted_since: Nullable(
    Timestamp({ description: 'Set if a new limit lacks part of the usage from before it existed.' }),
  ),
};

/** The usage of a limit over time. Minor units; what is not limited is null. */
export interface LimitStanding extends Static<TObject<typeof LIMIT_STANDING>> {}

const SubjectName = Nullable(
  Type.String({
    description:
      'The merchant or payee as the agent last named it, for display; null without a subject, or if none of its newest 1,000 decisions names it.',
    examples: ['stripe:acct_1032D82eZvKYlo2C'],
  }),
);

/** The limits over time of an agent. */
export const AgentLimitsBody = page(
  Fields(
    { ...LIMIT_STANDING, subject_name: SubjectName },
    {
      $id: 'LimitStanding',
      description:
        'The usage of a limit over time. For a rolling limit, `window` is its current time range; spends may count up to a sixtieth of the window longer.',
    },
  ),
  { $id: 'AgentLimits' },
);

/** A limit that a decision counts in. */
export const CountedLimitBody = Fields(
  {
    ...LIMIT_STANDING,
    held_minor: Type.Optional(
      Money(
        'The part of `used_minor` that is held and may come back; omitted by decisions made before it was introduced.',
      ),
    ),
    counter_id: Type.String({
      description: 'Limits with the same counter have the same usage, whatever their names.',
      examples: ['vel_5d41402abc4b2a76b9719d911017c592'],
    }),
  },
  {
    $id: 'CountedLimit',
    description:
      'The usage of a limit over time after the decision. For a rolling limit, `window` is the step that the decision falls in: the time range in which it counts.',
  },
);
/** A limit that a decision counts toward, with its usage after it. `window` is the slot that the decision falls in. */
export interface CountedLimit extends Static<typeof CountedLimitBody> {
  used_count: number;
}
