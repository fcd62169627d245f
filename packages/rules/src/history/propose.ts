import type { Authority } from '@purser/contract/authority';
import { changesOf } from '@purser/contract/authority-changes';
import type { Widens } from '@purser/contract/field-rows';
import type { ReasonCode } from '@purser/contract/reasons';
import { RELAXATIONS } from '@purser/contract/values/history';
import { formatMoney } from '../values/money.ts';
import { type Aims, type ProposedValue, proposedValues } from './proposal-numbers.ts';
import type { LineReplayResult, ReplayedLine } from './replay-lines.ts';

export type Relaxation = (typeof RELAXATIONS)[number];

/** A value of any field. */
type FieldValue = string | number | object | null;

/** One value of a proposed authority. */
export interface ProposedField {
  path: string;
  value: FieldValue;
  /** The value of the base; null: none. */
  base: FieldValue;
  widens: Widens;
  why: string;
  line_ids: string[];
}

/** An authority made from lines, before it is tried. */
export interface Draft {
  authority: Authority;
  values: readonly ProposedValue[];
}

/** The fields that a proposal replaces; all others of the base stay. */
const PROPOSED = [
  'per_transaction_limit_minor',
  'review_threshold_minor',
  'monthly_budget_minor',
  'velocity_limits',
  'duplicate_window_seconds',
  'on_duplicate',
  'allowed_merchants',
  'allowed_payees',
  'on_other_merchants',
  'on_new_merchant',
  'new_merchant_threshold_minor',
  'active_hours',
  'on_outside_hours',
  'on_purpose_unclear',
] as const;

/** Reasons that each step of relaxing takes away. */
const REASONS_OF: Record<Relaxation, readonly ReasonCode[]> = {
  hours: ['OUTSIDE_ACTIVE_HOURS'],
  new_merchant: ['NEW_MERCHANT'],
  duplicates: ['DUPLICATE_SPEND'],
  pace: ['VELOCITY_LIMIT_EXCEEDED'],
  day: ['VELOCITY_LIMIT_EXCEEDED'],
  on_purpose_unclear: ['PURPOSE_UNCLEAR'],
  threshold: ['REVIEW_THRESHOLD_EXCEEDED'],
  limit: ['PER_TRANSACTION_LIMIT_EXCEEDED'],
};

/** Paths of the values that each step of relaxing takes away. */
const PATH_OF: Record<Exclude<Relaxation, 'on_purpose_unclear'>, string> = {
  hours: 'active_hours',
  new_merchant: 'on_new_merchant',
  duplicates: 'duplicate_window_seconds',
  pace: 'velocity_limits.pace',
  day: 'velocity_limits.day',
  threshold: 'review_threshold_minor',
  limit: 'per_transaction_limit_minor',
};

function withValues(base: Authority, values: readonly ProposedValue[]): Authority {
  const kept = Object.fromEntries(
    Object.entries(base).filter(([field]) => !(PROPOSED as readonly string[]).includes(field)),
  ) as unknown as Authority;
  const limits = values.flatMap(({ fields }) => fields.velocity_limits ?? []);
  const fields = Object.assign({}, ...values.map((each) => each.fields)) as Partial<Authority>;
  return { ...kept, ...fields, ...(limits.length === 0 ? {} : { velocity_limits: limits }) };
}

/** A first draft, before anything was relaxed. `lines` must not be empty. */
export function firstDraft(lines: readonly ReplayedLine[], base: Authority, aims: Aims): Draft {
  const values = proposedValues(lines, base, aims);
  return { authority: withValues(base, values), values };
}

/** Returns whether a replay keeps the aims of a proposal. */
export function isReached({ allow_share, reviews_per_week }: LineReplayResult, aims: Aims): boolean {
  return allow_share >= aims.keep_share && reviews_per_week <= aims.reviews_per_week;
}

/** The next step of relaxing a draft that would help, in their order; null: there is none left. */
export function nextRelaxation(
  { authority, values }: Draft,
  { by_reason }: LineReplayResult,
): Relaxation | null {
  const found = new Set(by_reason.map(({ reason_code }) => reason_code));
  const step = RELAXATIONS.find((each) => {
    if (!REASONS_OF[each].some((reason) => found.has(reason))) return false;
    if (each === 'on_purpose_unclear') return authority.on_purpose_unclear !== 'ALLOW';
    return values.some(({ path }) => path === PATH_OF[each]);
  });
  return step ?? null;
}

/** The draft with one step of relaxing. */
export function relaxed({ authority, values }: Draft, step: Relaxation): Draft {
  if (step === 'on_purpose_unclear') {
    const unclear: ProposedValue = {
      path: 'on_purpose_unclear',
      fields: { on_purpose_unclear: 'ALLOW' },
      why: 'Too many of your purchases say too little for their purpose to be clear.',
      line_ids: [],
    };
    const more = [...values, unclear];
    return { authority: { ...authority, on_purpose_unclear: 'ALLOW' }, values: more };
  }
  const left = values.filter(({ path }) => path !== PATH_OF[step]);
  return { authority: withValues(authority, left), values: left };
}

const valueAt = (authority: Partial<Authority> | null, path: string): FieldValue => {
  const [field, name] = path.split('.') as [keyof Authority, string | undefined];
  const value = authority?.[field] as FieldValue | undefined;
  if (name === undefined || !Array.isArray(value)) return value ?? null;
  return (value as { name?: string }[]).find((each) => each.name === name) ?? null;
};

/** The values of a draft beside those of its base, with what each widens. */
export function proposedFields({ authority, values }: Draft, base: Authority | null): ProposedField[] {
  const changes = changesOf(base, authority, formatMoney);
  const widening = (field: string): Widens => {
    const of_field = changes.filter((change) => change.field === field).map(({ widens }) => widens);
    return (
      of_field.find((widens) => widens === 'yes') ?? of_field.find((widens) => widens === 'maybe') ?? 'no'
    );
  };
  return values.flatMap(({ path, fields, why, line_ids }) =>
    Object.keys(fields).map((field) => {
      const at = field === 'velocity_limits' ? path : field;
      return {
        path: at,
        value: valueAt(authority, at),
        base: valueAt(base, at),
        widens: widening(field),
        why,
        line_ids,
      };
    }),
  );
}
