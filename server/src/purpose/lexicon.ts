import { BRANDS } from './data/brands.ts';
import { BUSINESS_TRADES } from './data/business-trades.ts';
import { COMMON_WORDS, LOOSE_WORDS } from './data/common-words.ts';
import { GOODS } from './data/goods.ts';
import { ORDINARY_FIRST_WORDS } from './data/ordinary-near-names.ts';
import {
  GENERAL_MERCHANTS,
  PRIVATE_CIRCLE_WORDS,
  PRIVATE_FAMILIES,
  PRIVATE_TRADES,
} from './data/private-trades.ts';
import type { Trade } from './data/trade-shape.ts';
import { stemsOf, type Token, tokenize } from './text.ts';

export type { Trade } from './data/trade-shape.ts';

export const TRADES: readonly Trade[] = [...BUSINESS_TRADES, ...PRIVATE_TRADES];

/** Whether a merchant category code of ISO 18245 is among codes and ranges such as "3000-3299, 4511". */
function isCodeOf(code: string, codes: string): boolean {
  return codes.split(',').some((part) => {
    const [from = '', to = from] = part.trim().split('-');
    return code >= from && code <= to;
  });
}

/** The trades of a merchant category code of four digits. */
export function tradesOfCode(code: string): Trade[] {
  return TRADES.filter((trade) => isCodeOf(code, trade.mcc));
}

/** Stems that carry no subject matter at all. */
export const COMMON_STEMS: ReadonlySet<string> = stemsOf(COMMON_WORDS);
/** Stems too loose to tie a purchase to a purpose by themselves. */
export const LOOSE_STEMS: ReadonlySet<string> = stemsOf(LOOSE_WORDS);

/** Words of a text that belong to a trade. */
export interface Mention {
  trade: Trade;
  /** Index of the first token and number of tokens. */
  at: number;
  length: number;
  /** The words as written. */
  text: string;
  /** False for words with other everyday meanings. */
  strong: boolean;
  kind: 'word' | 'company';
}

interface Entry {
  stems: readonly string[];
  /** No trade: a general merchant. */
  trade: Trade | null;
  strong: boolean;
  kind: 'word' | 'company';
  /** The name is an ordinary word too. */
  ordinary: boolean;
}

const FIRM_GOODS: ReadonlySet<string> = new Set(['alcohol', 'luxury', 'adult']);

/** Entries by their first stem, longest first. */
type Index = ReadonlyMap<string, readonly Entry[]>;

function buildIndex(entries: readonly Entry[]): Index {
  const index = new Map<string, Entry[]>();
  for (const entry of entries) {
    const first = entry.stems[0];
    if (first === undefined) continue;
    const bucket = index.get(first);
    if (bucket === undefined) index.set(first, [entry]);
    else bucket.push(entry);
  }
  for (const bucket of index.values()) bucket.sort((a, b) => b.stems.length - a.stems.length);
  return index;
}

/** Company names are compared by their words, not by stems. */
function entriesOf(list: string, kind: 'word' | 'company', trade: Trade | null): Entry[] {
  return list
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => ({
      stems: tokenize(text.replace(/^[~^]/, '')).map((token) => (kind === 'word' ? token.stem : token.word)),
      trade,
      strong: !text.startsWith('~'),
      kind,
      ordinary: text.startsWith('^'),
    }));
}

/** Brands of the published list are many, so each counts only where it is the whole name. */
const brandsOf = (id: string, trade: Trade | null): Entry[] =>
  entriesOf(BRANDS[id] ?? '', 'company', trade).map((entry) => ({ ...entry, ordinary: true }));

/**
 * Goods of the published list: a single word of it may mean something else in a trade's jargon, so it adds to support
 * and contradicts nothing, but for the goods that purposes set apart.
 */
const goodsOf = (trade: Trade): Entry[] =>
  entriesOf(GOODS[trade.id] ?? '', 'word', trade).map((entry) => ({
    ...entry,
    strong: entry.strong && (entry.stems.length > 1 || FIRM_GOODS.has(trade.family)),
  }));

