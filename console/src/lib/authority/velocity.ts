import { spanOf, UNITS } from '@purser/contract/authority-words';
import { VELOCITY_DEFAULTS } from '@purser/contract/velocity-limits';
import type { VelocityLimit } from '@purser/sdk';
import { fromInput, toInput } from '../money.ts';
import { linesOf, listOf } from './lines.ts';

/** A duration in the form. */
export interface Span {
  length: string;
  unit: string;
}

/** The form's copy of a velocity limit. */
export interface VelocityDraft extends Span {
  name: string;
  window: string;
  per: string;
  amount: string;
  count: string;
  merchants: string;
  action_types: string;
  on_exceeded: string;
  /** The stored limit, which may have fields that the form does not. */
  base: VelocityLimit | null;
}

export const UNIT_OPTIONS = Object.keys(UNITS)
  .reverse()
  .map((unit) => [unit, unit] as const);

/** Splits seconds into a whole number of the largest possible unit. */
export const spanDraft = (seconds: number | undefined): Span =>
  seconds === undefined ? { length: '', unit: 'minutes' } : spanOf(seconds);

/** The duration in seconds. Null if `length` is not a whole number. */
export function secondsOf({ length, unit }: Span): number | null {
  const text = length.trim();
  return /^\d{1,9}$/.test(text) ? Number(text) * UNITS[unit as keyof typeof UNITS] : null;
}

/** A new daily limit with a name that is not `taken`. */
export function newLimit(taken: readonly { name: string }[]): VelocityDraft {
  const names = new Set(taken.map(({ name }) => name));
  const name = ['day', 'week', 'burst'].find((each) => !names.has(each)) ?? `limit-${taken.length + 1}`;
  return {
    name,
    window: 'DAY',
    length: '10',
    unit: 'minutes',
    amount: '',
    count: '',
    ...VELOCITY_DEFAULTS,
    merchants: '',
    action_types: '',
    base: null,
  };
}

export function limitDrafts(limits: readonly VelocityLimit[] | undefined, currency: string): VelocityDraft[] {
  return (limits ?? []).map((limit) => ({
    name: limit.name,
    window: limit.window,
    ...spanDraft(limit.window_seconds),
    per: limit.per ?? VELOCITY_DEFAULTS.per,
    amount: toInput(limit.limit_amount_minor, currency),
    count: limit.limit_count === undefined ? '' : String(limit.limit_count),
    merchants: linesOf(limit.merchants),
    action_types: linesOf(limit.action_types),
    on_exceeded: limit.on_exceeded ?? VELOCITY_DEFAULTS.on_exceeded,
    base: limit,
  }));
}

/** Reads the rows and adds their problems by path. */
export function limitsOf(
  rows: readonly VelocityDraft[],
  currency: string,
  problems: Record<string, string>,
): VelocityLimit[] {
  return rows.map((row, i) => {
    const wrong = (field: string, problem: string) => {
      problems[`velocity_limits[${i}].${field}`] = problem;
    };
    const { base, window } = row;
    const name = row.name.trim();
    if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))
      wrong('name', 'must use only a-z, 0-9, "_" and "-", and begin with a letter or digit');
    else if (rows.findIndex((each) => each.name.trim() === name) < i)
      wrong('name', `must be unique: another limit is named ${name}`);
    const amount = fromInput(row.amount, currency);
    if ('problem' in amount) wrong('limit_amount_minor', amount.problem);
    const count = row.count.trim();
    if (count !== '' && !/^[1-9]\d{0,6}$/.test(count))
      wrong('limit_count', 'must be a whole number from 1 to 1000000');
    if (row.amount.trim() === '' && count === '')
      wrong('limit_amount_minor', 'is required unless you limit the number of requests');
    const window_seconds = window === 'ROLLING' ? secondsOf(row) : null;
    if (window === 'ROLLING' && window_seconds === null) wrong('window_seconds', 'must be a whole number');
    const unlessDefault = (value: string, default_value: string, before: string | undefined) =>
      value === default_value && before === undefined ? undefined : value;
    const fields = {
      name,
      window,
      window_seconds: window_seconds ?? undefined,
      per: unlessDefault(row.per, VELOCITY_DEFAULTS.per, base?.per),
      limit_amount_minor: 'problem' in amount ? undefined : (amount.amount_minor ?? undefined),
      limit_count: count === '' ? undefined : Number(count),
      merchants: row.merchants.trim() === '' ? undefined : listOf(row.merchants),
      action_types: row.action_types.trim() === '' ? undefined : listOf(row.action_types),
      on_exceeded: unlessDefault(row.on_exceeded, VELOCITY_DEFAULTS.on_exceeded, base?.on_exceeded),
    };
    const limit = Object.entries({ ...base, ...fields }).filter(([, value]) => value !== undefined);
    return Object.fromEntries(limit) as unknown as VelocityLimit;
  });
}
