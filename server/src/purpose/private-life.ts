import { type Conflict, conflictsWith } from './conflicts.ts';
import { OWN_WORDS, SOMEBODYS_OWN } from './data/record-language.ts';
import { isPrivate } from './language/lexicon.ts';
import { stemsOf, stemWord } from './language/text.ts';
import type { AuthorityReading } from './reading/authority-terms.ts';
import type { SpendReading, TermMatch } from './reading/spend-reading.ts';

/** The pattern matches only texts with one of these stems, and looking for stems is cheaper. */
const OWN_STEMS = stemsOf(OWN_WORDS.replaceAll('|', ' '));

const CHILD = /^(?:kid|child)/;
const CHILD_WORDS = ['child', 'children', 'kid', 'pupil', 'student', 'school', 'nursery', 'family'];

/** Conflict: something for somebody's private life is bought under a purpose for work. */
export function forPrivateLife(spend: SpendReading, authority: AuthorityReading): Conflict | undefined {
  if (authority.broad || authority.on_request) return undefined;
  for (const text of [spend.description, spend.task]) {
    if (!text.tokens.some((token) => OWN_STEMS.has(token.stem))) continue;
    const match = SOMEBODYS_OWN.exec(text.folded);
    if (match === null || authority.words.has(stemWord(match[1] ?? ''))) continue;
    if (CHILD.test(match[1] ?? '') && CHILD_WORDS.some((stem) => authority.words.has(stem))) continue;
    return {
      evidence: [conflictsWith(text.field, match[0])],
      sentence: `"${match[0]}" is somebody's private life, which the purpose does not speak of.`,
      confidence: 0.7,
    };
  }
  return undefined;
}

/** The first match that belongs to private trades alone. */
export function privateGoods(matches: readonly TermMatch[]): TermMatch | undefined {
  return matches.find((one) => one.strong && one.trades.length > 0 && one.trades.every(isPrivate));
}
