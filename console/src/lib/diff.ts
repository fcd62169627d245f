import type { Authority } from '@purser/sdk';
import { formatMoney } from './money.ts';

/** A field that differs: its name, and its words before and after. Null: it is not set. */
export interface Change {
  name: string;
  before: string | null;
  after: string | null;
  /** Of lists: entries that went and came. */
  removed: readonly string[];
  added: readonly string[];
}

const NAMES: Record<string, string> = {
  'purpose.objective': 'Objective',
  'purpose.success_criteria': 'Success criteria',
  'purpose.constraints': 'Constraints',
  'purpose.context': 'Context',
  currency: 'Currency',
  per_transaction_limit_minor: 'Per-transaction limit',
  review_threshold_minor: 'Review threshold',
  monthly_budget_minor: 'Monthly budget',
  blocked_merchants: 'Blocked merchants',
  allowed_merchants: 'Allowed merchants',
  on_purpose_unclear: 'When the purpose is unclear',
};

/** The fields of an authority on one level. */
function fieldsOf(authority: Authority | null): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  const { purpose = {}, ...others } = (authority ?? {}) as Record<string, unknown> & { purpose?: object };
  for (const [name, value] of Object.entries(purpose)) fields.set(`purpose.${name}`, value);
  for (const [name, value] of Object.entries(others)) fields.set(name, value);
  return fields;
}

function say(name: string, value: unknown, currency: string): string | null {
  if (value === undefined || value === null) return null;
  if (name.endsWith('_minor') && typeof value === 'number') return formatMoney(value, currency);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What differs between two authorities, field by field, in the order in which they are read. Null: none was set. */
export function diffOf(before: Authority | null, after: Authority | null): Change[] {
  const was = fieldsOf(before);
  const is = fieldsOf(after);
  const known = Object.keys(NAMES);
  const names = [...new Set([...known, ...was.keys(), ...is.keys()])];
  return names.flatMap((name) => {
    const [from, to] = [was.get(name), is.get(name)];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    const [old_list, new_list] = [from ?? [], to ?? []];
    const is_list = Array.isArray(old_list) && Array.isArray(new_list);
    if (is_list && old_list.length === 0 && new_list.length === 0) return [];
    return [
      {
        name: NAMES[name] ?? name,
        before: is_list ? null : say(name, from, before?.currency ?? ''),
        after: is_list ? null : say(name, to, after?.currency ?? ''),
        removed: is_list ? old_list.filter((each) => !new_list.includes(each)) : [],
        added: is_list ? new_list.filter((each) => !old_list.includes(each)) : [],
      },
    ];
  });
}
