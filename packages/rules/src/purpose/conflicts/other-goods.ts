import { PURPOSE } from '../../sentences/purpose.ts';
import { isPrivate } from '../language/lexicon.ts';
import { type Conflict, conflictsWith, subjectOf, wordsOf } from './conflict.ts';

/** The description names goods of a trade that neither purpose nor merchant has to do with. */
export const otherGoods: Conflict = {
  kind: 'other_goods',
  severity: 'unclear',
  applies: ({ purpose }) => !purpose.broad && purpose.families.size > 0,
  *find({ purpose, spend }) {
    const own = new Set(spend.known.map(({ family }) => family));
    for (const match of spend.description_matches) {
      const is_other = match.trades.every(
        (trade) =>
          !purpose.trades.has(trade) &&
          !purpose.families.has(trade.family) &&
          isPrivate(trade) &&
          !own.has(trade.family),
      );
      if (!match.strong || !is_other) continue;
      yield {
        sentence: PURPOSE.other_goods(match.text, `${match.trades[0]?.label}`),
        evidence: [conflictsWith(match.field, match.text)],
        about: subjectOf(null, wordsOf(match)),
      };
    }
  },
};
