import { AUTHORITY_DEFAULTS } from '@purser/contract/authority';
import { utcTime, WEEKDAYS } from '@purser/contract/calendar';
import { foldCase, plainText } from '../merchants/names.ts';
import { POLICY } from '../sentences/policy.ts';
import { wallClock } from '../values/calendar.ts';
import { formatMoney } from '../values/money.ts';
import { isActive, nextActiveMs } from './active-hours.ts';
import type { Judge } from './stage.ts';

/** `currency`: the request's must be the authority's. */
export const judgeCurrency: Judge = (authority, { request }, amount_minor) => {
  const { currency: observed } = request.action;
  const { currency: limit } = authority;
  if (observed === limit) return { outcome: 'PASS', observed, limit, detail: POLICY.right_currency(limit) };
  return {
    outcome: 'DENY',
    reason_code: 'CURRENCY_NOT_AUTHORIZED',
    observed,
    limit,
    detail: POLICY.wrong_currency(formatMoney(amount_minor, observed), limit),
  };
};

const folded = (type: string) => foldCase(plainText(type)).trim();

/**
 * `action_type`: the request's must be among those allowed or those that a person allows one by one. It is the agent's own
 * word, so this stops an honest agent, and a lying one leaves evidence.
 */
export const judgeActionType: Judge = (authority, { request }) => {
  const { allowed_action_types: allowed, review_action_types: reviewed = [] } = authority;
  const { type: observed } = request.action;
  const is_in = (types: readonly string[]) => types.some((type) => folded(type) === folded(observed));
  if (is_in(reviewed)) {
    const detail = POLICY.type_reviewed(observed);
    return { outcome: 'REVIEW', reason_code: 'ACTION_TYPE_NEEDS_REVIEW', observed, detail };
  }
  if (allowed !== undefined && !is_in(allowed)) {
    const detail = POLICY.type_not_allowed(observed, allowed);
    return { outcome: 'DENY', reason_code: 'ACTION_TYPE_NOT_ALLOWED', observed, detail };
  }
  return { outcome: 'PASS', observed, detail: POLICY.type_allowed(observed) };
};

/** `validity`: it must have begun and not be over. */
export const judgeValidity: Judge = ({ valid_from, valid_until }, { now_ms }) => {
  const observed = new Date(now_ms).toISOString();
  if (valid_from !== undefined && observed < valid_from) {
    const ends_ms = Date.parse(valid_from);
    const detail = POLICY.valid_from(utcTime(ends_ms));
    return {
      outcome: 'DENY',
      reason_code: 'AUTHORITY_NOT_YET_VALID',
      observed,
      limit: valid_from,
      detail,
      ends_ms,
    };
  }
  if (valid_until !== undefined && observed >= valid_until) {
    const detail = POLICY.expired(utcTime(Date.parse(valid_until)));
    return { outcome: 'DENY', reason_code: 'AUTHORITY_EXPIRED', observed, limit: valid_until, detail };
  }
  const detail =
    valid_until === undefined ? POLICY.valid() : POLICY.valid_until(utcTime(Date.parse(valid_until)));
  return { outcome: 'PASS', observed, limit: valid_until ?? null, detail };
};

const DAY_NAMES = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const two = (number: number) => String(number).padStart(2, '0');

/** "Saturday 23:10" by the clocks of a time zone. */
function clockWords(time_zone: string, at_ms: number): string {
  const { weekday, minute } = wallClock(time_zone, at_ms);
  return `${DAY_NAMES[WEEKDAYS.indexOf(weekday)]} ${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** `active_hours`: clocks of the authority's time zone must show one of them. */
export const judgeActiveHours: Judge = (authority, { now_ms }) => {
  const {
    active_hours = [],
    time_zone = AUTHORITY_DEFAULTS.time_zone,
    on_outside_hours = AUTHORITY_DEFAULTS.on_outside_hours,
  } = authority;
  const observed = clockWords(time_zone, now_ms);
  if (isActive(active_hours, time_zone, now_ms)) {
    return { outcome: 'PASS', observed, detail: POLICY.active(observed, time_zone) };
  }
  const ends_ms = nextActiveMs(active_hours, time_zone, now_ms);
  return {
    outcome: on_outside_hours,
    reason_code: 'OUTSIDE_ACTIVE_HOURS',
    observed,
    detail:
      ends_ms === null
        ? POLICY.never_active(observed, time_zone)
        : POLICY.active_from(observed, time_zone, clockWords(time_zone, ends_ms)),
    ...(ends_ms === null ? {} : { ends_ms }),
  };
};
