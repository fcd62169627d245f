import type { Trade } from '../data/trades.ts';
import { LOOSE_STEMS } from '../language/everyday-words.ts';
import type { Token } from '../language/text.ts';
import type { AuthorityReading, ForbiddenItem, Prohibition } from '../reading/authority-terms.ts';
import {
  type Conflict,
  type Contradiction,
  conflictsWith,
  type Inquiry,
  MAX_QUOTE_LENGTH,
} from './conflict.ts';

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
}

function literal(item: ForbiddenItem, { spend, purpose }: Inquiry): Hit | undefined {
  if (item.stems.length === 0 || !item.stems.every((stem) => spend.goods_stems.has(stem))) return undefined;
  const says = item.stems.some((stem) => !LOOSE_STEMS.has(stem));
  // Words that the operator uses elsewhere of what is wanted are not plainly forbidden.
  const is_wanted = item.stems.every((stem) => purpose.words.has(stem));
  const { field, tokens } = spend.description;
  const run = runOf(item, tokens);
  if (run !== undefined) return { field, text: run, is_certain: says && !is_wanted };
  return says ? { field: 'action.description', text: item.stems.join(' '), is_certain: false } : undefined;
}

/** From this length on, a word within another is taken for a part of a compound: Möbel in Büromöbel. */
const MIN_PART = 5;

/** A forbidden word as part of a compound, or the other way round; such languages write words together. */
function compound({ stems: [stem = '', ...others] }: ForbiddenItem, { spend }: Inquiry): Hit | undefined {
  if (others.length > 0 || stem.length < MIN_PART || LOOSE_STEMS.has(stem)) return undefined;
  const part = spend.description.tokens.find(
    ({ word, stem: own }) =>
      own !== stem &&
      ((word.length > stem.length && (word.startsWith(stem) || word.endsWith(stem))) ||
        (word.length >= MIN_PART && stem.length > word.length && stem.startsWith(word))),
  );
  return part === undefined ? undefined : { field: 'action.description', text: part.raw, is_certain: false };
}

function company({ companies }: ForbiddenItem, { spend }: Inquiry): Hit | undefined {
  if (companies.size === 0) return undefined;
  const words = new Set(spend.merchant.tokens.map((token) => token.word));
  const is_named = [...companies].every((word) => words.has(word));
  return is_named ? { field: 'action.merchant', text: spend.merchant.raw, is_certain: true } : undefined;
}

/** Kinds of which nobody doubts what belongs to them. Of all others, goods of a forbidden trade make a spend unclear. */
const PLAIN_KINDS: ReadonlySet<string> = new Set(['alcohol', 'cash_like', 'gambling', 'adult']);

/** Goods of a forbidden trade. If the objective wants the trade, only what the constraint names is forbidden. */
function ofTrade(item: ForbiddenItem, { spend, purpose }: Inquiry): Hit | undefined {
  if (item.trades.size === 0) return undefined;
  let found: Hit | undefined;
  for (const match of [...spend.description_matches, ...spend.category_matches, ...spend.merchant_matches]) {
    const hit = match.trades.find((trade) => item.trades.has(trade) && !isWanted(purpose, trade));
    if (hit === undefined) continue;
    const is_certain =
      match.strong &&
      match.field === 'action.description' &&
      PLAIN_KINDS.has(hit.family) &&
      match.text.length > 2;
    if (is_certain) return { field: match.field, text: match.text, is_certain };
    if (match.strong) found ??= { field: match.field, text: match.text, is_certain };
  }
  if (
    found === undefined &&
    spend.known.trades.some((trade) => item.trades.has(trade) && !isWanted(purpose, trade))
  )
    return { field: 'action.merchant', text: spend.merchant.raw, is_certain: false };
  return found;
}

function brokenBy(rule: Prohibition, inquiry: Inquiry): Hit | undefined {
  let mildest: Hit | undefined;
  for (const item of rule.items) {
    for (const look of [company, literal, ofTrade, compound]) {
      const hit = look(item, inquiry);
      if (hit?.is_certain === true) return hit;
      mildest ??= hit;
    }
  }
  return mildest;
}

/** Goods that the operator forbids literally, or goods of a forbidden kind. */
export const prohibited: Conflict = {
  id: 'prohibited',
  severity: 'final',
  applies: ({ purpose }) => purpose.prohibitions.length > 0,
  find(inquiry) {
    let mild: Contradiction | undefined;
    for (const rule of inquiry.purpose.prohibitions) {
      const hit = brokenBy(rule, inquiry);
      if (hit === undefined) continue;
      const finding: Contradiction = {
        sentence: `The purpose rules out "${hit.text.slice(0, MAX_QUOTE_LENGTH)}": "${rule.text.slice(0, MAX_QUOTE_LENGTH)}".`,
        evidence: [conflictsWith(hit.field, hit.text), conflictsWith(rule.field, rule.text)],
      };
      // An exception may be meant, and only the agent's words could say so.
      if (hit.is_certain && rule.exceptions.size === 0 && !rule.is_relative) return finding;
      mild ??= { ...finding, severity: 'unclear' };
    }
    return mild;
  },
};
