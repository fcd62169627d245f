import { PURPOSE } from '../../sentences/purpose.ts';
import { historyWords, precedentsAt } from '../reading/precedents.ts';
import { type Conflict, conflictsWith, subjectOf } from './conflict.ts';

/** People refused spends with these words at this merchant or payee, and allowed none with them there. */
export const rejectedBefore: Conflict = {
  kind: 'rejected_before',
  severity: 'unclear',
  applies: ({ facts }) => facts.precedents.by_merchant.size + facts.precedents.by_payee.size > 0,
  *find({ spend, facts }) {
    const known = precedentsAt(facts, spend.request.action);
    if (!known.some((one) => one.said_by_people.refused > 0)) return;
    for (const word of historyWords(spend.description.text)) {
      const sum = (of: 'allowed' | 'refused') =>
        known.reduce((total, { words }) => total + (words.get(word)?.[of] ?? 0), 0);
      if (sum('refused') === 0 || sum('allowed') > 0) continue;
      yield {
        sentence: PURPOSE.rejected_before(word),
        evidence: [
          conflictsWith('action.description', word),
          conflictsWith('history', `rejected ${sum('refused')} times`),
        ],
        about: subjectOf(null, [word]),
      };
    }
  },
};
