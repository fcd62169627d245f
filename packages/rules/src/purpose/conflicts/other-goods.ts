import { isPrivate } from '../language/lexicon.ts';
import { type Conflict, conflictsWith } from './conflict.ts';

/** The description names goods of a trade that neither purpose nor merchant has to do with. */
export const otherGoods: Conflict = {
  id: 'other-goods',
  severity: 'unclear',
  applies: ({ purpose }) => !purpose.broad && purpose.families.size > 0,
  find({ purpose, spend }) {
    const own = new Set(spend.known.trades.map(({ family }) => family));
    const match = spend.description_matches.find(
      (one) =>
        one.strong &&
        one.trades.every(
          (trade) =>
            !purpose.trades.has(trade) &&
            !purpose.families.has(trade.family) &&
            isPrivate(trade) &&
            !own.has(trade.family),
        ),
    );
    if (match === undefined) return undefined;
    return {
      sentence: `"${match.text}" belongs to ${match.trades[0]?.label}, which is not part of the purpose.`,
      evidence: [conflictsWith(match.field, match.text)],
    };
  },
};
