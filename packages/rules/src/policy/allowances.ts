import { utcTime } from '@purser/contract/calendar';
import type { Action, Reservation, StageFinding } from '@purser/contract/decisions';
import type { CountedLimit } from '@purser/contract/limit-standing';
import {
  ALL_PERIODS,
  ALL_TIME_WINDOW,
  type Allowance,
  endsMs,
  type LoadedAllowance,
  termsOf,
} from '../counters/allowances.ts';
import { type CountedSlot, type CounterKey, fitsFrom, useAt } from '../counters/counters.ts';
import { budgetWindow, periodName } from '../counters/shared-budgets.ts';
import { writtenSlotAt } from '../counters/windows.ts';
import type { VouchingAllowance } from '../domain/spend-facts.ts';
import { allowedBy } from '../merchants/allowlist.ts';
import { foldCase } from '../merchants/names.ts';
import { PHRASES, POLICY } from '../sentences/policy.ts';
import { formatMoney } from '../values/money.ts';
import {
  type DecideFacts,
  type Found,
  type Judge,
  type JudgesOf,
  leastAccepted,
  NO_JUDGES,
  named,
} from './stage.ts';

/** A chain of allowances with what is in their counters. */
export function loadedAllowances(
  chain: readonly Allowance[],
  counters: { slots(counter: CounterKey): readonly CountedSlot[] },
): readonly LoadedAllowance[] {
  return chain.map((allowance) => ({
    slots: counters.slots({ counter_id: allowance.allowance_id, subject: '' }),
    total_slots: counters.slots({ counter_id: allowance.allowance_id, subject: ALL_PERIODS }),
    ...allowance,
  }));
}

/** How people know it: by its name, or else its id. */
export const nameOfAllowance = ({ name, allowance_id }: Pick<Allowance, 'name' | 'allowance_id'>): string =>
  name ?? allowance_id;

const timeIn = (json: string | null) =>
  utcTime(Date.parse((JSON.parse(json as string) as { at: string }).at));

/** Why an allowance permits nothing at a moment, whatever is left of it; null: it is open. */
export function whyNotOpen(allowance: Allowance, now_ms: number): string | null {
  const name = nameOfAllowance(allowance);
  const { status, decided, revoked } = allowance;
  if (status === 'DENIED') return POLICY.allowance_denied(name, timeIn(decided));
  if (status === 'REVOKED') return POLICY.allowance_revoked(name, timeIn(revoked));
  const ends_ms = endsMs(allowance);
  if (ends_ms <= now_ms) return POLICY.allowance_expired(name, utcTime(ends_ms));
  return status === 'REQUESTED' ? POLICY.allowance_undecided(name) : null;
}

/** Why a spend is not one that an allowance is for; null: it is. */
export function whyOutside(allowance: Allowance, action: Action): string | null {
  const name = nameOfAllowance(allowance);
  const { currency } = allowance;
  if (action.currency !== currency) return POLICY.allowance_currency(name, currency, action.currency);
  const { merchants, payee_ids, action_types } = termsOf(allowance);
  if (merchants !== undefined && allowedBy(action.merchant, merchants) === null)
    return POLICY.allowance_merchants(name, action.merchant);
  if (payee_ids !== undefined && (action.payee_id === undefined || !payee_ids.includes(action.payee_id)))
    return POLICY.allowance_payees(name);
  const type = foldCase(action.type);
  if (action_types !== undefined && !action_types.some((each) => foldCase(each) === type))
    return POLICY.allowance_types(name, action.type);
  return null;
}

const NOBODY: readonly VouchingAllowance[] = [];

