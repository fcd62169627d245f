import { currencyExponent, isActiveCurrency } from '../../values/money.ts';
import { type Conflict, conflictsWith, MAX_QUOTE_LENGTH } from './conflict.ts';

/** The sum is over one that a constraint names ("above 400 pounds"), so that what the constraint says may be about it. */
export const overMark: Conflict = {
  id: 'over-mark',
  severity: 'unclear',
  applies: ({ purpose, spend, authority }) =>
    purpose.marks.length > 0 && spend.request.action.currency === authority.currency,
  find({ purpose, spend }) {
    const { amount_minor, currency } = spend.request.action;
    const unit = 10 ** (isActiveCurrency(currency) ? currencyExponent(currency) : 2);
    const found = purpose.marks.find(({ amount }) => amount_minor > amount * unit);
    if (found === undefined) return undefined;
    return {
      sentence: `The amount is over a limit in the purpose: "${found.text.slice(0, MAX_QUOTE_LENGTH)}".`,
      evidence: [
        conflictsWith('action.amount_minor', String(amount_minor)),
        conflictsWith(found.field, found.text),
      ],
    };
  },
};
