import type { ActiveHours, AllowedPayee, Authority, VelocityLimit } from '@purser/sdk';
import { formatMoney } from '../money.ts';
import { payeeInWords } from './draft.ts';
import { hoursInWords } from './hours.ts';
import { limitInWords, spanInWords } from './velocity.ts';

/** A field that differs, with its value before and after. Null means not set. */
export interface Change {
  name: string;
  before: string | null;
  after: string | null;
  /** Entries of a list. */
  removed: readonly string[];
  added: readonly string[];
}

type Field = Exclude<keyof Authority, 'purpose'> | `purpose.${keyof Authority['purpose']}`;

/** Names of the fields in display order. The compiler reports a field that is missing here. */
const NAMES: Readonly<Record<Field, string>> = {
  'purpose.objective': 'Objective',
  'purpose.success_criteria': 'Success criteria',
  'purpose.constraints': 'Constraints',
  'purpose.context': 'Context',
  'purpose.judge': 'Purpose judge',
  currency: 'Currency',
  per_transaction_limit_minor: 'Per-transaction limit',
  review_threshold_minor: 'Review threshold',
  monthly_budget_minor: 'Monthly budget',
  velocity_limits: 'Velocity limits',
  budgets: 'Shared budgets',
  duplicate_window_seconds: 'Duplicate window',
  on_duplicate: 'Duplicate requests',
  blocked_merchants: 'Blocked merchants',
  allowed_merchants: 'Allowed merchants',
  allowed_payees: 'Allowed payees',
  on_other_merchants: 'Other merchants',
  on_new_merchant: 'First payment to a merchant',
  new_merchant_threshold_minor: 'New merchants: allowed up to',
  allowed_action_types: 'Allowed action types',
  review_action_types: 'Action types that need review',
  on_purpose_unclear: 'Unclear purpose',
  reviewer_may_list: 'Reviewers may list merchants',
  time_zone: 'Time zone',
  valid_from: 'Valid from',
  valid_until: 'Valid until',
  active_hours: 'Active hours',
  on_outside_hours: 'Outside active hours',
};

/** Flattens an authority's fields to one level. */
function fieldsOf(authority: Authority | null): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  const { purpose = {}, ...others } = (authority ?? {}) as Record<string, unknown> & { purpose?: object };
  for (const [name, value] of Object.entries(purpose)) fields.set(`purpose.${name}`, value);
  for (const [name, value] of Object.entries(others)) fields.set(name, value);
  return fields;
}

function valueInWords(name: string, value: unknown, currency: string): string | null {
  if (value === undefined || value === null) return null;
  if (name.endsWith('_minor') && typeof value === 'number') return formatMoney(value, currency);
  if (name.endsWith('_seconds') && typeof value === 'number') return spanInWords(value);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Equal values give equal text, whatever the order of their fields. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

function velocityWords(limit: VelocityLimit, currency: string): string {
  const { name, on_exceeded } = limit;
  return `${name}: ${limitInWords(limit, currency)}${on_exceeded === 'REVIEW' ? ', otherwise needs review' : ''}`;
}

function entries(name: string, list: readonly unknown[], currency: string): string[] {
  return list.map((each) => {
    if (typeof each === 'string') return each;
    if (name === 'velocity_limits') return velocityWords(each as VelocityLimit, currency);
    if (name === 'active_hours') return hoursInWords(each as ActiveHours);
    if (name === 'allowed_payees') return payeeInWords(each as AllowedPayee);
    return canonical(each);
  });
}

/** Lists the fields in which two authorities differ, in display order. Null stands for no authority. */
export function diffOf(before: Authority | null, after: Authority | null): Change[] {
  const was = fieldsOf(before);
  const is = fieldsOf(after);
  const known = Object.keys(NAMES);
  const names = [...new Set([...known, ...was.keys(), ...is.keys()])];
  return names.flatMap((name) => {
    const [from, to] = [was.get(name), is.get(name)];
    if (canonical(from) === canonical(to)) return [];
    const [old_value, new_value] = [from ?? [], to ?? []];
    const is_list = Array.isArray(old_value) && Array.isArray(new_value);
    const [old_list, new_list] = is_list
      ? [entries(name, old_value, before?.currency ?? ''), entries(name, new_value, after?.currency ?? '')]
      : [[], []];
    if (is_list && old_list.length === 0 && new_list.length === 0) return [];
    return [
      {
        name: NAMES[name as Field] ?? name,
        before: is_list ? null : valueInWords(name, from, before?.currency ?? ''),
        after: is_list ? null : valueInWords(name, to, after?.currency ?? ''),
        removed: old_list.filter((each) => !new_list.includes(each)),
        added: new_list.filter((each) => !old_list.includes(each)),
      },
    ];
  });
}
