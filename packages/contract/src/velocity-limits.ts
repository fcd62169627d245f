import { type Static, Type } from 'typebox';
import { CALENDAR_WINDOWS } from './calendar.ts';
import { type FieldRow, outcome } from './field-rows.ts';
import { TEXT_LENGTHS } from './limits.ts';
import { AlertPercents, Fields, LimitMinor, Line, OneOf, Slug, WholeNumber } from './schema.ts';

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

/** Defaults of a limit. */
export const VELOCITY_DEFAULTS = { per: 'AGENT', on_exceeded: 'DENY' } as const;

const VelocityLimitBody = Fields(
  {
    name: Slug({
      description: 'Unique among the limits of the authority. Results and usage refer to it.',
      examples: ['day'],
    }),
    window: OneOf(VELOCITY_WINDOWS, {
      description:
        'A calendar day, week (from Monday) or month in `time_zone`, or `ROLLING`: the last `window_seconds` at any time.',
    }),
    window_seconds: Type.Optional(
      WholeNumber(
        { min: MINUTE_S, max: 31 * DAY_S },
        { description: 'Required for `ROLLING`; not allowed otherwise.', examples: [600] },
      ),
    ),
    per: Type.Optional(
      OneOf(SCOPES, {
        description:
          'The unit that is counted: `MERCHANT` counts each merchant (by the name the agent gives) separately, `PAYEE` each `payee_id`; the default `AGENT` counts all spends together.',
      }),
    ),
    limit_amount_minor: Type.Optional(
      LimitMinor({
        description:
          'The most that may be spent in a window, holds included. A spend over it is denied, or capped if the request is `limitable`.',
        examples: [50000],
      }),
    ),
    limit_count: Type.Optional(
      WholeNumber(
        { min: 1, max: MAX_COUNT },
        { description: 'The largest number of spends in a window.', examples: [5] },
      ),
    ),
    merchants: Type.Optional(
      Type.Array(Line({ max: TEXT_LENGTHS.merchant }), {
        minItems: 1,
        maxItems: MAX_FILTER_MERCHANTS,
        description: 'Only spends at these merchants count. Matched like `blocked_merchants`.',
        examples: [['Google Ads']],
      }),
    ),
    action_types: Type.Optional(
      Type.Array(Line({ max: TEXT_LENGTHS.name }), {
        minItems: 1,
        maxItems: MAX_FILTER_TYPES,
        description: 'Only spends of these action types count.',
        examples: [['top_up']],
      }),
    ),
    on_exceeded: Type.Optional(
      OneOf(ON_EXCEEDED, {
        description:
          'Decision about a spend over the limit; defaults to `DENY`. With `REVIEW` nothing is capped, and spends that a person allows count beyond the limit.',
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
          'Shared budgets, by slug, in the same currency. From then on a spend counts toward each of them and all their parents. A spend over the remaining amount of any is denied, or capped if the request is `limitable`. A frozen budget denies every spend.',
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
          'Limits on amounts and counts over time. All of them apply, so the strictest wins. No two may have the same window, `per` and filters.',
        examples: [
          [
            { name: 'day', window: 'DAY', limit_amount_minor: 50000 },
            { name: 'burst', window: 'ROLLING', window_seconds: 600, limit_count: 5 },
          ],
        ],
      }),
    ),
  },
  alert_percents: {
    label: 'Alert percentages',
    stages: [],
    is_assessed: false,
    compare: 'notice',
    schema: Type.Optional(
      AlertPercents({
        description:
          'The decision whose usage reaches one of these percentages of the monthly budget or of a velocity limit publishes `limit.threshold.reached`, once a percentage and window; by default nothing is published.',
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
            'For how long a spend of the same amount at the same merchant, under another idempotency key, counts as a duplicate, unless both name a payee and the payees differ.',
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
    (unset) => `Decision about a duplicate; ${unset}.`,
    { qualifies: 'duplicate_window_seconds' },
  ),
} as const satisfies Record<string, FieldRow>;
