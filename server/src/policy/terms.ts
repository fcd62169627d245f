import { formatMoney } from '../values/money.ts';
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
