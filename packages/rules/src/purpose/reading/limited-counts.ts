import {
  NUMBERS,
  OVER_A_SUM,
  OVER_BEHIND_A_SUM,
  UP_TO_A_SUM,
  UP_TO_BEHIND_A_SUM,
} from '../data/constraint-language.ts';
import { carriesMeaning, isGrammar } from '../language/everyday-words.ts';
import { foldText, type Token, tokenize } from '../language/text.ts';
import type { CountRule } from './authority-terms.ts';
import { withoutSums } from './limited-sums.ts';
import type { Quote } from './named-merchants.ts';

const MAX_DIGITS = 6;
/** Longest text before and behind a number that is read, in UTF-16 code units. */
const MAX_AROUND = 80;
/** Words between a number and what it counts: "14 named seats". */
const NEAR = 2;
/** These lead a number of something else, too, or what is too small: "from 2 sellers", "bis 5 Uhr", "below 4 degrees". */
const SAYS_MORE = /^(?:from|bis|tot|hasta|ate|unter|under|below|less than|weniger als|moins de|menos de) $/;
/** "One per child": the number is of each, and nothing tells how many there are. */
const OF_EACH = /^\s*(?:\S+\s){0,5}?(?:per|pro|par|por|cada|chaque|je|each|every|jede[rsmn]?)\b/;

/** The number that a word writes, in digits, as "14x" or as a word. */
function numberOf({ word }: Token): number | undefined {
  const digits = /^x?(\d+)x?$/.exec(word)?.[1];
  if (digits === undefined) return NUMBERS.get(word);
  return digits.length > MAX_DIGITS ? undefined : Number(digits);
}

const isCounted = ({ word, stem }: Token): boolean =>
  !/\d/.test(word) && word.length > 1 && !NUMBERS.has(word) && (!isGrammar(stem) || COUNTED.has(stem));
/** Words of every spend that are counted all the same. */
const COUNTED: ReadonlySet<string> = new Set(
  'day week month year piece unit box pack pair set case bag kg user tag woche monat jour mois dia mes'.split(
    ' ',
  ),
);

/** The numbers of a constraint beyond which it says something: "never more than 9 seats", "seats: max 5". */
export function countsIn(sentence: string, quote: Quote): CountRule[] {
  const text = foldText(withoutSums(sentence));
  const rules: CountRule[] = [];
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const [token] = tokenize(word);
    const most = token && numberOf(token);
    if (most === undefined || most === 0) continue;
    const before = text.slice(Math.max(0, index - MAX_AROUND), index);
    const behind = text.slice(index + word.length, index + word.length + MAX_AROUND);
    const lead = UP_TO_A_SUM.exec(before) ?? OVER_A_SUM.exec(before);
    if (lead !== null ? SAYS_MORE.test(lead[0]) : !limitsBehind(behind)) continue;
    const clause = /^[^,;:.!?()]*/.exec(behind)?.[0] ?? '';
    if (OF_EACH.test(clause)) continue;
    const things = tokenize(clause).slice(0, NEAR).filter(isCounted);
    const subject =
      lead === null ? [] : tokenize(before.slice(0, lead.index)).filter(carriesMeaning).slice(-1);
    const units = new Set((things.length > 0 ? things : subject).map(({ stem }) => stem));
    if (units.size > 0) rules.push({ ...quote, most, units });
  }
  return rules;
}

/** "9 seats max": the limit follows the thing. */
const limitsBehind = (behind: string): boolean => {
  const thing = /^ [\p{L}]+(?= )/u.exec(behind)?.[0] ?? '';
  return [UP_TO_BEHIND_A_SUM, OVER_BEHIND_A_SUM].some((pattern) => pattern.test(behind.slice(thing.length)));
};

/** The numbers that a text gives of some units, with its words: "14 seats", "seats: 14", "14 named seats". */
export function* countedIn(
  tokens: readonly Token[],
  isUnit: (token: Token) => boolean,
): Iterable<{ count: number; text: string }> {
  for (const [i, token] of tokens.entries()) {
    const count = numberOf(token);
    if (count === undefined) continue;
    const behind = tokens.slice(i + 1, i + 1 + NEAR);
    const end = behind.findIndex(isUnit);
    const before = tokens[i - 1];
    const named =
      end >= 0
        ? [token, ...behind.slice(0, end + 1)]
        : before !== undefined && isUnit(before)
          ? [before, token]
          : [];
    if (named.length > 0) yield { count, text: named.map(({ raw }) => raw).join(' ') };
  }
}
