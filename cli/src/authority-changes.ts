import type { Authority } from '@purser/sdk';
import { type AuthorityFields, type Change, moneyIn, shown } from './change.ts';
import { hoursChanges, instantChange, velocityChanges } from './changes-over-time.ts';

/** A limit: what it is called, and whether a higher one lets more through. */
const LIMITS: Readonly<Record<string, { what: string; unset?: 'nothing passes' }>> = {
  per_transaction_limit_minor: { what: 'the limit of a single spend' },
  review_threshold_minor: { what: 'the amount from which a person reviews' },
  monthly_budget_minor: { what: 'the budget of a month' },
  new_merchant_threshold_minor: {
    what: 'the amount up to which a new merchant is paid',
    unset: 'nothing passes',
  },
};
/** A list: what an entry is, whether one more lets more through, and whether everything passes where it is left out. */
const LISTS: Readonly<
  Record<string, { entry: string; more: Change['widens']; fewer: Change['widens']; open?: boolean }>
> = {
  blocked_merchants: { entry: 'on the block list', more: 'no', fewer: 'yes' },
  allowed_merchants: { entry: 'among the allowed merchants', more: 'yes', fewer: 'no' },
  // A merchant that has an account is paid at no other one, so that an entry may narrow as well.
  allowed_payees: { entry: 'among the allowed payees', more: 'maybe', fewer: 'maybe' },
  allowed_action_types: { entry: 'among the allowed action types', more: 'yes', fewer: 'no', open: true },
  review_action_types: { entry: 'an action type that goes to a person', more: 'no', fewer: 'yes' },
  budgets: { entry: 'a shared budget that it counts in', more: 'no', fewer: 'yes' },
  'purpose.constraints': { entry: 'a constraint', more: 'no', fewer: 'yes' },
  'purpose.success_criteria': { entry: 'a success criterion', more: 'maybe', fewer: 'maybe' },
};
/** What becomes of some spends: which, and what where it is left out. */
const OUTCOMES: Readonly<Record<string, { which: string; unset: string }>> = {
  on_purpose_unclear: { which: 'a spend whose purpose is unclear', unset: 'REVIEW' },
  on_other_merchants: { which: 'a spend at a merchant that is on no list', unset: 'ALLOW' },
  on_new_merchant: { which: 'a first spend with a merchant or payee', unset: 'ALLOW' },
  on_outside_hours: { which: 'a spend outside the hours', unset: 'DENY' },
  on_duplicate: { which: 'a spend that repeats another', unset: 'REVIEW' },
};
const STRICTNESS: Readonly<Record<string, number>> = { ALLOW: 0, REVIEW: 1, DENY: 2 };
const BECOMES: Readonly<Record<string, string>> = {
  ALLOW: 'is allowed',
  REVIEW: 'is reviewed by a person',
  DENY: 'is denied',
};

/** A field that is compared in a way of its own. */
const OTHERS: Readonly<Record<string, (was: AuthorityFields, is: AuthorityFields) => Change[]>> = {
  valid_from: (was, is) =>
    instantChange('valid_from', 'the agent may spend from', was, is, (to, from) => to < from),
  valid_until: (was, is) =>
    instantChange('valid_until', 'the agent may spend until', was, is, (to, from) => to > from),
  active_hours: (was, is) => hoursChanges(was.active_hours, is.active_hours),
  velocity_limits: velocityChanges,
  duplicate_window_seconds: windowChange,
  reviewer_may_list: ({ reviewer_may_list: from = false }, { reviewer_may_list: to = false }) =>
    from === to
      ? []
      : [
          {
            field: 'reviewer_may_list',
            sentence:
              to === true ? 'reviewers too may list merchants' : 'only administrators may list merchants',
            widens: to === true ? 'yes' : 'no',
          },
        ],
};

function fieldsOf(authority: Authority | null): AuthorityFields {
  const { purpose = {}, ...others } = (authority ?? {}) as AuthorityFields & { purpose?: object };
  const of_purpose = Object.entries(purpose).map(([name, value]) => [`purpose.${name}`, value]);
  return Object.fromEntries([...of_purpose, ...Object.entries(others)]);
}

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
    if (OUTCOMES[name] !== undefined) return outcomeChange(name, was[name], is[name]);
    const other = OTHERS[name];
    if (other !== undefined) return other(was, is);
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

