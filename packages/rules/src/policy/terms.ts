import { AUTHORITY_DEFAULTS } from '@purser/contract/authority';
import { WEEKDAYS } from '@purser/contract/calendar';
import { authorityEnded } from '../domain/authorities.ts';
import { foldCase, plainText } from '../merchants/names.ts';
import { wallClock } from '../values/calendar.ts';
import { formatMoney } from '../values/money.ts';
import { isActive, nextActiveMs } from './active-hours.ts';
import type { Judge } from './stage.ts';

/** `currency`: the request's must be the authority's. */
export const judgeCurrency: Judge = (authority, { request }, amount_minor) => {
  const { currency: observed } = request.action;
  const { currency: limit } = authority;
  if (observed === limit)
    return { outcome: 'PASS', observed, limit, detail: `The authority is in ${limit}.` };
  return {
    outcome: 'DENY',
    reason_code: 'CURRENCY_NOT_AUTHORIZED',
    observed,
    limit,
    detail: `Requested ${formatMoney(amount_minor, observed)}, but the authority is in ${limit}.`,
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
    const detail = `Spends of the type "${observed}" need a review.`;
    return { outcome: 'REVIEW', reason_code: 'ACTION_TYPE_NEEDS_REVIEW', observed, detail };
  }
  if (allowed !== undefined && !is_in(allowed)) {
    const detail = `Spends of the type "${observed}" are not allowed; the allowed types are: ${allowed.join(', ')}.`;
    return { outcome: 'DENY', reason_code: 'ACTION_TYPE_NOT_ALLOWED', observed, detail };
  }
  return { outcome: 'PASS', observed, detail: `Spends of the type "${observed}" are allowed.` };
};

/** `validity`: it must have begun and not be over. */
export const judgeValidity: Judge = ({ valid_from, valid_until }, { now_ms }) => {
  const observed = new Date(now_ms).toISOString();
  if (valid_from !== undefined && observed < valid_from) {
    const detail = `The authority is valid from ${valid_from}.`;
    const ends_ms = Date.parse(valid_from);
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
    const detail = authorityEnded(valid_until);
    return { outcome: 'DENY', reason_code: 'AUTHORITY_EXPIRED', observed, limit: valid_until, detail };
  }
  const until = valid_until === undefined ? '' : ` until ${valid_until}`;
  return { outcome: 'PASS', observed, limit: valid_until ?? null, detail: `The authority is valid${until}.` };
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
  const { active_hours = [], time_zone, on_outside_hours } = { ...AUTHORITY_DEFAULTS, ...authority };
  const observed = clockWords(time_zone, now_ms);
  const here = `It is ${observed} in ${time_zone}`;
  if (isActive(active_hours, time_zone, now_ms)) {
    return { outcome: 'PASS', observed, detail: `${here}, within the active hours.` };
  }
  const ends_ms = nextActiveMs(active_hours, time_zone, now_ms);
  const again = ends_ms === null ? 'at no time' : `again from ${clockWords(time_zone, ends_ms)}`;
  return {
    outcome: on_outside_hours,
    reason_code: 'OUTSIDE_ACTIVE_HOURS',
    observed,
    detail: `${here}; the agent may spend ${again}.`,
    ...(ends_ms === null ? {} : { ends_ms }),
  };
};
