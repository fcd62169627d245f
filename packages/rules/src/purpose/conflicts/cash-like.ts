import { PURPOSE } from '../../sentences/purpose.ts';
import { CASH_RAILS, CASH_TYPES } from '../data/spend-language.ts';
import { plainAccount } from '../language/figures.ts';
import { type Conflict, conflictsWith, subjectOf, subjectWords, wordsOf } from './conflict.ts';

/** Money in another form that the purpose does not ask for: gift cards, coins, cash. */
export const cashLike: Conflict = {
  kind: 'cash_like',
  severity: 'final',
  applies: () => true,
  *find({ purpose, spend }) {
    for (const match of [
      ...spend.description_matches,
      ...spend.merchant_matches,
      ...spend.category_matches,
    ]) {
      const cash = match.trades.find(({ family }) => family === 'cash_like');
      if (cash === undefined || !match.strong || match.trades.some((trade) => purpose.trades.has(trade)))
        continue;
      yield {
        sentence: PURPOSE.cash_like_goods(match.text),
        evidence: [conflictsWith(match.field, match.text)],
        about: subjectOf(null, wordsOf(match)),
      };
    }
    const known = spend.known.find((trade) => trade.family === 'cash_like' && !purpose.trades.has(trade));
    if (known !== undefined) {
      yield {
        sentence: PURPOSE.cash_like_merchant(spend.merchant.raw, known.label),
        evidence: [conflictsWith('action.merchant', spend.merchant.raw)],
        about: subjectOf(null, [known.id]),
      };
    }
    const { type, payee_id = '' } = spend.request.action;
    const wants = [...purpose.trades.keys()].some((trade) => trade.family === 'cash_like');
    if (CASH_TYPES.test(type.toLowerCase()) && !wants) {
      yield {
        sentence: PURPOSE.cash_like_type(type),
        evidence: [conflictsWith('action.type', type)],
        about: subjectOf(null, subjectWords(type)),
      };
    }
    const rail = payee_id.slice(0, Math.max(0, payee_id.indexOf(':'))).toLowerCase();
    if (!CASH_RAILS.test(rail) || purpose.words.has(rail) || purpose.accounts.has(plainAccount(payee_id)))
      return;
    yield {
      sentence: PURPOSE.cash_like_rail(rail),
      evidence: [conflictsWith('action.payee_id', payee_id)],
      about: subjectOf(null, [rail]),
      severity: 'unclear',
    };
  },
};
