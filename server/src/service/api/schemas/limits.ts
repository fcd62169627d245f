import { VELOCITY_WINDOWS } from '@purser/contract/velocity-limits';
import { BUDGET_PERIODS } from '@purser/rules/counters/shared-budgets';
import { LIMIT_KINDS } from '@purser/rules/domain/reservations';
import Type from 'typebox';
import { Fields, Nullable, OneOf, page, Timestamp } from '../../http/schemas.ts';

const Money = (description: string) => Type.Integer({ minimum: 0, description });

/** How a limit over time stands, as its fields are shown wherever it is. */
export const LIMIT_STANDING = {
  name: Type.String({ examples: ['day'] }),
  kind: OneOf(LIMIT_KINDS),
  subject: Nullable(
    Type.String({
      description:
        'What is counted by itself: `m:` and the merchant, `p:` and the payee, both folded so that all spellings are one, so not for display (`p:` alone: all that name none); null where all spends count together.',
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
  limit_minor: Nullable(Money('The most that may be spent; null: no amount is limited.')),
  used_minor: Money('Held and spent. Refunds do not lower it in a limit of pace.'),
  remaining_minor: Nullable(Money('What is left; 0 where more is used than the limit, null without one.')),
  limit_count: Nullable(Money('The most spends; null: their number is not limited.')),
  used_count: Nullable(Money('Spends that hold or have spent; null where they are not counted.')),
  counted_since: Nullable(
    Timestamp({ description: 'Set where a new limit does not know all that came before it.' }),
  ),
};

const SubjectName = Nullable(
  Type.String({
    description:
      'The merchant or payee as the agent last asked for it, for display; null without a subject, and where none of its newest 1,000 decisions names it.',
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
        'How a limit over time stands. Of a rolling window `window` is the time that lies in it now; spends count up to a sixtieth of it longer.',
    },
  ),
  { $id: 'AgentLimits' },
);

/** A limit that a decision counts in. */
export const CountedLimitBody = Fields(
  {
    ...LIMIT_STANDING,
    counter_id: Type.String({
      description: 'Limits with the same counter count the same, under whatever name.',
      examples: ['vel_5d41402abc4b2a76b9719d911017c592'],
    }),
  },
  {
    $id: 'CountedLimit',
    description:
      'A limit over time as it stood after the decision. Of a rolling window `window` is the step that the decision counts in: from when, and until when, it counts.',
  },
);
