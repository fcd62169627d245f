import { PURPOSE } from '../../sentences/purpose.ts';
import type { Trade } from '../data/trades.ts';
import { carriesMeaning, LOOSE_STEMS } from '../language/everyday-words.ts';
import type { Token } from '../language/text.ts';
import type { AuthorityReading, ForbiddenItem, Prohibition } from '../reading/authority-terms.ts';
import { type Conflict, conflictsWith, type Inquiry, subjectOf, wordsOf } from './conflict.ts';

/** True if the objective itself names the trade. */
function isWanted(purpose: AuthorityReading, trade: Trade): boolean {
  const quote = purpose.trades.get(trade);
  return quote?.strong === true && quote.field === 'purpose.objective';
}

/** The words of an item one behind the other in a text. */
function runOf({ stems }: ForbiddenItem, tokens: readonly Token[]): string | undefined {
  const at = tokens.findIndex((_, i) => stems.every((stem, k) => tokens[i + k]?.stem === stem));
  return at < 0
    ? undefined
    : tokens
        .slice(at, at + stems.length)
        .map((token) => token.raw)
        .join(' ');
}

interface Hit {
  field: string;
  text: string;
  is_certain: boolean;
  /** How the question names it. */
  words: readonly string[];
}

function* literal(item: ForbiddenItem, { spend, purpose }: Inquiry): Iterable<Hit> {
  const { stems: words } = item;
  if (words.length === 0 || !words.every((stem) => spend.goods_stems.has(stem))) return;
  const says = words.some((stem) => !LOOSE_STEMS.has(stem));
  // Words that the operator uses elsewhere of what is wanted are not plainly forbidden.
  const is_wanted = words.every((stem) => purpose.words.has(stem));
  const { field, tokens } = spend.description;
  const run = runOf(item, tokens);
  if (run !== undefined) yield { field, text: run, is_certain: says && !is_wanted, words };
  else if (says) yield { field, text: words.join(' '), is_certain: false, words };
}

/** From this length on, a word within another is taken for a part of a compound: Möbel in Büromöbel. */
const MIN_PART = 5;

/** A forbidden word as part of a compound, or the other way round; such languages write words together. */
function* compound({ stems: [stem = '', ...others] }: ForbiddenItem, { spend }: Inquiry): Iterable<Hit> {
  if (others.length > 0 || stem.length < MIN_PART || LOOSE_STEMS.has(stem)) return;
  for (const { word, stem: own, raw } of spend.description.tokens) {
    const has = word.length > stem.length && (word.startsWith(stem) || word.endsWith(stem));
    const is_part = word.length >= MIN_PART && stem.length > word.length && stem.startsWith(word);
    if (own !== stem && (has || is_part))
      yield { field: 'action.description', text: raw, is_certain: false, words: [own] };
  }
}

/** The merchant bears a forbidden name: certainly where it says nothing else, and perhaps as part of a longer name. */
function* seller({ stems: words }: ForbiddenItem, { spend }: Inquiry): Iterable<Hit> {
  const named = spend.merchant.tokens.filter(carriesMeaning).map(({ stem }) => stem);
  if (words.length === 0 || !words.every((stem) => named.includes(stem) && !LOOSE_STEMS.has(stem))) return;
  const is_certain = named.every((stem) => words.includes(stem));
  yield { field: 'action.merchant', text: spend.merchant.raw, is_certain, words };
}

/** Nobody doubts the goods of these kinds. Goods of every other forbidden trade make a spend unclear. */
const PLAIN_KINDS: ReadonlySet<string> = new Set(['alcohol', 'cash_like', 'gambling', 'adult']);

/** Goods of a forbidden trade. If the objective wants the trade, only what the constraint names is forbidden. */
function* ofTrade(item: ForbiddenItem, { spend, purpose }: Inquiry): Iterable<Hit> {
  if (item.trades.size === 0) return;
  const isForbidden = (trade: Trade) => item.trades.has(trade) && !isWanted(purpose, trade);
  for (const match of [...spend.description_matches, ...spend.category_matches, ...spend.merchant_matches]) {
    const hit = match.trades.find(isForbidden);
    if (hit === undefined || !match.strong) continue;
    const is_certain =
      match.field === 'action.description' && PLAIN_KINDS.has(hit.family) && match.text.length > 2;
    yield { field: match.field, text: match.text, is_certain, words: wordsOf(match) };
  }
  if (spend.known.some(isForbidden))
    yield { field: 'action.merchant', text: spend.merchant.raw, is_certain: false, words: [] };
}

function* hitsOf(rule: Prohibition, inquiry: Inquiry): Iterable<Hit> {
  for (const item of rule.items) {
    for (const look of [seller, literal, ofTrade, compound]) yield* look(item, inquiry);
  }
}

/** Goods that the operator forbids literally, or goods of a forbidden kind. */
export const prohibited: Conflict = {
  kind: 'prohibited',
  severity: 'final',
  applies: ({ purpose }) => purpose.prohibitions.length > 0,
  *find(inquiry) {
    for (const rule of inquiry.purpose.prohibitions) {
      for (const hit of hitsOf(rule, inquiry)) {
        // An exception may be meant, and only the agent's words could say so.
        const is_final = hit.is_certain && rule.exceptions.size === 0 && !rule.is_relative;
        yield {
          sentence: is_final
            ? PURPOSE.prohibited(rule.text, hit.text)
            : PURPOSE.prohibited_perhaps(hit.text, rule.text),
          evidence: [conflictsWith(hit.field, hit.text), conflictsWith(rule.field, rule.text)],
          about: subjectOf(rule, hit.words),
          ...(is_final ? {} : { severity: 'unclear' as const }),
        };
      }
    }
  },
};
