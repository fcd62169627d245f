import { NOTHING_SPENT, nextPeriodMs, remainingMinor } from '../domain/budget.ts';
import { formatMoney } from '../values/money.ts';
import { type Judge, leastAccepted, sameCurrencyOnly, skipped } from './stage.ts';

/** `per_transaction_limit`: the most that one spend may be. */
export const judgePerTransactionLimit: Judge = sameCurrencyOnly((authority, { request }, observed) => {
  const limit = authority.per_transaction_limit_minor;
  if (limit === undefined) return skipped('No per-transaction limit is set.');
  const money = (minor: number) => formatMoney(minor, authority.currency);
  const the_limit = `the per-transaction limit of ${money(limit)}`;
  if (observed <= limit) return { outcome: 'PASS', observed, limit, detail: `Within ${the_limit}.` };
  const requested = `Requested ${money(observed)}`;
  return request.limitable === true
    ? {
        outcome: 'LIMIT',
        reason_code: 'AMOUNT_LIMITED',
        capped_minor: limit,
        observed,
        limit,
        detail: `${requested}, capped to ${the_limit}.`,
      }
    : {
        outcome: 'DENY',
        reason_code: 'PER_TRANSACTION_LIMIT_EXCEEDED',
        observed,
        limit,
        detail: `${requested}, over ${the_limit}.`,
        room_minor: limit,
      };
});

/** `monthly_budget`: what is left of the calendar month (UTC). */
export const judgeMonthlyBudget: Judge = sameCurrencyOnly(
  (authority, { request, budget, now_ms }, amount_minor) => {
    const limit = authority.monthly_budget_minor ?? null;
    const left = remainingMinor(budget, limit);
    const money = (minor: number) => formatMoney(minor, authority.currency);
    const used = budget.held_minor + budget.committed_minor;
    const observed = Math.min(used + amount_minor, Number.MAX_SAFE_INTEGER);
    if (amount_minor <= left) {
      if (limit === null) return skipped('No monthly budget is set.');
      const remain = `${money(left - amount_minor)} remain`;
      const detail = `Within the monthly budget of ${money(limit)}: ${remain}.`;
      return { outcome: 'PASS', observed, limit, detail };
    }
    const bounds =
      limit === null
        ? `the ${money(left)} left in the range of this month's counter`
        : `the ${money(left)} left of the monthly budget of ${money(limit)}`;
    const requested = `Requested ${money(request.action.amount_minor)}`;
    const whole = remainingMinor(NOTHING_SPENT, limit);
    const ends = leastAccepted(request) <= whole ? { ends_ms: nextPeriodMs(now_ms) } : {};
    return request.limitable === true && left > 0
      ? {
          outcome: 'LIMIT',
          reason_code: 'AMOUNT_LIMITED',
          capped_minor: left,
          observed,
          limit,
          detail: `${requested}, capped to ${bounds}.`,
          ...ends,
        }
      : {
          outcome: 'DENY',
          reason_code: 'MONTHLY_BUDGET_EXCEEDED',
          observed,
          limit,
          detail: `${requested}, over ${bounds}.`,
          room_minor: left,
          ...ends,
        };
  },
);

/** `min_amount`: what was capped must reach what the request accepts. */
export const judgeMinAmount: Judge = sameCurrencyOnly(({ currency }, { request }, observed) => {
  const { action, limitable, min_amount_minor: limit = 1 } = request;
  if (limitable !== true) return skipped('The amount may not be capped.');
  if (observed === action.amount_minor) {
    return { outcome: 'PASS', observed, limit, detail: 'The amount was not capped.' };
  }
  const money = (minor: number) => formatMoney(minor, currency);
  if (observed >= limit) {
    const detail = `The capped amount is at least the minimum of ${money(limit)}.`;
    return { outcome: 'PASS', observed, limit, detail };
  }
  return {
    outcome: 'DENY',
    reason_code: 'MIN_AMOUNT_UNREACHABLE',
    observed,
    limit,
    detail: `At most ${money(observed)} could be authorized, below the lowest acceptable amount of ${money(limit)}.`,
  };
});

/** `review_threshold`: larger amounts go to a person. */
export const judgeReviewThreshold: Judge = sameCurrencyOnly(
  ({ currency, review_threshold_minor: limit }, _facts, observed) => {
    if (limit === undefined) return skipped('No review threshold is set.');
    const money = (minor: number) => formatMoney(minor, currency);
    const threshold = `the review threshold of ${money(limit)}`;
    if (observed <= limit) return { outcome: 'PASS', observed, limit, detail: `Within ${threshold}.` };
    return {
      outcome: 'REVIEW',
      reason_code: 'REVIEW_THRESHOLD_EXCEEDED',
      observed,
      limit,
      detail: `${money(observed)} is over ${threshold}.`,
    };
  },
);
