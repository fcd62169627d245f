import { readTerms } from '@purser/purpose-data';
import { namesOfDescriptor } from '../../merchants/descriptors.ts';
import { hasLookAlikes, normaliseMerchant, plainText } from '../../merchants/names.ts';
import { NOT_IN_CAPITALS, VERBS } from '../data/constraint-language.ts';
import { PRIVATE_FAMILIES, TRADES, type Trade } from '../data/trades.ts';
import { EVERYDAY_WORDS } from './everyday-words.ts';
import { findPhrases, indexPhrases, type PhraseMatch, phrasesOf } from './phrase-index.ts';
import type { Token } from './text.ts';

const OTHER_LANGUAGES = readTerms('other-languages');

/** Words of a text that match one trade. */
export interface TradeMatch {
  trade: Trade;
  /** Index of the first token and number of tokens. */
  at: number;
  length: number;
  /** The words as written. */
  text: string;
  /** False for words that have other everyday meanings. */
  strong: boolean;
}

const WORD_INDEX = indexPhrases(
  TRADES.flatMap((trade) => [
    ...phrasesOf(trade.words, trade),
    ...phrasesOf(OTHER_LANGUAGES.get(trade.id) ?? [], trade),
  ]),
);
const PRIVATE_CIRCLE_INDEX = indexPhrases(phrasesOf(EVERYDAY_WORDS.get('private_circle') ?? [], null));

function textOf(tokens: readonly Token[], at: number, length: number): string {
  let text = tokens[at]?.raw ?? '';
  for (let i = at + 1; i < at + length; i += 1) text += ` ${tokens[i]?.raw}`;
  return text;
}

const tradeMatches = (tokens: readonly Token[], found: readonly PhraseMatch[]): TradeMatch[] =>
  found.flatMap(({ meaning: { trade, strong }, at, length }) =>
    trade === null ? [] : [{ trade, at, length, text: textOf(tokens, at, length), strong }],
  );

function isCode(token: Token | undefined): boolean {
  return token !== undefined && token.raw === token.raw.toUpperCase() && NOT_IN_CAPITALS.has(token.word);
}

/** "Book only …", "post the …", "to train …": the word begins an instruction. */
function isVerb(tokens: readonly Token[], at: number, length: number): boolean {
  const word = tokens[at]?.word ?? '';
  if (length > 1 || !VERBS.has(word)) return false;
  const before = tokens[at - 1]?.word;
  if (before !== undefined && /^(?:a|the|one|this|that|of|picture|text|cook)$/.test(before)) return false;
  return (
    word === 'book' || before === undefined || before === 'to' || before === 'please' || before === 'and'
  );
}

/** Trades that the words of the operator's text name. Takes time linear in the number of tokens. */
export function tradeWords(tokens: readonly Token[]): TradeMatch[] {
  const found = findPhrases(
    tokens,
    WORD_INDEX,
    (_, at, length) => !isCode(tokens[at]) && !isVerb(tokens, at, length),
  );
  return tradeMatches(tokens, found);
}

/** All trades that any words of an agent's text name: added words hide none of them. */
export function everyTradeWord(tokens: readonly Token[]): TradeMatch[] {
  return tradeMatches(
    tokens,
    findPhrases(tokens, WORD_INDEX, (_, at) => !isCode(tokens[at]), true),
  );
}

/** The trades whose words contain a stem, alone or in a phrase. */
const TRADES_OF_STEM: ReadonlyMap<string, ReadonlySet<Trade>> = stemTrades();

function stemTrades(): Map<string, Set<Trade>> {
  const trades = new Map<string, Set<Trade>>();
  for (const [text, meanings] of WORD_INDEX.meanings) {
    for (const stem of text.split(' ')) {
      const known = trades.get(stem) ?? new Set();
      trades.set(stem, known);
      for (const { trade } of meanings) if (trade !== null) known.add(trade);
    }
  }
  return trades;
}

const NO_TRADES: ReadonlySet<Trade> = new Set();

/** The trades that a word may name, also as part of a longer name of goods. */
export const tradesOfWord = (token: Token): ReadonlySet<Trade> => TRADES_OF_STEM.get(token.stem) ?? NO_TRADES;

/** The trades of the matches. Of a word in two trades ("fish": groceries and fish) only the narrower one is returned. */
export function narrowTrades(matches: readonly TradeMatch[]): Set<Trade> {
  const isWider = (match: TradeMatch) =>
    matches.some((other) => other.at === match.at && other.trade.words.length < match.trade.words.length);
  return new Set(matches.filter((match) => !isWider(match)).map((match) => match.trade));
}

/** Words of the buyer's private circle ("wife", "for myself"). */
export function privateCircleWords(tokens: readonly Token[]): string[] {
  return findPhrases(tokens, PRIVATE_CIRCLE_INDEX, () => true).map(({ at, length }) =>
    textOf(tokens, at, length),
  );
}

/** The trades of merchants by their normalised whole names. */
export type MerchantIndex = ReadonlyMap<string, readonly Trade[]>;

/** Indexes merchants for `knownMerchant`. */
export function indexMerchants(
  merchants: readonly { name: string; trade_ids: readonly string[] }[],
): MerchantIndex {
  const index = new Map<string, readonly Trade[]>();
  for (const { name, trade_ids } of merchants) {
    const key = normaliseMerchant(name);
    const trades = TRADES.filter((trade) => trade_ids.includes(trade.id));
    index.set(key, [...new Set([...(index.get(key) ?? []), ...trades])]);
  }
  return index;
}

const COMPANIES = indexMerchants(
  [...readTerms('trade-companies')].flatMap(([trade_id, names]) =>
    names.map((name) => ({ name, trade_ids: [trade_id] })),
  ),
);

/**
 * The trades of a merchant by its whole name, as it is and as a card descriptor, first in the operator's list and then among
 * well-known companies. A name that only contains a known one is not known.
 */
export function knownMerchant(merchant: string, own: MerchantIndex | undefined): readonly Trade[] {
  if (hasLookAlikes(plainText(merchant))) return [];
  for (const index of own === undefined ? [COMPANIES] : [own, COMPANIES]) {
    for (const name of namesOfDescriptor(merchant)) {
      const known = index.get(normaliseMerchant(name));
      if (known !== undefined) return known;
    }
  }
  return [];
}

export const isPrivate = (trade: Trade): boolean => PRIVATE_FAMILIES.has(trade.family);
