import { PURPOSE } from '../../sentences/purpose.ts';
import { historyWords, precedentsAt } from '../reading/precedents.ts';
import { type Conflict, conflictsWith, subjectOf } from './conflict.ts';

/** Words that nobody has allowed at this merchant, in any language; only where the operator wants that much attention. */
export const newWords: Conflict = {
  kind: 'new_words',
  severity: 'unclear',
  applies: ({ vouched }) => vouched !== undefined,
  *find({ spend, facts }) {
    const known = precedentsAt(facts, spend.request.action);
    for (const word of historyWords(spend.description.text)) {
      if (known.some(({ words }) => (words.get(word)?.allowed ?? 0) > 0)) continue;
      yield {
        sentence: PURPOSE.new_words(word, spend.merchant.raw),
        evidence: [conflictsWith('action.description', word)],
        about: subjectOf(null, [word]),
      };
    }
  },
};
