import { mayAttack, readAttacks } from '../language/attacks.ts';
import type { FieldText } from '../reading/spend-reading.ts';
import { type Conflict, type Contradiction, quoteAround, suspicious } from './conflict.ts';

function findingIn(text: FieldText): Contradiction | undefined {
  let mild: Contradiction | undefined;
  for (const { match, meaning, is_certain } of readAttacks(text.folded)) {
    const quote = quoteAround(text.folded, match.index, match[0].length);
    const finding: Contradiction = {
      sentence: `The request ${meaning} ("${quote}").`,
      evidence: [suspicious(text.field, quote)],
    };
    if (is_certain) return finding;
    mild ??= { ...finding, severity: 'unclear' };
  }
  return mild;
}

/** Text that is meant for whoever judges the spend, or that orders the agent about, instead of saying what is bought. */
export const plantedText: Conflict = {
  id: 'planted-text',
  severity: 'final',
  applies: ({ spend }) =>
    mayAttack([spend.merchant, spend.description, spend.category, spend.task, ...spend.trace]),
  find({ spend }) {
    let mild: Contradiction | undefined;
    for (const text of [spend.description, spend.merchant, spend.category, spend.task, ...spend.trace]) {
      if (text.folded.length < 8) continue;
      const found = findingIn(text);
      if (found !== undefined && found.severity === undefined && !text.field.startsWith('trace['))
        return found;
      mild ??= found;
    }
    return mild;
  },
};