/** The words and bounds of those of a chain that somebody of the operator stands for, where the spend is one that they are for. */
export function vouchingAllowances(
  chain: readonly Allowance[] | undefined,
  action: Action,
): readonly VouchingAllowance[] {
  const found = chain?.filter((each) => each.vouches && whyOutside(each, action) === null) ?? [];
  if (found.length === 0) return NOBODY;
  return found.map((each) => {
    const { purpose, expected_items, merchants, payee_ids } = termsOf(each);
    return {
      allowance_id: each.allowance_id,
      name: nameOfAllowance(each),
      ...(purpose === undefined ? {} : { purpose }),
      ...(expected_items === undefined ? {} : { expected_items }),
      ...(merchants === undefined ? {} : { merchants }),
      ...(payee_ids === undefined ? {} : { payee_ids }),
    };
  });
}

/** `allowance`: the allowance that a spend names and all above it, one judge for each, the nearest first. */
export const judgeAllowances: JudgesOf = ({ allowance_required }, { allowances, replayed_allowances }) => {
  if (replayed_allowances !== undefined) return replayed_allowances.map((found) => () => found);
  if (allowances !== undefined) {
    const path = allowances[0]?.path ?? [];
    return allowances.map((each) => judgeOf(each, path));
  }
  return allowance_required === true ? [judgeUnnamed] : NO_JUDGES;
};

const judgeUnnamed: Judge = () => ({
  outcome: 'DENY',
  reason_code: 'ALLOWANCE_REQUIRED',
  detail: POLICY.allowance_required(),
});

/** `path`: the named allowance and all above it. */
function judgeOf(allowance: LoadedAllowance, path: readonly string[]): Judge {
  return named(allowance.allowance_id, (_authority, facts, amount_minor) => {
    const { request, now_ms } = facts;
    const closed = whyNotOpen(allowance, now_ms);
    if (closed !== null) return { outcome: 'DENY', reason_code: 'ALLOWANCE_NOT_OPEN', detail: closed };
    const { through } = termsOf(allowance);
    const outside =
      through === undefined || path.includes(through)
        ? whyOutside(allowance, request.action)
        : POLICY.allowance_through(nameOfAllowance(allowance), through);
    if (outside !== null) return { outcome: 'DENY', reason_code: 'OUTSIDE_ALLOWANCE', detail: outside };
    return judgeUse(allowance, facts, amount_minor);
  });
}

/** The amount and the count, by what is left in the period. */
function judgeUse(allowance: LoadedAllowance, { request, now_ms }: DecideFacts, amount_minor: number): Found {
  const { amount_minor: most, per_spend_limit_minor: per_spend, max_count, slots, period } = allowance;
  const { currency, amount_minor: requested_minor } = request.action;
  const money = (minor: number) => formatMoney(minor, currency);
  const name = nameOfAllowance(allowance);
  const span = periodName(budgetWindow(allowance), now_ms);
  const the_allowance = span === '' ? PHRASES.allowance(name) : PHRASES.allowance_for(name, span);
  const use = useAt(slots, now_ms);
  const left = Math.max(0, most - use.amount_minor);
  const room = per_spend === null ? left : Math.min(left, per_spend);
  const is_over_each = per_spend !== null && amount_minor > per_spend;
  const observed = is_over_each
    ? amount_minor
    : Math.min(use.amount_minor + amount_minor, Number.MAX_SAFE_INTEGER);
  const limit = is_over_each ? per_spend : most;
  const least = leastAccepted(request);
  const fits = (later: { count: number; amount_minor: number }) =>
    later.amount_minor + least <= most && (max_count === null || later.count < max_count);
  const can_fit = per_spend === null || least <= per_spend;
  const ends_ms = period === 'TOTAL' || !can_fit ? null : fitsFrom(slots, now_ms, fits);
  const ends = ends_ms === null ? {} : { ends_ms };
  const again = ends_ms === null ? [] : [POLICY.room_again(utcTime(ends_ms))];
  const denied = { outcome: 'DENY', reason_code: 'ALLOWANCE_EXCEEDED' } as const;
  if (max_count !== null && use.count >= max_count) {
    const detail = [POLICY.allowance_count(the_allowance, max_count), ...again].join(' ');
    return { ...denied, observed: use.count + 1, limit: max_count, detail, ...ends };
  }
  if (amount_minor <= room) {
    const remaining = money(left - amount_minor);
    const detail = POLICY.within_shared(money(amount_minor), the_allowance, remaining, money(most));
    return { outcome: 'PASS', observed, limit, detail };
  }
  const requested = money(requested_minor);
  if (request.limitable === true && room > 0) {
    const detail =
      room < left
        ? POLICY.reduced_to_allowance_each(requested, money(room), the_allowance)
        : POLICY.reduced_to_shared(requested, money(room), the_allowance);
    const reason_code = 'AMOUNT_LIMITED';
    return { outcome: 'LIMIT', reason_code, capped_minor: room, observed, limit, detail, ...ends };
  }
  const found = is_over_each
    ? POLICY.over_allowance_each(requested, money(per_spend), the_allowance)
    : left === 0
      ? POLICY.shared_used_up(requested, the_allowance)
      : POLICY.over_shared(requested, money(left), the_allowance);
  return { ...denied, observed, limit, detail: [found, ...again].join(' '), room_minor: room, ...ends };
}

