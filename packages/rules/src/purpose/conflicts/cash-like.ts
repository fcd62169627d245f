import { CASH_RAILS, CASH_TYPES } from '../data/spend-language.ts';
import { plainAccount } from '../language/figures.ts';
import { type Conflict, conflictsWith } from './conflict.ts';

/** Money in another form that the purpose does not ask for: gift cards, coins, cash. */
export const cashLike: Conflict = {
  id: 'cash-like',
  severity: 'final',
  applies: () => true,
  find({ purpose, spend }) {
    const match = [...spend.description_matches, ...spend.merchant_matches, ...spend.category_matches].find(
      (one) =>
        one.strong &&
        one.trades.some((trade) => trade.family === 'cash_like') &&
        !one.trades.some((trade) => purpose.trades.has(trade)),
    );
    const known = spend.known.trades.find(
      (trade) => trade.family === 'cash_like' && !purpose.trades.has(trade),
    );
    if (match !== undefined || known !== undefined) {
      const [field, text] =
        match === undefined ? ['action.merchant', spend.merchant.raw] : [match.field, match.text];
      const label = (match?.trades.find((trade) => trade.family === 'cash_like') ?? known)?.label;
      return {
        sentence: `"${text}" belongs to ${label}, which is as good as cash and not part of the purpose.`,
        evidence: [conflictsWith(field, text)],
      };
    }
    const { type, payee_id = '' } = spend.request.action;
    const wants = [...purpose.trades.keys()].some((trade) => trade.family === 'cash_like');
    if (CASH_TYPES.test(type.toLowerCase()) && !wants) {
      return {
        sentence: `The spend is a ${type.replaceAll('_', ' ')}, which is as good as cash and not part of the purpose.`,
        evidence: [conflictsWith('action.type', type)],
      };
    }
    const rail = payee_id.slice(0, Math.max(0, payee_id.indexOf(':'))).toLowerCase();
    if (!CASH_RAILS.test(rail) || purpose.words.has(rail) || purpose.accounts.has(plainAccount(payee_id)))
      return undefined;
    return {
      sentence: `The money would be sent by ${rail}, which cannot be reversed and is not part of the purpose.`,
      evidence: [conflictsWith('action.payee_id', payee_id)],
      severity: 'unclear',
    };
  },
};