const WORD_INDEX = buildIndex(
  TRADES.flatMap((trade) => [...entriesOf(trade.words, 'word', trade), ...goodsOf(trade)]),
);
const COMPANY_INDEX = buildIndex(
  withoutRepeats(
    [
      ...TRADES.flatMap((trade) => entriesOf(trade.companies, 'company', trade)),
      ...entriesOf(GENERAL_MERCHANTS, 'company', null),
    ],
    [...TRADES.flatMap((trade) => brandsOf(trade.id, trade)), ...brandsOf('', null)],
  ),
);
/** Each name once a trade. A name that the own tables have is theirs: what a published list says of it is left out. */
function withoutRepeats(own: readonly Entry[], published: readonly Entry[]): Entry[] {
  const kept = new Map<string, Entry>();
  const known = new Set(own.map((entry) => entry.stems.join(' ')));
  const more = published.filter((entry) => !known.has(entry.stems.join(' ')));
  for (const entry of [...own, ...more]) {
    const name = `${entry.trade?.id ?? ''} ${entry.stems.join(' ')}`;
    if (!kept.has(name)) kept.set(name, entry);
  }
  return [...kept.values()];
}

const PRIVATE_CIRCLE_INDEX = buildIndex(entriesOf(PRIVATE_CIRCLE_WORDS, 'word', null));

/** Trades whose companies are imitated to get at money: what everybody has an account with. */
const IMITATED: ReadonlySet<string> = new Set([
  'technology',
  'media_and_marketing',
  'logistics',
  'finance',
  'travel',
]);

/** First words of company names, for telling look-alikes; value: the name it is taken from. */
export const COMPANY_WORDS: ReadonlyMap<string, string> = new Map(
  [...COMPANY_INDEX.values()].flat().flatMap((entry) => {
    const first = entry.stems[0] ?? '';
    const imitated = entry.trade === null || IMITATED.has(entry.trade.family);
    const plain = entry.stems.length > 1 && ORDINARY_FIRST_WORDS.has(first);
    return first.length >= 5 && imitated && !entry.ordinary && !plain
      ? [[first, entry.stems.join(' ')] as const]
      : [];
  }),
);

function matchesAt(tokens: readonly Token[], at: number, entry: Entry): boolean {
  if (at + entry.stems.length > tokens.length) return false;
  for (let i = 1; i < entry.stems.length; i += 1) {
    const token = tokens[at + i];
    if (token === undefined || (entry.kind === 'word' ? token.stem : token.word) !== entry.stems[i])
      return false;
  }
  return true;
}

function textOf(tokens: readonly Token[], at: number, length: number): string {
  return tokens
    .slice(at, at + length)
    .map((token) => token.raw)
    .join(' ');
}

const NONE: never[] = [];

/** The longest entries at each place (several trades may share one); words inside a longer match are not read again. */
function scan(
  tokens: readonly Token[],
  index: Index,
  key: 'stem' | 'word',
  accept: (entry: Entry, at: number) => boolean,
) {
  let found: { entry: Entry; at: number; length: number }[] = NONE;
  for (let at = 0; at < tokens.length; ) {
    const bucket = index.get((tokens[at] as Token)[key]);
    let length = 1;
    if (bucket !== undefined) {
      let longest = 0;
      for (const entry of bucket) {
        if (entry.stems.length < longest) break;
        if (!matchesAt(tokens, at, entry) || !accept(entry, at)) continue;
        longest = entry.stems.length;
        if (found === NONE) found = [];
        found.push({ entry, at, length: longest });
      }
      if (longest > 1) length = longest;
    }
    at += length;
  }
  return found;
}

/** Words that are also codes when written in capitals (airports, units): in capitals they are not read as goods. */
const NOT_IN_CAPITALS = new Set(
  'ham cod gin rum ale pet ski tea jam pan pen van mop bus car cab inn egg bun rug tie hat hay ram nas fish nut bed toy'.split(
    ' ',
  ),
);

/** Verbs of every order; as goods they stand in the plural. */
const VERBS = new Set(['book', 'present', 'post', 'ship', 'stock', 'train']);

function isCode(token: Token | undefined): boolean {
  return token !== undefined && token.raw === token.raw.toUpperCase() && NOT_IN_CAPITALS.has(token.word);
}

/** "Book only …", "post the …", "to train …": the word opens an instruction. */
function isVerb(tokens: readonly Token[], at: number, entry: Entry): boolean {
  const word = tokens[at]?.word ?? '';
  if (entry.stems.length > 1 || !VERBS.has(word)) return false;
  const before = tokens[at - 1]?.word;
  return (
    word === 'book' || before === undefined || before === 'to' || before === 'please' || before === 'and'
  );
}

