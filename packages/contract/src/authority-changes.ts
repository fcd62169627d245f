import { type ActiveHours, type AllowedPayee, FLAT_ROWS } from './authority.ts';
import {
  type FormatMoney,
  hoursInWords,
  inWords,
  limitInWords,
  modelUsageInWords,
  payeeInWords,
  spanInWords,
} from './authority-words.ts';
import type { Comparison, Widens } from './field-rows.ts';
import { hoursGained } from './hours-of-the-week.ts';
import { MODEL_USAGE_DEFAULTS, type ModelUsage } from './models/fields.ts';
import { ATTENTION_LEVELS } from './purpose/attention.ts';
import { VELOCITY_DEFAULTS, type VelocityLimit } from './velocity-limits.ts';

/** One difference between two authorities: of a field, or of one entry of a list. */
export interface AuthorityChange {
  /** Its path: `purpose.objective`, `velocity_limits`. */
  field: string;
  label: string;
  /** One entry of a list came (`before` is null), went (`after` is null) or changed. */
  is_entry: boolean;
  /** In words; null: it was not set. */
  before: string | null;
  /** In words; null: it is no longer set. */
  after: string | null;
  widens: Widens;
}

/** An authority as it was read: it may have fields that are not known here. */
export interface AnyAuthority {
  purpose: object;
  currency: string;
}

/** One side of a comparison: the value, and the fields that say how to read it. */
interface Side {
  value: unknown;
  currency: string;
  /** No authority was set at all. */
  is_none: boolean;
}

type Difference = Omit<AuthorityChange, 'field' | 'label'>;
type Compare = (was: Side, is: Side, money: FormatMoney) => Difference[];

const value = (before: string | null, after: string | null, widens: Widens): Difference[] => [
  { is_entry: false, before, after, widens },
];
const entry = (before: string | null, after: string | null, widens: Widens): Difference => ({
  is_entry: true,
  before,
  after,
  widens,
});

/** Compares numbers. `higher` says what a higher number does, `unset` what leaving the number out does. */
const compareNumbers =
  (higher: Widens, unset: Widens, inText: (side: Side, money: FormatMoney) => string): Compare =>
  (was, is, money) => {
    const [before, after] = [was, is].map((side) => (side.value === undefined ? null : inText(side, money)));
    if (is.value === undefined) return value(before ?? null, null, unset);
    if (was.value === undefined) return value(null, after ?? null, opposite(unset));
    const is_comparable =
      was.currency === is.currency && [was, is].every((side) => typeof side.value === 'number');
    const is_higher = Number(is.value) > Number(was.value);
    const widens = is_comparable ? (is_higher ? higher : opposite(higher)) : 'maybe';
    return value(before ?? null, after ?? null, widens);
  };

