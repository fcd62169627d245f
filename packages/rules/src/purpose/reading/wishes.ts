import { ASKS_FIRST, FALLBACK, INSISTS, WISH } from '../data/constraint-language.ts';
import { foldText, tokenize } from '../language/text.ts';

/** Where a clause of a sentence ends. */
const CLAUSE = /[,;、]|\s[–—-]\s|\s(?:but|aber|mais|pero|maar|ma|mas)\s/;
/** A clause of at most this many words only announces a wish: "If possible, …". */
const MAX_LEAD = 3;

/** True if a text matches as it is written or folded: folding takes kana apart. */
export const saysSo = (pattern: RegExp, text: string): boolean =>
  pattern.test(foldText(text)) || pattern.test(text);

/**
 * Parts a sentence into what it asks for and what it only wishes: "ideally", "if possible", "when X is sold out, take Y". A
 * clause that also insists ("never") is no wish, and a fallback that asks a person is none.
 */
export function partWishes(sentence: string): { asked: string; wishes: string[] } {
  const is_fallback =
    saysSo(FALLBACK, sentence) && ![INSISTS, ASKS_FIRST].some((one) => saysSo(one, sentence));
  if (is_fallback) return { asked: '', wishes: [sentence] };
  if (!saysSo(WISH, sentence)) return { asked: sentence, wishes: [] };
  const asked: string[] = [];
  const wishes: string[] = [];
  let is_lead = false;
  for (const clause of sentence.split(CLAUSE)) {
    const is_wish = saysSo(WISH, clause);
    const insists = saysSo(INSISTS, clause);
    (!insists && (is_wish || is_lead) ? wishes : asked).push(clause);
    is_lead = is_wish && !insists && tokenize(clause).length <= MAX_LEAD;
  }
  return { asked: asked.join(',').trim(), wishes };
}
