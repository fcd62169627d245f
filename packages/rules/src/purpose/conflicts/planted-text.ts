import { PURPOSE } from '../../sentences/purpose.ts';
import { mayAttack, readAttacks } from '../language/attacks.ts';
import { type Conflict, quoteAround, subjectOf, subjectWords, suspicious } from './conflict.ts';

/** In UTF-16 code units. */
const MIN_TEXT_LENGTH = 8;

/** Text that is meant for the judge of the spend, or that orders the agent about, instead of saying what is bought. */
export const plantedText: Conflict = {
  kind: 'planted_text',
  severity: 'final',
  applies: ({ spend }) => mayAttack([spend.merchant, spend.category, ...spend.said]),
  *find({ spend }) {
    for (const text of [spend.description, spend.merchant, spend.category, spend.task, ...spend.trace]) {
      if (text.folded.length < MIN_TEXT_LENGTH) continue;
      for (const { match, meaning, is_certain } of readAttacks(text.folded)) {
        const quote = quoteAround(text.folded, match.index, match[0].length);
        yield {
          sentence: PURPOSE.planted_text(meaning, quote),
          evidence: [suspicious(text.field, quote)],
          about: subjectOf(null, subjectWords(match[0])),
          ...(is_certain ? {} : { severity: 'unclear' as const }),
        };
      }
    }
  },
};