function limitChange(name: string, was: AuthorityFields, is: AuthorityFields): Change[] {
  const [from, to] = [was[name], is[name]];
  const { what, unset } = LIMITS[name] as (typeof LIMITS)[string];
  const opens = unset === undefined;
  if (to === undefined) {
    const sentence = `${what} is removed; it was ${moneyIn(was, from)}`;
    return [{ field: name, sentence, widens: opens ? 'yes' : 'no' }];
  }
  if (from === undefined) {
    const sentence = `${what} is set to ${moneyIn(is, to)}; there was none`;
    return [{ field: name, sentence, widens: opens ? 'no' : 'yes' }];
  }
  const is_comparable = was.currency === is.currency && typeof from === 'number' && typeof to === 'number';
  const widens = !is_comparable ? 'maybe' : to > from ? 'yes' : 'no';
  return [{ field: name, sentence: `${what} goes from ${moneyIn(was, from)} to ${moneyIn(is, to)}`, widens }];
}

function listChanges(name: string, before: unknown, after: unknown): Change[] {
  const { entry, more, fewer, open = false } = LISTS[name] as (typeof LISTS)[string];
  const entries = (list: unknown) => (Array.isArray(list) ? list.map(entryText) : []);
  const was = entries(before);
  const is = entries(after);
  if (open && (before === undefined || after === undefined)) {
    const sentence =
      after === undefined
        ? `nothing is ${entry} any more: all are`
        : `only these are ${entry}: ${is.join(', ')}`;
    return [{ field: name, sentence, widens: after === undefined ? 'yes' : 'no' }];
  }
  return [
    ...is
      .filter((each) => !was.includes(each))
      .map((each): Change => ({ field: name, sentence: `“${each}” is now ${entry}`, widens: more })),
    ...was
      .filter((each) => !is.includes(each))
      .map((each): Change => ({ field: name, sentence: `“${each}” is no longer ${entry}`, widens: fewer })),
  ];
}

/** An entry of a list in words: a name, or a payee with the merchant that it is of. */
function entryText(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return String(entry);
  const { payee_id, merchant } = entry as { payee_id?: string; merchant?: string };
  return merchant === undefined ? String(payee_id) : `${payee_id} of ${merchant}`;
}

function outcomeChange(name: string, before: unknown, after: unknown): Change[] {
  const { which, unset } = OUTCOMES[name] as (typeof OUTCOMES)[string];
  const [from, to] = [String(before ?? unset), String(after ?? unset)];
  if (from === to) return [];
  const [was, is] = [STRICTNESS[from], STRICTNESS[to]];
  const widens = was === undefined || is === undefined ? 'maybe' : is < was ? 'yes' : 'no';
  const sentence = `${which} ${BECOMES[to] ?? to}; it ${(BECOMES[from] ?? from).replace(/^is /, 'was ')}`;
  return [{ field: name, sentence, widens }];
}

function windowChange(was: AuthorityFields, is: AuthorityFields): Change[] {
  const field = 'duplicate_window_seconds';
  const [from, to] = [was[field], is[field]];
  const seconds = (value: unknown) => (value === undefined ? 'any length' : `${value} s`);
  if (to === undefined)
    return [
      {
        field,
        sentence: `spends may repeat others; they were looked at for ${seconds(from)}`,
        widens: 'yes',
      },
    ];
  const sentence = `a spend that repeats another is noticed within ${seconds(to)}${from === undefined ? '' : `; it was ${seconds(from)}`}`;
  return [{ field, sentence, widens: from !== undefined && Number(to) < Number(from) ? 'yes' : 'no' }];
}

const MARKS = { yes: ' (widens)', maybe: ' (may widen)', no: '' };

/** A line for each change. */
export function changeLines(changes: readonly Change[]): string[] {
  return changes.map(({ sentence, widens }) => `  ${sentence}${MARKS[widens]}`);
}