/** Trades that the words of a text speak of. Linear in the number of tokens. */
export function tradeWords(tokens: readonly Token[]): Mention[] {
  return scan(
    tokens,
    WORD_INDEX,
    'stem',
    (entry, at) => !isCode(tokens[at]) && !isVerb(tokens, at, entry),
  ).flatMap(({ entry, at, length }) =>
    entry.trade === null
      ? []
      : [
          {
            trade: entry.trade,
            at,
            length,
            text: textOf(tokens, at, length),
            strong: entry.strong,
            kind: 'word',
          },
        ],
  );
}

/** Words of the buyer's private circle ("wife", "for myself"). */
export function privateCircleWords(tokens: readonly Token[]): string[] {
  return scan(tokens, PRIVATE_CIRCLE_INDEX, 'stem', () => true).map(({ at, length }) =>
    textOf(tokens, at, length),
  );
}

const startsUpper = (raw: string): boolean => /^[\p{Lu}\p{N}]/u.test(raw);

/** Companies that a running text names. Names that are ordinary words are not taken; the rest must be capitalised. */
export function companiesInText(tokens: readonly Token[]): Mention[] {
  return scan(
    tokens,
    COMPANY_INDEX,
    'word',
    (entry, at) => !entry.ordinary && startsUpper(tokens[at]?.raw ?? ''),
  ).flatMap(({ entry, at, length }) =>
    entry.trade === null
      ? []
      : [{ trade: entry.trade, at, length, text: textOf(tokens, at, length), strong: true, kind: 'company' }],
  );
}

/** What is known of a merchant by its name. */
export interface KnownMerchant {
  mentions: Mention[];
  /** Sells nearly everything, or only carries the payment. */
  general: boolean;
}

/** Words that a company's name may carry besides the name itself without becoming another company's. */
export const NAME_COMPANIONS = stemsOf(
  'inc ltd limited llc gmbh ag sa sas sarl srl bv nv plc corp corporation co company kg se ab oy as pty spa online shop store stores com de fr nl es it ch at uk us eu net org io www http https europe emea deutschland germany france uk ireland luxembourg international global group ads cloud the boutique official payments',
);

/** The operator's own merchants, to be looked up before the tables. */
export type OwnIndex = Index;

/** Makes the operator's merchants ready for `knownMerchant`. */
export function indexMerchants(
  merchants: readonly { name: string; trade_ids: readonly string[] }[],
): OwnIndex {
  return buildIndex(
    merchants.flatMap(({ name, trade_ids }) => {
      const stems = tokenize(name).map((token) => token.word);
      const of = (trade: Trade | null): Entry => ({
        stems,
        trade,
        strong: true,
        kind: 'company',
        ordinary: false,
      });
      return trade_ids.length === 0
        ? [of(null)]
        : TRADES.filter((trade) => trade_ids.includes(trade.id)).map(of);
    }),
  );
}

/**
 * Looks a merchant's name up, first in the operator's list. An ordinary word counts as a company only when it is
 * (nearly) the whole name.
 */
export function knownMerchant(tokens: readonly Token[], own?: OwnIndex): KnownMerchant {
  const rest = tokens.filter((token) => !NAME_COMPANIONS.has(token.stem)).length;
  const listed = own === undefined ? [] : scan(tokens, own, 'word', () => true);
  const found =
    listed.length > 0
      ? listed
      : scan(
          tokens,
          COMPANY_INDEX,
          'word',
          (entry, at) => !entry.ordinary || (at === 0 && rest <= entry.stems.length),
        );
  const mentions: Mention[] = found.flatMap(({ entry, at, length }) =>
    entry.trade === null
      ? []
      : [
          {
            trade: entry.trade,
            at,
            length,
            text: textOf(tokens, at, length),
            strong: true,
            kind: 'company' as const,
          },
        ],
  );
  return { mentions, general: found.some(({ entry }) => entry.trade === null) };
}

/** Whether a stem says something about a subject of its own. */
export function carriesMeaning(token: Token): boolean {
  token.meaning ??=
    token.word.length > 2 &&
    !COMMON_STEMS.has(token.stem) &&
    !COMMON_STEMS.has(token.word) &&
    !/^\d+$/.test(token.word);
  return token.meaning;
}

export const isPrivate = (trade: Trade): boolean => PRIVATE_FAMILIES.has(trade.family);
