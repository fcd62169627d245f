import { type Static, Type } from 'typebox';
import { CALENDAR_WINDOWS } from './calendar.ts';
import { type FieldRow, outcome } from './field-rows.ts';
import { TEXT_LENGTHS } from './limits.ts';
import { Fields, LimitMinor, Line, OneOf, Slug, WholeNumber } from './schema.ts';

export const VELOCITY_WINDOWS = [...CALENDAR_WINDOWS, 'ROLLING'] as const;
const SCOPES = ['AGENT', 'MERCHANT', 'PAYEE'] as const;
const ON_EXCEEDED = ['DENY', 'REVIEW'] as const;

const MAX_LIMITS = 10;
const MAX_FILTER_MERCHANTS = 100;
const MAX_FILTER_TYPES = 20;
const MAX_BUDGETS_NAMED = 5;
const MAX_COUNT = 1_000_000;
const MINUTE_S = 60;
const DAY_S = 86_400;

/** What is left out of a limit means this. */
export const VELOCITY_DEFAULTS = { per: 'AGENT', on_exceeded: 'DENY' } as const;

const VelocityLimitBody = Fields(
  {
    name: Slug({
      description: 'Its own among the limits of the authority. Findings and standings name it.',
      examples: ['day'],
    }),
    window: OneOf(VELOCITY_WINDOWS, {
      description:
        'A calendar day, week (from Monday) or month of `time_zone`, or `ROLLING`: the last `window_seconds` at any moment.',
    }),
    window_seconds: Type.Optional(
      WholeNumber(
        { min: MINUTE_S, max: 31 * DAY_S },
        { description: 'Of `ROLLING`, and only of it.', examples: [600] },
      ),
    ),
    per: Type.Optional(
      OneOf(SCOPES, {
        description:
          'What is counted by itself: with `MERCHANT` each merchant by the name that the agent gives it, with `PAYEE` each `payee_id`; `AGENT`, all spends together, when left out.',
      }),
    ),
    limit_amount_minor: Type.Optional(
      LimitMinor({
        description:
          'The most that the spends of a window may come to, holds included. One that is over it is denied, or capped where the request is `limitable`.',
        examples: [50000],
      }),
    ),
    limit_count: Type.Optional(
      WholeNumber({ min: 1, max: MAX_COUNT }, { description: 'The most spends of a window.', examples: [5] }),
    ),
    merchants: Type.Optional(
      Type.Array(Line({ max: TEXT_LENGTHS.merchant }), {
        minItems: 1,
        maxItems: MAX_FILTER_MERCHANTS,
        description: 'Only spends at these count. They are matched as `blocked_merchants` are.',
        examples: [['Google Ads']],
      }),
    ),
    action_types: Type.Optional(
      Type.Array(Line({ max: TEXT_LENGTHS.name }), {
        minItems: 1,
        maxItems: MAX_FILTER_TYPES,
        description: 'Only spends of these types of action count.',
        examples: [['top_up']],
      }),
    ),
    on_exceeded: Type.Optional(
      OneOf(ON_EXCEEDED, {
        description:
          'What a spend over it becomes; `DENY` when left out. With `REVIEW` nothing is capped, and what a person allows counts beyond the limit.',
      }),
    ),
  },
  {
    $id: 'VelocityLimit',
    description: 'A limit over time: `limit_amount_minor`, `limit_count`, or both.',
  },
);

export interface VelocityLimit extends Static<typeof VelocityLimitBody> {}

/** The fields of an authority about what is spent over time. */
export const VELOCITY_ROWS = {
  budgets: {
    label: 'Shared budgets',
    stages: ['shared_budget'],
    is_assessed: false,
    compare: { more: 'no', fewer: 'yes' },
    schema: Type.Optional(
      Type.Array(Slug({ examples: ['marketing'] }), {
        minItems: 1,
        maxItems: MAX_BUDGETS_NAMED,
        uniqueItems: true,
        description:
          'Shared budgets, by slug, in the same currency. A spend counts in each of them and in all above, from then on; one that is over what is left of any is denied, or capped where the request is `limitable`. A frozen one denies.',
      }),
    ),
  },
  velocity_limits: {
    label: 'Velocity limits',
    stages: ['velocity'],
    is_assessed: false,
    compare: 'velocity',
    schema: Type.Optional(
      Type.Array(VelocityLimitBody, {
        maxItems: MAX_LIMITS,
        description:
          'What may be spent, and how often, over time. All of them hold, so the strictest wins. No two may have the same window, `per` and filters.',
        examples: [
          [
            { name: 'day', window: 'DAY', limit_amount_minor: 50000 },
            { name: 'burst', window: 'ROLLING', window_seconds: 600, limit_count: 5 },
          ],
        ],
      }),
    ),
  },
  duplicate_window_seconds: {
    label: 'Duplicate window',
    stages: ['duplicate'],
    is_assessed: false,
    compare: 'window',
    schema: Type.Optional(
      WholeNumber(
        { min: MINUTE_S, max: 7 * DAY_S },
        {
          description:
            'For how long the same amount to the same merchant, under another idempotency key, is taken for a duplicate, unless both name their payees and these differ.',
          examples: [1800],
        },
      ),
    ),
  },
  on_duplicate: outcome(
    'Duplicate requests',
    'duplicate',
    ON_EXCEEDED,
    'REVIEW',
    (unset) => `What a duplicate becomes; ${unset}.`,
  ),
} as const satisfies Record<string, FieldRow>;
