import { historyWords, precedentsAt } from '../reading/precedents.ts';
import { type Conflict, conflictsWith } from './conflict.ts';

/** One refused spend says little about a merchant who sells many things. */
const MIN_REFUSALS = 2;

/** People refused such spends at this merchant or payee, or spends there altogether. */
export const refusedBefore: Conflict = {
  id: 'refused-before',
  severity: 'unclear',
  applies: ({ facts }) => facts.precedents.by_merchant.size + facts.precedents.by_payee.size > 0,
  find({ spend, facts }) {
    const known = precedentsAt(facts, spend.request.action);
    const refused = known.reduce((sum, one) => sum + one.said_by_people.refused, 0);
    const allowed = known.reduce((sum, one) => sum + one.said_by_people.allowed, 0);
    if (refused === 0) return undefined;
    if (refused >= MIN_REFUSALS && allowed === 0) {
      return {
        sentence: 'Reviewers rejected earlier spends at this merchant or payee.',
        evidence: [conflictsWith('history', `rejected ${refused} times`)],
      };
    }
    const word = historyWords(spend.description.text).find(
      (one) =>
        known.some(({ words }) => (words.get(one)?.refused ?? 0) > 0) &&
        known.every(({ words }) => (words.get(one)?.allowed ?? 0) === 0),
    );
    if (word === undefined) return undefined;
    return {
      sentence: `A reviewer rejected a similar spend ("${word}") there before.`,
      evidence: [conflictsWith('action.description', word), conflictsWith('history', 'refused before')],
    };
  },
};