/** Finds again, in a replay, an answer's finding about one of its allowances. */
export function foundAgain(finding: StageFinding, reservation: Reservation): Found {
  const { name, outcome, reason_code, observed, limit, detail } = finding;
  const told = { ...(name === undefined ? {} : { name }), observed, limit, detail };
  if (reason_code === null || outcome === 'PASS' || outcome === 'SKIPPED')
    return { ...told, outcome: 'PASS' };
  if (outcome !== 'LIMIT') return { ...told, outcome, reason_code };
  const counted = reservation.limits?.find((each) => each.name === name && each.subject === null);
  const own_minor = reservation.status === 'HELD' ? reservation.amount_minor : 0;
  const left = (counted?.limit_minor ?? 0) - (counted?.used_minor ?? 0) + own_minor;
  // It was capped to what was left, or to the most that one spend may take.
  return { ...told, outcome, reason_code, capped_minor: Math.max(0, Math.min(left, Number(limit))) };
}

/**
 * How allowances stand at a moment: each in its period, and unless this is all time in all periods together. `own` is what a
 * decision adds that is made then; left out: no more than is in them.
 */
export function allowanceStandings(
  chain: readonly LoadedAllowance[],
  now_ms: number,
  own = { count: 0, amount_minor: 0 },
): CountedLimit[] {
  return chain.flatMap((allowance) => {
    const { allowance_id, amount_minor, max_count, slots, total_slots, period } = allowance;
    const standing = (
      of: Pick<CountedLimit, 'subject' | 'window' | 'limit_minor' | 'limit_count'>,
      counted: typeof slots,
    ) => {
      const use = useAt(counted, now_ms);
      const used_minor = Math.min(use.amount_minor + own.amount_minor, Number.MAX_SAFE_INTEGER);
      return {
        name: allowance_id,
        kind: 'allowance' as const,
        ...of,
        used_minor,
        held_minor: Math.min(use.held_minor + own.amount_minor, Number.MAX_SAFE_INTEGER),
        remaining_minor: of.limit_minor === null ? null : Math.max(0, of.limit_minor - used_minor),
        used_count: use.count + own.count,
        counted_since: null,
        counter_id: allowance_id,
      };
    };
    const window = writtenSlotAt(budgetWindow(allowance), now_ms);
    const of_period = { subject: null, window, limit_minor: amount_minor, limit_count: max_count };
    if (period === 'TOTAL') return [standing(of_period, slots)];
    const all_time = writtenSlotAt(ALL_TIME_WINDOW, now_ms);
    const of_all = { subject: ALL_PERIODS, window: all_time, limit_minor: null, limit_count: null };
    return [standing(of_period, slots), standing(of_all, total_slots)];
  });
}