const opposite = (widens: Widens): Widens => (widens === 'yes' ? 'no' : widens === 'no' ? 'yes' : 'maybe');
const amountOf = ({ value, currency }: Side, money: FormatMoney): string =>
  typeof value === 'number' ? money(value, currency) : textOf(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const durationOrNull = (value: unknown): string | null =>
  value === undefined ? null : spanInWords(Number(value));
const textOrNull = (value: unknown): string | null => (value === undefined ? null : textOf(value));

/** Compares moments; `isWider` says which direction allows more. The same moment may be written in several ways. */
const compareMoments =
  (isWider: (to_ms: number, from_ms: number) => boolean): Compare =>
  (was, is) => {
    const [from_ms, to_ms] = [Date.parse(String(was.value)), Date.parse(String(is.value))];
    if (from_ms === to_ms) return [];
    const widens =
      is.value === undefined
        ? 'yes'
        : was.value === undefined
          ? 'no'
          : isWider(to_ms, from_ms)
            ? 'yes'
            : 'no';
    return value(textOrNull(was.value), textOrNull(is.value), widens);
  };

const STRICTNESS = ['ALLOW', 'REVIEW', 'DENY'];
const OUTCOMES: Readonly<Record<string, string>> = { ALLOW: 'Allow', REVIEW: 'Review', DENY: 'Deny' };

const compareOutcomes: Compare = (was, is) => {
  const [from, to] = [String(was.value), String(is.value)];
  const [old_place, new_place] = [STRICTNESS.indexOf(from), STRICTNESS.indexOf(to)];
  const widens = old_place < 0 || new_place < 0 ? 'maybe' : new_place < old_place ? 'yes' : 'no';
  return value(OUTCOMES[from] ?? from, OUTCOMES[to] ?? to, widens);
};

/** Compares yes and no. `on`: what yes does. */
const compareSwitches =
  (on: Widens): Compare =>
  (was, is) => {
    const inText = (value: unknown) => (value === true ? 'Yes' : 'No');
    return value(inText(was.value), inText(is.value), is.value === true ? on : opposite(on));
  };

const LEVELS: readonly unknown[] = ATTENTION_LEVELS;

const compareAttention: Compare = (was, is) => {
  const [from, to] = [was.value ?? 'NORMAL', is.value ?? 'NORMAL'];
  const widens = LEVELS.indexOf(to) < LEVELS.indexOf(from) ? 'yes' : 'no';
  return from === to ? [] : value(textOf(from), textOf(to), widens);
};

const compareNotices: Compare = (was, is) => value(textOrNull(was.value), textOrNull(is.value), 'no');

const compareWords: Compare = (was, is) =>
  value(textOrNull(was.value), textOrNull(is.value), was.is_none ? 'yes' : 'maybe');

const entriesOf = ({ value }: Side): string[] =>
  (Array.isArray(value) ? value : []).map((each: unknown) =>
    typeof each === 'object' && each !== null && 'payee_id' in each
      ? payeeInWords(each as AllowedPayee)
      : textOf(each),
  );

const compareLists =
  ({ more, fewer, open }: Exclude<Comparison, string>): Compare =>
  (was, is) => {
    const [old_list, new_list] = [entriesOf(was), entriesOf(is)];
    if (open && is.value === undefined) return value(inWords(old_list), null, 'yes');
    if (open && was.value === undefined) return value(null, inWords(new_list), 'no');
    return [
      ...old_list.filter((each) => !new_list.includes(each)).map((each) => entry(each, null, fewer)),
      ...new_list.filter((each) => !old_list.includes(each)).map((each) => entry(null, each, more)),
    ];
  };

/** A correction by which more passes, in both lists. */
const WIDENS: Readonly<Record<string, Record<string, Widens>>> = {
  not: {
    forbidden: 'yes',
    condition: 'yes',
    person: 'maybe',
    merchant: 'no',
    wanted: 'no',
    wish: 'no',
    not_understood: 'no',
  },
  also: { forbidden: 'no', condition: 'no', person: 'no', merchant: 'yes', wanted: 'yes' },
};

/** Compares corrections entry by entry. A kind of goods may be wanted or forbidden, so nobody can tell what it widens. */
const compareCorrections: Compare = (was, is) => {
  const textsOf = ({ value }: Side, list: string) =>
    new Map(
      ((value ?? {}) as Record<string, { kind: string; words: string }[] | undefined>)[list]?.map(
        ({ kind, words }) => [
          `${list === 'not' ? 'Not' : 'Also'} ${kind}: ${words}`,
          WIDENS[list]?.[kind] ?? 'maybe',
        ],
      ),
    );
  return ['not', 'also'].flatMap((list) => {
    const [before, after] = [textsOf(was, list), textsOf(is, list)];
    return [
      ...[...before]
        .filter(([text]) => !after.has(text))
        .map(([text, widens]) => entry(text, null, opposite(widens))),
      ...[...after].filter(([text]) => !before.has(text)).map(([text, widens]) => entry(null, text, widens)),
    ];
  });
};

const compareHours: Compare = (was, is) => {
  const [before, after] = [was.value, is.value] as (ActiveHours[] | undefined)[];
  if (after === undefined) return value(inWords((before ?? []).map(hoursInWords)), null, 'yes');
  return [
    ...hoursGained(after, before).map((span) => entry(span, null, 'no')),
    ...hoursGained(before, after).map((span) => entry(null, span, 'yes')),
  ];
};

/** Without the field no model call passes by it. Its terms widen where more models or higher prices pass. */
const compareModelUsage: Compare = (was, is) => {
  const [before, after] = [was.value, is.value] as (ModelUsage | undefined)[];
  const inText = (usage: ModelUsage | undefined) => (usage === undefined ? null : modelUsageInWords(usage));
  if (before === undefined || after === undefined)
    return value(inText(before), inText(after), after === undefined ? 'no' : 'yes');
  const { models: more } = after;
  const is_wider =
    (before.models !== undefined &&
      (more === undefined || more.some((each) => !before.models?.includes(each)))) ||
    ((before.on_unknown_price ?? MODEL_USAGE_DEFAULTS.on_unknown_price) === 'REFUSE' &&
      after.on_unknown_price === 'HIGHEST_PRICE');
  return value(inText(before), inText(after), is_wider ? 'yes' : 'no');
};

/** Two limits that agree in it count the same spends. */
const scopeOf = (limit: VelocityLimit): string => {
  const {
    window,
    window_seconds = null,
    per = VELOCITY_DEFAULTS.per,
    merchants = [],
    action_types = [],
  } = limit;
  return JSON.stringify([window, window_seconds, per, [...merchants].sort(), [...action_types].sort()]);
};

function widensLimit(old: VelocityLimit, limit: VelocityLimit, is_same_currency: boolean): Widens {
  if (scopeOf(old) !== scopeOf(limit) || !is_same_currency) return 'maybe';
  const isHigher = (from = Number.POSITIVE_INFINITY, to = Number.POSITIVE_INFINITY) => to > from;
  const is_wider =
    isHigher(old.limit_amount_minor, limit.limit_amount_minor) ||
    isHigher(old.limit_count, limit.limit_count) ||
    (old.on_exceeded !== 'REVIEW' && limit.on_exceeded === 'REVIEW');
  return is_wider ? 'yes' : 'no';
}

/** A limit over time is known by its name. */
const compareLimits: Compare = (was, is, money) => {
  const byName = ({ value }: Side) =>
    new Map(((value ?? []) as VelocityLimit[]).map((limit) => [limit.name, limit]));
  const inText = (limit: VelocityLimit, currency: string) =>
    `${limit.name}: ${limitInWords(limit, currency, money)}${limit.on_exceeded === 'REVIEW' ? ', otherwise needs review' : ''}`;
  const [old_limits, new_limits] = [byName(was), byName(is)];
  const went = [...old_limits.values()]
    .filter(({ name }) => !new_limits.has(name))
    .map((limit) => entry(inText(limit, was.currency), null, 'yes'));
  const others = [...new_limits.values()].flatMap((limit) => {
    const old = old_limits.get(limit.name);
    const after = inText(limit, is.currency);
    if (old === undefined) return entry(null, after, 'no');
    if (canonical(old) === canonical(limit)) return [];
    return entry(inText(old, was.currency), after, widensLimit(old, limit, was.currency === is.currency));
  });
  return [...went, ...others];
};

const COMPARE: Readonly<Record<Extract<Comparison, string>, Compare>> = {
  limit: compareNumbers('yes', 'yes', amountOf),
  allowance: compareNumbers('yes', 'no', amountOf),
  window: compareNumbers('no', 'yes', ({ value }) => spanInWords(Number(value))),
  duration: (was, is) => value(durationOrNull(was.value), durationOrNull(is.value), 'no'),
  outcome: compareOutcomes,
  attention: compareAttention,
  corrections: compareCorrections,
  switch: compareSwitches('yes'),
  demand: compareSwitches('no'),
  from: compareMoments((to_ms, from_ms) => to_ms < from_ms),
  until: compareMoments((to_ms, from_ms) => to_ms > from_ms),
  notice: compareNotices,
  words: compareWords,
  velocity: compareLimits,
  hours: compareHours,
  model_usage: compareModelUsage,
};

/** Equal values give equal text, whatever the order of their fields. */
const canonical = (of: unknown): string =>
  JSON.stringify(of, (_, each: unknown) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

/** True if two authorities have the same fields with the same values. */
export const isSameAuthority = (one: AnyAuthority | null, other: AnyAuthority | null): boolean =>
  canonical(one) === canonical(other);

/** The fields of an authority on one level, those of its purpose as `purpose.objective`. */
function fieldsOf(authority: AnyAuthority | null): Readonly<Record<string, unknown>> {
  const { purpose = {}, ...others }: Partial<AnyAuthority> = authority ?? {};
  const of_purpose = Object.entries(purpose).map(([name, each]) => [`purpose.${name}`, each]);
  return Object.fromEntries([...of_purpose, ...Object.entries(others)]);
}

/**
 * Lists the changes that another authority makes, field by field in the order of the table. A change that is not known
 * to narrow is marked `yes` or `maybe`, also in a field without a row, so every widening is marked. A missing field
 * equals its default. `before` is null if no authority is set. `money` formats amounts.
 */
export function changesOf(
  before: AnyAuthority | null,
  after: AnyAuthority | null,
  money: FormatMoney,
): AuthorityChange[] {
  const [was, is] = [fieldsOf(before), fieldsOf(after)];
  const names = new Set([...Object.keys(FLAT_ROWS), ...Object.keys(was), ...Object.keys(is)]);
  return [...names].flatMap((field) => {
    const row = FLAT_ROWS[field];
    const sideOf = (of: Readonly<Record<string, unknown>>, is_none: boolean): Side => ({
      value: of[field] ?? row?.default,
      currency: String(of.currency),
      is_none,
    });
    const sides = [sideOf(was, before === null), sideOf(is, after === null)] as const;
    if (canonical(sides[0].value) === canonical(sides[1].value)) return [];
    const how = row?.compare ?? 'words';
    const compare = typeof how === 'string' ? COMPARE[how] : compareLists(how);
    return compare(...sides, money).map((found) => ({ field, label: row?.label ?? field, ...found }));
  });
}
