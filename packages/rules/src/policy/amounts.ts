import { utcTime } from '@purser/contract/calendar';
import { NOTHING_SPENT, nextPeriodMs, remainingMinor } from '../domain/budget.ts';
import { POLICY } from '../sentences/policy.ts';
import { formatMoney } from '../values/money.ts';
import { type Judge, leastAccepted, sameCurrencyOnly, skipped } from './stage.ts';

/** `per_transaction_limit`: the most that one spend may be. */
export const judgePerTransactionLimit: Judge = sameCurrencyOnly((authority, { request }, observed) => {
  const limit = authority.per_transaction_limit_minor;
  if (limit === undefined) return skipped(POLICY.no_transaction_limit());
  const amounts = [
    formatMoney(observed, authority.currency),
    formatMoney(limit, authority.currency),
  ] as const;
  if (observed <= limit)
    return { outcome: 'PASS', observed, limit, detail: POLICY.within_transaction_limit(...amounts) };
  return request.limitable === true
    ? {
        outcome: 'LIMIT',
        reason_code: 'AMOUNT_LIMITED',
        capped_minor: limit,
        observed,
        limit,
        detail: POLICY.reduced_to_transaction_limit(...amounts),
      }
    : {
        outcome: 'DENY',
        reason_code: 'PER_TRANSACTION_LIMIT_EXCEEDED',
        observed,
        limit,
        detail: POLICY.over_transaction_limit(...amounts),
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
      if (limit === null) return skipped(POLICY.no_monthly_budget());
      const detail = POLICY.within_budget(money(amount_minor), money(left - amount_minor), money(limit));
      return { outcome: 'PASS', observed, limit, detail };
    }
    const requested = money(request.action.amount_minor);
    const ends_ms = nextPeriodMs(now_ms);
    const ends = leastAccepted(request) <= remainingMinor(NOTHING_SPENT, limit) ? { ends_ms } : {};
    return request.limitable === true && left > 0
      ? {
          outcome: 'LIMIT',
          reason_code: 'AMOUNT_LIMITED',
          capped_minor: left,
          observed,
          limit,
          detail:
            limit === null
              ? POLICY.reduced_to_countable(requested, money(left))
              : POLICY.reduced_to_budget(requested, money(left), money(limit)),
          ...ends,
        }
      : {
          outcome: 'DENY',
          reason_code: 'MONTHLY_BUDGET_EXCEEDED',
          observed,
          limit,
          detail: [
            limit === null
              ? POLICY.over_countable(requested, money(left))
              : left === 0
                ? POLICY.budget_used_up(requested, money(limit))
                : POLICY.over_budget(requested, money(left), money(limit)),
            ...('ends_ms' in ends ? [POLICY.resets(utcTime(ends_ms))] : []),
          ].join(' '),
          room_minor: left,
          ...ends,
        };
  },
);

/** `min_amount`: what was capped must reach what the request accepts. */
export const judgeMinAmount: Judge = sameCurrencyOnly(({ currency }, { request }, observed) => {
  const { action, limitable, min_amount_minor: limit = 1 } = request;
  if (limitable !== true) return skipped(POLICY.not_reducible());
  const amounts = [formatMoney(observed, currency), formatMoney(limit, currency)] as const;
  if (observed === action.amount_minor)
    return { outcome: 'PASS', observed, limit, detail: POLICY.not_reduced(amounts[0]) };
  if (observed >= limit) return { outcome: 'PASS', observed, limit, detail: POLICY.enough(...amounts) };
  return {
    outcome: 'DENY',
    reason_code: 'MIN_AMOUNT_UNREACHABLE',
    observed,
    limit,
    detail: POLICY.not_enough(...amounts),
  };
});

/** `review_threshold`: larger amounts go to a person. */
export const judgeReviewThreshold: Judge = sameCurrencyOnly(
  ({ currency, review_threshold_minor: limit }, _facts, observed) => {
    if (limit === undefined) return skipped(POLICY.no_review_threshold());
    const amounts = [formatMoney(observed, currency), formatMoney(limit, currency)] as const;
    if (observed <= limit)
      return { outcome: 'PASS', observed, limit, detail: POLICY.within_threshold(...amounts) };
    return {
      outcome: 'REVIEW',
      reason_code: 'REVIEW_THRESHOLD_EXCEEDED',
      observed,
      limit,
      detail: POLICY.over_threshold(...amounts),
    };
  },
);
