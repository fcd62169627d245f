import { readTerms } from '@purser/purpose-data';
import { namesOfDescriptor } from '../../merchants/descriptors.ts';
import { hasLookAlikes, normaliseMerchant, plainText } from '../../merchants/names.ts';
import { NOT_IN_CAPITALS, VERBS } from '../data/constraint-language.ts';
import { PRIVATE_FAMILIES, TRADES, type Trade } from '../data/trades.ts';
import { EVERYDAY_WORDS } from './everyday-words.ts';
import { findPhrases, indexPhrases, type PhraseMatch, phrasesOf } from './phrase-index.ts';
import type { Token } from './text.ts';

const WIDER_WORDS = readTerms('wider-words');
const OTHER_LANGUAGES = readTerms('other-languages');
/** The section of companies whose name says nothing about what is bought. */
const GENERAL = 'general';
const GENERAL_MERCHANTS = readTerms('trade-companies').get(GENERAL) ?? [];
/**
 * Trades that broad words imply: a purpose for a clinic, for upkeep or for travel expects these trades without naming
 * them. Such a trade is hinted at, not wanted by name: it is in scope, but goods and merchant must both support it.
 */
const BROAD_WORDS = [...readTerms('broad-words')].map(([trades, words]) => ({
  words,
  trades: trades.split(', '),
}));

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
  /** True if the phrase is in the trade's own table, false if it is only in the long lists. */
  core: boolean;
  kind: 'word' | 'company';
}

const WORD_INDEX = indexPhrases(
  TRADES.flatMap((trade) => [
    ...phrasesOf(trade.words, 'word', trade),
    ...phrasesOf(WIDER_WORDS.get(trade.id) ?? [], 'word', trade, () => ({ core: false })),
    ...phrasesOf(OTHER_LANGUAGES.get(trade.id) ?? [], 'word', trade),
  ]),
  { kind: 'word', is_lasting: true },
);
const COMPANY_INDEX = indexPhrases(
  [
    ...TRADES.flatMap((trade) => phrasesOf(trade.companies, 'company', trade)),
    ...phrasesOf(GENERAL_MERCHANTS, 'company', null),
  ],
  { kind: 'company', is_lasting: true },
);

const BROAD_INDEX = indexPhrases(
  BROAD_WORDS.flatMap(({ words, trades }) => {
    return TRADES.filter((trade) => trades.includes(trade.id)).flatMap((trade) =>
      phrasesOf(words, 'word', trade, () => ({ strong: false })),
    );
  }),
  { kind: 'word', is_lasting: true },
);

const PRIVATE_CIRCLE_INDEX = indexPhrases(
  phrasesOf(EVERYDAY_WORDS.get('private_circle') ?? [], 'word', null),
  {
    kind: 'word',
    is_lasting: true,
  },
);

function textOf(tokens: readonly Token[], at: number, length: number): string {
  let text = tokens[at]?.raw ?? '';
  for (let i = at + 1; i < at + length; i += 1) text += ` ${tokens[i]?.raw}`;
  return text;
}

