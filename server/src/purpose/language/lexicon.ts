import { readTable, readTerms } from '../data/read-data.ts';
import { PRIVATE_FAMILIES, TRADES, type Trade } from '../data/trades.ts';
import { EVERYDAY_WORDS, NAME_COMPANIONS } from './everyday-words.ts';
import {
  findPhrases,
  indexPhrases,
  meaningOf,
  type Phrase,
  type PhraseIndex,
  type PhraseMatch,
  phrasesOf,
} from './phrase-index.ts';
import { type Token, tokenize } from './text.ts';

const BRANDS = readTerms('brands');
const WIDER_COMPANIES = readTerms('wider-companies');
const WIDER_WORDS = readTerms('wider-words');
const GOODS = readTerms('goods');
/** The section of companies whose name says nothing about what is bought. */
const GENERAL = 'general';
const GENERAL_MERCHANTS = readTerms('trade-companies').get(GENERAL) ?? [];
const ORDINARY_FIRST_WORDS = new Set(readTerms('ordinary-words').get('first_words'));
/**
 * Trades that broad words imply: a purpose for a clinic, for upkeep or for travel expects these trades without naming
 * them. Such a trade is hinted at, not wanted by name: it is in scope, but goods and merchant must both support it.
 */
const BROAD_WORDS = readTable<{ words: string[]; trades: string[] }[]>('broad-words');

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

const FIRM_GOODS: ReadonlySet<string> = new Set(['alcohol', 'luxury', 'adult']);

/** The long lists have so many names that each one counts only where it is the whole name. */
const longListOf = (id: string, trade: Trade | null): Phrase[] =>
  [BRANDS.get(id) ?? [], WIDER_COMPANIES.get(id) ?? []].flatMap((list) =>
    phrasesOf(list, 'company', trade, () => ({ ordinary: true })),
  );

/**
 * Goods of the published list. A single word of it may mean something else in a trade's jargon, so it can support a
 * spend but not contradict it, except for the families that purposes usually exclude.
 */
const goodsOf = (trade: Trade): Phrase[] =>
  phrasesOf(GOODS.get(trade.id) ?? [], 'word', trade, (length) => ({
    core: false,
    strong: FIRM_GOODS.has(trade.family) || (length > 1 && !PRIVATE_FAMILIES.has(trade.family)),
  }));

const WORD_INDEX = indexPhrases(
  TRADES.flatMap((trade) => [
    ...phrasesOf(trade.words, 'word', trade),
    ...phrasesOf(WIDER_WORDS.get(trade.id) ?? [], 'word', trade, () => ({ core: false })),
    ...goodsOf(trade),
  ]),
  { kind: 'word', is_lasting: true },
);
const COMPANIES = withoutRepeats(
  [
    ...TRADES.flatMap((trade) => phrasesOf(trade.companies, 'company', trade)),
    ...phrasesOf(GENERAL_MERCHANTS, 'company', null),
  ],
  [...TRADES.flatMap((trade) => longListOf(trade.id, trade)), ...longListOf(GENERAL, null)],
);
const COMPANY_INDEX = indexPhrases(COMPANIES, { kind: 'company', is_lasting: true });

/** Each name once per trade. A trade's own table wins over the long lists. */
function withoutRepeats(own: readonly Phrase[], listed: readonly Phrase[]): Phrase[] {
  const kept = new Map<string, Phrase>();
  const known = new Set(own.map((phrase) => phrase.text));
  for (const phrase of [...own, ...listed.filter(({ text }) => !known.has(text))]) {
    const name = `${phrase.meaning.trade?.id ?? ''} ${phrase.text}`;
    if (!kept.has(name)) kept.set(name, phrase);
  }
  return [...kept.values()];
}

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

/** Families whose companies are worth imitating, because everybody has an account with one. */
const IMITATED: ReadonlySet<string> = new Set([
  'technology',
  'media_and_marketing',
  'logistics',
  'finance',
  'travel',
]);

/** First words of company names, used to find look-alikes, each with the whole name. */
export const COMPANY_WORDS: ReadonlyMap<string, string> = new Map(
  COMPANIES.flatMap(({ text, length, meaning }) => {
    const [first = ''] = text.split(' ');
    const imitated = meaning.trade === null || IMITATED.has(meaning.trade.family);
    const plain = length > 1 && ORDINARY_FIRST_WORDS.has(first);
    return first.length >= 5 && imitated && !meaning.ordinary && !plain ? [[first, text] as const] : [];
  }),
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

/** In capitals these words are codes (airports, units) and are not read as goods. */
const NOT_IN_CAPITALS = new Set(
  'ham cod gin rum ale pet ski tea jam pan pen van mop bus car cab inn egg bun rug tie hat hay ram nas fish nut bed toy'.split(
    ' ',
  ),
);

/** Words that are verbs in most orders; the goods of that name are written in the plural. */
const VERBS = new Set(['book', 'present', 'post', 'ship', 'stock', 'train']);

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

/** Trades that the words of a text name. Takes time linear in the number of tokens. */
export function tradeWords(tokens: readonly Token[]): TradeMatch[] {
  const found = findPhrases(
    tokens,
    WORD_INDEX,
    (_, at, length) => !isCode(tokens[at]) && !isVerb(tokens, at, length),
  );
  return tradeMatches(tokens, found);
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

/** What the tables know of a merchant by its name. */
export interface KnownMerchant {
  matches: TradeMatch[];
  /** The merchant sells nearly everything, or only processes the payment. */
  general: boolean;
}

/** Index of the operator's own merchants, which are looked up before the tables. */
export type OwnIndex = PhraseIndex;

/** Indexes the operator's merchants for `knownMerchant`. */
export function indexMerchants(
  merchants: readonly { name: string; trade_ids: readonly string[] }[],
): OwnIndex {
  return indexPhrases(
    merchants.flatMap(({ name, trade_ids }) => {
      const words = tokenize(name).map((token) => token.word);
      const of = (trade: Trade | null): Phrase => ({
        text: words.join(' '),
        length: words.length,
        meaning: meaningOf({ trade, strong: true, core: true, kind: 'company', ordinary: false }),
      });
      return trade_ids.length === 0
        ? [of(null)]
        : TRADES.filter((trade) => trade_ids.includes(trade.id)).map(of);
    }),
    { kind: 'company', is_lasting: false },
  );
}

/**
 * Looks a merchant's name up, first in the operator's list. An ordinary word counts as a company only if it is nearly
 * the whole name.
 */
export function knownMerchant(tokens: readonly Token[], own?: OwnIndex): KnownMerchant {
  const rest = tokens.filter((token) => !NAME_COMPANIONS.has(token.stem)).length;
  const listed = own === undefined ? [] : findPhrases(tokens, own, () => true);
  const found =
    listed.length > 0
      ? listed
      : findPhrases(
          tokens,
          COMPANY_INDEX,
          (meaning, at, length) => !meaning.ordinary || (at === 0 && rest <= length),
        );
  return {
    matches: tradeMatches(tokens, found),
    general: found.some(({ meaning }) => meaning.trade === null),
  };
}

export const isPrivate = (trade: Trade): boolean => PRIVATE_FAMILIES.has(trade.family);
