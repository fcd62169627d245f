import { type Conflict, conflictsWith } from './conflicts.ts';
import { OWN_WORDS, SOMEBODYS_OWN } from './data/record-language.ts';
import { isPrivate } from './language/lexicon.ts';
import { stemsOf, stemWord } from './language/text.ts';
import type { AuthorityReading } from './reading/authority-terms.ts';
import type { Sighting, SpendReading } from './reading/spend-reading.ts';

/** Without one of these there is no match: looking for words is cheaper than the pattern. */
const OWN_STEMS = stemsOf(OWN_WORDS.replaceAll('|', ' '));

const CHILD = /^(?:kid|child)/;
const CHILD_WORDS = ['child', 'children', 'kid', 'pupil', 'student', 'school', 'nursery', 'family'];

/** A purpose of work, and something bought for somebody's private life. */
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

/** Goods of private life bought under a purpose of work: the sighting that shows it. */
export function privateGoods(sightings: readonly Sighting[]): Sighting | undefined {
  return sightings.find((one) => one.strong && one.trades.length > 0 && one.trades.every(isPrivate));
}
