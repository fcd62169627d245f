import { type Static, type TObject, Type } from 'typebox';
import { WEEKDAYS } from './calendar.ts';
import { type DefaultsOf, defaultsOf, type FieldRow, outcome, schemasOf } from './field-rows.ts';
import { TEXT_LENGTHS } from './limits.ts';
import { ModelUsageBody } from './models/fields.ts';
import { PURPOSE_ROWS, type Purpose, PurposeBody } from './purpose/fields.ts';
import {
  Currency,
  Fields,
  Formed,
  InstantIn,
  LimitMinor,
  Line,
  OneOf,
  PayeeId,
  TimeZone,
  WholeNumber,
} from './schema.ts';
import type { Stage } from './stages.ts';
import { VELOCITY_ROWS } from './velocity-limits.ts';

export type { Purpose };

const MAX_MERCHANTS = 1_000;

const ActiveHoursBody = Fields(
  {
    days: Type.Array(OneOf(WEEKDAYS), {
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
      description: 'The days on which the hours begin.',
    }),
    from: Formed('^([01][0-9]|2[0-3]):[0-5][0-9]$', 'must be a time from 00:00 to 23:59', {
      examples: ['08:00'],
    }),
    to: Formed('^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$', 'must be a time from 00:00 to 24:00', {
      description: 'Exclusive. If it is earlier than `from`, it falls on the next day.',
      examples: ['18:00'],
    }),
  },
  { $id: 'ActiveHours' },
);
/** Hours of some days of the week. Where `from` is after `to`, they run into the day after. */
export interface ActiveHours extends Static<typeof ActiveHoursBody> {}

const ActionTypes = (description: string, example: string[]) =>
  Type.Optional(
    Type.Array(Line({ max: TEXT_LENGTHS.name }), {
      minItems: 1,
      maxItems: 20,
      description: `${description} Compared case-insensitively.`,
      examples: [example],
    }),
  );

const Merchants = (description: string, example: string[]) =>
  Type.Optional(
    Type.Array(Line({ max: TEXT_LENGTHS.merchant }), {
      maxItems: MAX_MERCHANTS,
      description,
      examples: [example],
    }),
  );

/** An amount that limits: none of its fields is read by a judge of purpose. */
const limit = <const Of extends Stage>(label: string, stage: Of, description: string, example: number) =>
  ({
    label,
    stages: [stage],
    is_assessed: false,
    compare: 'limit',
    schema: Type.Optional(LimitMinor({ description, examples: [example] })),
  }) as const;

const AllowedPayeeBody = Fields(
  {
    payee_id: PayeeId(),
    merchant: Type.Optional(
      Line({ max: TEXT_LENGTHS.merchant }, { description: 'By default, any payee there.' }),
    ),
  },
  { $id: 'AllowedPayee' },
);
/** A payee that may be paid. With `merchant`, only that merchant is paid there, and only at its listed payees. */
export interface AllowedPayee extends Static<typeof AllowedPayeeBody> {}

/**
 * The fields of an authority, one row each, in the order of the reference. Everything that reads an authority follows
 * from it: the schema of `POST /v1/agents/:id/authority`, the types, the defaults, what a change widens, the
 * reference page, the labels.
 */