const tradeMatches = (tokens: readonly Token[], found: readonly PhraseMatch[]): TradeMatch[] =>
  found.flatMap(({ meaning: { trade, strong, core, kind }, at, length }) =>
    trade === null ? [] : [{ trade, at, length, text: textOf(tokens, at, length), strong, core, kind }],
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

/** The trades of the matches. Of a word in two trades ("fish": groceries and fish) only the narrower one is returned. */
export function narrowTrades(matches: readonly TradeMatch[]): Set<Trade> {
  const isWider = (match: TradeMatch) =>
    matches.some((other) => other.at === match.at && other.trade.words.length < match.trade.words.length);
  return new Set(matches.filter((match) => !isWider(match)).map((match) => match.trade));
}

/** Trades that broad words of a purpose ("upkeep", "clinic") imply without naming them. */
export function impliedTrades(tokens: readonly Token[]): TradeMatch[] {
  return tradeMatches(
    tokens,
    findPhrases(tokens, BROAD_INDEX, () => true),
  );
}

/** Words of the buyer's private circle ("wife", "for myself"). */
export function privateCircleWords(tokens: readonly Token[]): string[] {
  return findPhrases(tokens, PRIVATE_CIRCLE_INDEX, () => true).map(({ at, length }) =>
    textOf(tokens, at, length),
  );
}

const startsUpper = (raw: string): boolean => /^[\p{Lu}\p{N}]/u.test(raw);

/** Companies that running text names. Names that are ordinary words are ignored; the others must be capitalised. */
export function companiesInText(tokens: readonly Token[]): TradeMatch[] {
  const found = findPhrases(
    tokens,
    COMPANY_INDEX,
    (meaning, at) => !meaning.ordinary && startsUpper(tokens[at]?.raw ?? ''),
  );
  return tradeMatches(tokens, found);
}

/** A merchant's entry in the tables, by its whole name. */
export interface KnownMerchant {
  trades: readonly Trade[];
  /** The merchant sells nearly everything, or only processes the payment. */
  general: boolean;
}

const UNKNOWN: KnownMerchant = { trades: [], general: false };

/** Merchants by their normalised whole names. */
export type MerchantIndex = ReadonlyMap<string, KnownMerchant>;

/** Indexes merchants by their whole names; a trade of null stands for a merchant that sells nearly everything. */
function byWholeName(
  entries: readonly { name: string; trade: Trade | null }[],
  sells_everything: ReadonlySet<string> = new Set(),
): MerchantIndex {
  const index = new Map<string, KnownMerchant>();
  for (const { name, trade } of entries) {
    const key = normaliseMerchant(name);
    const { trades, general } = index.get(key) ?? UNKNOWN;
    index.set(key, {
      trades: trade === null ? trades : [...new Set([...trades, trade])],
      general: general || trade === null || sells_everything.has(trade.id),
    });
  }
  return index;
}

/** Trades whose shops sell so many things that their name says little about what is bought. */
const SELLS_EVERYTHING: ReadonlySet<string> = new Set(['groceries', 'home_goods']);

const nameOnly = (entry: string): string => entry.replace(/^\^/, '');

const KNOWN_MERCHANTS = byWholeName(
  [
    ...TRADES.flatMap((trade) => trade.companies.map((name) => ({ name: nameOnly(name), trade }))),
    ...GENERAL_MERCHANTS.map((name) => ({ name: nameOnly(name), trade: null })),
  ],
  SELLS_EVERYTHING,
);

/** Indexes the operator's merchants for `knownMerchant`. */
export function indexMerchants(
  merchants: readonly { name: string; trade_ids: readonly string[] }[],
): MerchantIndex {
  return byWholeName(
    merchants.flatMap(({ name, trade_ids }): { name: string; trade: Trade | null }[] =>
      trade_ids.length === 0
        ? [{ name, trade: null }]
        : TRADES.filter((trade) => trade_ids.includes(trade.id)).map((trade) => ({ name, trade })),
    ),
  );
}

/**
 * Looks a merchant up by its whole name, as it is and as a card descriptor, first in the operator's list. A name that only
 * contains a known one is not known.
 */
export function knownMerchant(merchant: string, own?: MerchantIndex): KnownMerchant {
  const plain = plainText(merchant);
  if (hasLookAlikes(plain)) return UNKNOWN;
  for (const index of own === undefined ? [KNOWN_MERCHANTS] : [own, KNOWN_MERCHANTS]) {
    for (const name of namesOfDescriptor(merchant)) {
      const known = index.get(normaliseMerchant(name));
      if (known !== undefined) return known;
    }
  }
  return UNKNOWN;
}

export const isPrivate = (trade: Trade): boolean => PRIVATE_FAMILIES.has(trade.family);
