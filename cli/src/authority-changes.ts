import { formatMoney } from '@purser/mcp/money';
import type { Authority } from '@purser/sdk';

/** One difference between two authorities. */
export interface Change {
  field: string;
  /** In words, with both values. */
  sentence: string;
  /** Whether more may be spent with it, or on more; `maybe` where words decide that. */
  widens: 'yes' | 'no' | 'maybe';
}

type Fields = Readonly<Record<string, unknown>>;

/** A limit: what it is called, and that a higher one lets more through. */
const LIMITS: Readonly<Record<string, string>> = {
  per_transaction_limit_minor: 'the limit of a single spend',
  review_threshold_minor: 'the amount from which a person reviews',
  monthly_budget_minor: 'the budget of a month',
};
/** A list: what an entry is, and whether one more lets more through. */
const LISTS: Readonly<Record<string, { entry: string; more: Change['widens']; fewer: Change['widens'] }>> = {
  blocked_merchants: { entry: 'on the block list', more: 'no', fewer: 'yes' },
  allowed_merchants: { entry: 'among the allowed merchants', more: 'yes', fewer: 'no' },
  'purpose.constraints': { entry: 'a constraint', more: 'no', fewer: 'yes' },
  'purpose.success_criteria': { entry: 'a success criterion', more: 'maybe', fewer: 'maybe' },
};

/** The fields of an authority, those of its purpose beside the others. */
function fieldsOf(authority: Authority | null): Fields {
  const { purpose = {}, ...others } = (authority ?? {}) as Fields & { purpose?: object };
  const of_purpose = Object.entries(purpose).map(([name, value]) => [`purpose.${name}`, value]);
  return Object.fromEntries([...of_purpose, ...Object.entries(others)]);
}

const shown = (value: unknown) =>
  value === undefined ? 'nothing' : typeof value === 'string' ? `“${value}”` : JSON.stringify(value);

/**
 * What another authority changes, in sentences. What is not known to narrow is marked as widening or as maybe doing so,
 * and so is every field that is not known here, so that no widening goes by unmarked. Null: none is set.
 */
export function changesOf(before: Authority | null, after: Authority): Change[] {
  const was = fieldsOf(before);
  const is = fieldsOf(after);
  const names = [...new Set([...Object.keys(is), ...Object.keys(was)])];
  const changed = names.filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  return changed.flatMap((name) => {
    if (LIMITS[name] !== undefined) return limitChange(name, was, is);
    if (LISTS[name] !== undefined) return listChanges(name, was[name], is[name]);
    if (name === 'on_purpose_unclear') return unclearChange(was[name], is[name]);
    if (before === null)
      return [{ field: name, sentence: `${name} is set to ${shown(is[name])}`, widens: 'yes' }];
    return [
      {
        field: name,
        sentence: `${name} becomes ${shown(is[name])}; it was ${shown(was[name])}`,
        widens: 'maybe',
      },
    ];
  });
}

function limitChange(name: string, was: Fields, is: Fields): Change[] {
  const [from, to] = [was[name], is[name]];
  const what = LIMITS[name] as string;
  const money = (value: unknown, { currency }: Fields) =>
    typeof value === 'number' && typeof currency === 'string' ? formatMoney(value, currency) : shown(value);
  if (to === undefined)
    return [{ field: name, sentence: `${what} is removed; it was ${money(from, was)}`, widens: 'yes' }];
  if (from === undefined)
    return [{ field: name, sentence: `${what} is set to ${money(to, is)}; there was none`, widens: 'no' }];
  const is_comparable = was.currency === is.currency && typeof from === 'number' && typeof to === 'number';
  const widens = !is_comparable ? 'maybe' : to > from ? 'yes' : 'no';
  return [{ field: name, sentence: `${what} goes from ${money(from, was)} to ${money(to, is)}`, widens }];
}

function listChanges(name: string, before: unknown, after: unknown): Change[] {
  const { entry, more, fewer } = LISTS[name] as (typeof LISTS)[string];
  const was = Array.isArray(before) ? before.map(String) : [];
  const is = Array.isArray(after) ? after.map(String) : [];
  return [
    ...is
      .filter((each) => !was.includes(each))
      .map((each): Change => ({ field: name, sentence: `“${each}” is now ${entry}`, widens: more })),
    ...was
      .filter((each) => !is.includes(each))
      .map((each): Change => ({ field: name, sentence: `“${each}” is no longer ${entry}`, widens: fewer })),
  ];
}

function unclearChange(before: unknown, after: unknown): Change[] {
  const [from, to] = [before ?? 'REVIEW', after ?? 'REVIEW'];
  if (from === to) return [];
  const sentence =
    to === 'ALLOW'
      ? 'a spend whose purpose is unclear is allowed; a person reviewed it'
      : 'a spend whose purpose is unclear is reviewed by a person; it was allowed';
  return [{ field: 'on_purpose_unclear', sentence, widens: to === 'ALLOW' ? 'yes' : 'no' }];
}

const MARKS = { yes: ' (widens)', maybe: ' (may widen)', no: '' };

/** A line for each change. */
export function changeLines(changes: readonly Change[]): string[] {
  return changes.map(({ sentence, widens }) => `  ${sentence}${MARKS[widens]}`);
}