export const AUTHORITY_ROWS = {
  purpose: {
    label: 'Purpose',
    stages: ['purpose'],
    is_assessed: true,
    compare: 'words',
    schema: PurposeBody,
  },
  currency: {
    label: 'Currency',
    stages: ['currency'],
    is_assessed: false,
    compare: 'words',
    schema: Currency({
      description: 'ISO 4217 code of all amounts in the authority; a spend in any other currency is denied.',
      examples: ['EUR'],
    }),
  },
  per_transaction_limit_minor: limit(
    'Per-transaction limit',
    'per_transaction_limit',
    'The largest allowed spend. A larger one is denied, or capped if the request is `limitable`.',
    20000,
  ),
  review_threshold_minor: limit(
    'Review threshold',
    'review_threshold',
    'Larger amounts need a review.',
    8000,
  ),
  review_ttl_seconds: {
    label: 'Reviews expire after',
    stages: [],
    is_assessed: false,
    compare: 'duration',
    schema: Type.Optional(
      WholeNumber(
        { min: 60, max: 604_800 },
        {
          description:
            'How long a request waits for a review in ENFORCE before it expires; by default as the installation sets it.',
          examples: [14_400],
        },
      ),
    ),
  },
  monthly_budget_minor: limit(
    'Monthly budget',
    'monthly_budget',
    'The most that may be spent in a calendar month (UTC), holds included.',
    150000,
  ),
  blocked_merchants: {
    label: 'Blocked merchants',
    stages: ['merchant'],
    is_assessed: false,
    compare: { more: 'no', fewer: 'yes' },
    schema: Merchants('Merchant names, or host names (which also block their subdomains).', ['evil.example']),
  },
  allowed_merchants: {
    label: 'Allowed merchants',
    stages: ['merchant_allowlist', 'purpose'],
    is_assessed: true,
    compare: { more: 'yes', fewer: 'no' },
    schema: Merchants(
      'Whole names, or host names (with their subdomains). Paying one of them is evidence that a spend serves the purpose; it overrides no limit, constraint or conflict. `on_other_merchants` decides about all others.',
      ['Hetzner Online', 'hetzner.com'],
    ),
  },
  require_description: {
    label: 'Description required',
    stages: ['purpose'],
    is_assessed: true,
    compare: 'demand',
    default: false,
    schema: Type.Optional(
      Type.Boolean({
        description:
          'True if a spend without a description is unclear. By default a description only adds what contradicts the purpose.',
      }),
    ),
  },
  reviewer_may_list: {
    label: 'Reviewers may list merchants',
    stages: [],
    is_assessed: false,
    compare: 'switch',
    default: false,
    schema: Type.Optional(
      Type.Boolean({
        description:
          'True if reviewers may also list and unlist merchants for the agent; by default only administrators may.',
      }),
    ),
  },
  allowance_required: {
    label: 'Allowance required',
    stages: ['allowance'],
    is_assessed: false,
    compare: 'demand',
    default: false,
    schema: Type.Optional(
      Type.Boolean({
        description: 'True if every spend must name an allowance; by default it may be made without one.',
      }),
    ),
  },
  reviewer_allowance_limit_minor: {
    label: 'Reviewers may grant allowances up to',
    stages: [],
    is_assessed: false,
    compare: 'allowance',
    default: 0,
    schema: Type.Optional(
      WholeNumber(
        { min: 0, max: Number.MAX_SAFE_INTEGER },
        {
          description:
            'The largest allowance or standing approval that a reviewer may grant, in minor units of `currency`; by default only administrators grant them.',
        },
      ),
    ),
  },
  on_purpose_unclear: outcome(
    'Unclear purpose',
    'purpose',
    ['REVIEW', 'ALLOW'],
    'REVIEW',
    (unset) => `Decision about a spend whose purpose is unclear; ${unset}.`,
  ),
  valid_from: {
    label: 'Valid from',
    stages: ['validity'],
    is_assessed: false,
    compare: 'from',
    schema: Type.Optional(
      InstantIn({
        description: 'Start of the period in which the agent may spend; by default there is no start.',
        examples: ['2026-12-01T00:00:00Z'],
      }),
    ),
  },
  valid_until: {
    label: 'Valid until',
    stages: ['validity'],
    is_assessed: false,
    compare: 'until',
    schema: Type.Optional(
      InstantIn({
        description:
          'End of the period in which the agent may spend, exclusive. No capability outlasts it, and afterwards a REVIEW can no longer be allowed.',
        examples: ['2027-03-01T00:00:00Z'],
      }),
    ),
  },
  time_zone: {
    label: 'Time zone',
    stages: ['active_hours', 'velocity'],
    is_assessed: false,
    compare: 'words',
    default: 'UTC',
    schema: Type.Optional(
      TimeZone({
        description:
          'Time zone for all days, weeks, months and hours below: an IANA name; defaults to `UTC`.',
      }),
    ),
  },
  active_hours: {
    label: 'Active hours',
    stages: ['active_hours'],
    is_assessed: false,
    compare: 'hours',
    schema: Type.Optional(
      Type.Array(ActiveHoursBody, {
        minItems: 1,
        maxItems: 14,
        description: 'When the agent may spend, in local time of `time_zone`; by default at any time.',
        examples: [[{ days: ['MON', 'TUE', 'WED', 'THU', 'FRI'], from: '08:00', to: '18:00' }]],
      }),
    ),
  },
  on_outside_hours: outcome(
    'Outside active hours',
    'active_hours',
    ['DENY', 'REVIEW'],
    'DENY',
    (unset) => `Decision about a spend outside the active hours; ${unset}.`,
    { qualifies: 'active_hours' },
  ),
  on_new_merchant: outcome(
    'First payment to a merchant',
    'new_merchant',
    ['ALLOW', 'REVIEW', 'DENY'],
    'ALLOW',
    (unset) =>
      `Decision about a spend at a merchant (or payee, if given) that is new to the agent; ${unset}. A merchant is known once a person allowed it or listed it as allowed, or the payment rail executed a spend there that was in effect allowed.`,
  ),
  new_merchant_threshold_minor: {
    ...limit(
      'New merchants allowed up to',
      'new_merchant',
      'Amounts up to this pass at a new merchant.',
      2000,
    ),
    compare: 'allowance',
    qualifies: 'on_new_merchant',
  },
  allowed_action_types: {
    label: 'Allowed action types',
    stages: ['action_type'],
    is_assessed: false,
    compare: { more: 'yes', fewer: 'no', open: true },
    schema: ActionTypes('All other action types are denied, except those that need a review.', [
      'purchase',
      'top_up',
    ]),
  },
  review_action_types: {
    label: 'Action types that need review',
    stages: ['action_type'],
    is_assessed: false,
    compare: { more: 'no', fewer: 'yes' },
    schema: ActionTypes(
      'Spends of these types need a review, even if they are not among the allowed types.',
      ['subscription'],
    ),
  },
  allowed_payees: {
    label: 'Allowed payees',
    stages: ['merchant_allowlist'],
    is_assessed: false,
    // A merchant that has an account is paid at no other one, so that an entry may narrow as well.
    compare: { more: 'maybe', fewer: 'maybe' },
    schema: Type.Optional(
      Type.Array(AllowedPayeeBody, {
        maxItems: MAX_MERCHANTS,
        description:
          'Payees that may be paid. A merchant named here, or listed with payees for the agent, may be paid only at those: any other payee is handled by `on_other_merchants`, and is at least reviewed.',
        examples: [[{ merchant: 'Hetzner Online', payee_id: 'iban:DE44500105175407324931' }]],
      }),
    ),
  },
  on_other_merchants: outcome(
    'Other merchants',
    'merchant_allowlist',
    ['ALLOW', 'REVIEW', 'DENY'],
    'ALLOW',
    (unset) =>
      `Decision about a spend at a merchant that is neither in \`allowed_merchants\` or \`allowed_payees\` nor listed for the agent; ${unset}.`,
  ),
  model_usage: {
    label: 'Model calls',
    stages: ['purpose', 'duplicate', 'new_merchant'],
    is_assessed: true,
    compare: 'model_usage',
    schema: Type.Optional(ModelUsageBody),
  },
  ...VELOCITY_ROWS,
} as const satisfies Record<string, FieldRow>;

export const AUTHORITY_FIELDS = schemasOf(AUTHORITY_ROWS);

/** The body of an authority, as posted. */
export const AuthorityBody = Fields(AUTHORITY_FIELDS, {
  $id: 'Authority',
  description: 'An omitted limit does not apply.',
  'x-together': 'authority',
});

/** The full authority object of `POST /v1/agents/:id/authority`. A limit that is left out does not limit. */
export interface Authority extends Static<TObject<typeof AUTHORITY_FIELDS>> {}

/** Defaults of omitted fields. */
export const AUTHORITY_DEFAULTS = defaultsOf(AUTHORITY_ROWS);
type Defaults = DefaultsOf<typeof AUTHORITY_ROWS>;

/** Fills in what an authority leaves out and what still means something. */
export function withDefaults<Given extends object>(
  authority: Given,
): Given & Required<Pick<Authority, keyof Defaults>> {
  const given = authority as Readonly<Record<string, unknown>>;
  const filled = Object.entries(AUTHORITY_DEFAULTS).map(([name, unset]) => [name, given[name] ?? unset]);
  return { ...authority, ...Object.fromEntries(filled) };
}

/** The rows of an authority's fields on one level: those of the purpose as `purpose.objective`. */
export const FLAT_ROWS: Readonly<
  Record<string, Pick<FieldRow, 'label' | 'compare' | 'default'> | undefined>
> = {
  ...Object.fromEntries(Object.entries(PURPOSE_ROWS).map(([name, row]) => [`purpose.${name}`, row])),
  ...AUTHORITY_ROWS,
};

/** The names of an authority's fields, in the order of the table. */
export const AUTHORITY_FIELD_NAMES = Object.keys(AUTHORITY_ROWS) as (keyof Authority)[];

/** The row of a field. */
export const authorityRow = (name: keyof Authority): FieldRow => AUTHORITY_ROWS[name];
