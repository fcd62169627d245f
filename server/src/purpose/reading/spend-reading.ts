import { LRUCache } from 'lru-cache';
import type { SpendRequest } from '../../domain/spends.ts';
import { currencyExponent, isActiveCurrency } from '../../values/money.ts';
import {
  companiesInText,
  type KnownMerchant,
  knownMerchant,
  type Mention,
  type OwnIndex,
  type Trade,
  tradesOfCode,
  tradeWords,
} from '../language/lexicon.ts';
import { foldText, isTooLong, type Token, tokenize, withinBudget } from '../language/text.ts';

/** One text of a request, with the field it came from. */
export class FieldText {
  readonly field: string;
  readonly text: string;
  readonly folded: string;
  #tokens: readonly Token[] | undefined;

  constructor(field: string, text: string | undefined) {
    this.field = field;
    this.text = text ?? '';
    this.folded = text === undefined ? '' : foldText(text);
  }

  /** Read when first asked for: most steps of a run are never compared word by word. */
  get tokens(): readonly Token[] {
    this.#tokens ??= tokenize(this.text);
    return this.#tokens;
  }
}

/** Words of one place that may belong to several trades ("bacon" is meat, and pork). */
export interface Sighting {
  field: string;
  text: string;
  strong: boolean;
  kind: 'word' | 'company';
  trades: readonly Trade[];
  /** Position of the first token in its field, and number of tokens. */
  at: number;
  length: number;
}

/** A request made comparable. `context` is never read. */
export interface SpendReading {
  request: SpendRequest;
  merchant: FieldText;
  description: FieldText;
  task: FieldText;
  category: FieldText;
  trace: readonly FieldText[];
  merchantTokens: readonly Token[];
  descriptionTokens: readonly Token[];
  taskTokens: readonly Token[];
  typeTokens: readonly Token[];
  known: KnownMerchant;
  /** Stems of merchant and description. */
  goods_stems: ReadonlySet<string>;
  task_stems: ReadonlySet<string>;
  /** What merchant and description speak of. */
  merchantSightings: readonly Sighting[];
  descriptionSightings: readonly Sighting[];
  taskSightings: readonly Sighting[];
  categorySightings: readonly Sighting[];
  /** In the currency's major unit. */
  amount: number;
  /** Some text was longer than is read. */
  cut: boolean;
}

const MAX_TRACE_STEPS = 25;
/**
 * Of all texts of a request together: ten times as much as the longest that is measured on. A request may be 64 KB long,
 * and each word of it costs some microseconds of everybody's time.
 */
const MAX_REQUEST_TEXT = { max_words: 1_000, max_size: 8_000 };

function sightings(field: string, mentions: readonly Mention[]): Sighting[] {
  if (mentions.length === 0) return [];
  const byPlace = new Map<number, Mention[]>();
  for (const mention of mentions) {
    const same = byPlace.get(mention.at);
    if (same === undefined) byPlace.set(mention.at, [mention]);
    else same.push(mention);
  }
  return [...byPlace.values()].map((same) => {
    const longest = Math.max(...same.map((mention) => mention.length));
    const kept = same.filter((mention) => mention.length === longest);
    const [first] = kept as [Mention];
    return {
      field,
      text: first.text,
      strong: kept.some((mention) => mention.strong),
      kind: first.kind,
      trades: kept.map((mention) => mention.trade),
      at: first.at,
      length: longest,
    };
  });
}

/** A declared category: words, or a merchant category code. */
function categorySightings(category: FieldText): Sighting[] {
  const code = /^(?:mcc[ :#-]*)?(\d{4})$/i.exec(category.text.trim())?.[1];
  if (code === undefined) return sightings('action.category', tradeWords(category.tokens));
  const trades = tradesOfCode(code);
  return trades.length === 0
    ? []
    : [{ field: 'action.category', text: code, strong: true, kind: 'word', trades, at: 0, length: 1 }];
}

/** Tokens not taken by a mention, so that a company's name is not read as goods. */
function outside(tokens: readonly Token[], mentions: readonly Mention[]): readonly Token[] {
  if (mentions.length === 0) return tokens;
  return tokens.filter(
    (_, i) => !mentions.some((mention) => i >= mention.at && i < mention.at + mention.length),
  );
}

/**
 * Whether a spend says of itself that it is of a kind: by merchant and description, or by its category and type, which
 * are no proof of what it is, but enough to ask for what such a spend has to show.
 */
export const claimsToBe = (spend: SpendReading, stem: string): boolean =>
  spend.goods_stems.has(stem) ||
  spend.category.tokens.some((token) => token.stem === stem) ||
  spend.typeTokens.some((token) => token.stem === stem);

function stemsOfAll(...lists: (readonly Token[])[]): Set<string> {
  const stems = new Set<string>();
  for (const tokens of lists) for (const token of tokens) stems.add(token.stem);
  return stems;
}

/** A merchant's name by itself. */
interface MerchantReading {
  text: FieldText;
  known: KnownMerchant;
  sightings: readonly Sighting[];
}

function readName(name: string, own: OwnIndex | undefined): MerchantReading {
  const text = new FieldText('action.merchant', name);
  const known = knownMerchant(text.tokens, own);
  return {
    text,
    known,
    sightings: [
      ...sightings('action.merchant', known.mentions),
      ...sightings('action.merchant', tradeWords(outside(text.tokens, known.mentions))),
    ],
  };
}

interface CategoryReading {
  text: FieldText;
  sightings: readonly Sighting[];
}

function readCategory(category: string | undefined): CategoryReading {
  const text = new FieldText('action.category', category);
  return { text, sightings: categorySightings(text) };
}

/**
 * Agents buy from the same merchants again and again, and name few types and categories: reading a spend took 13 instead
 * of 15 µs where these were read before, and a fifth less memory. Of each so many are kept, some KB each.
 */
const MAX_STORED = 500;
const categories = new LRUCache<string, CategoryReading>({ max: MAX_STORED });
const types = new LRUCache<string, readonly Token[]>({ max: MAX_STORED });

function remembered<T extends object>(cache: LRUCache<string, T>, text: string, read: () => T): T {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const reading = read();
  cache.set(text, reading);
  return reading;
}

/** Reads merchants' names. */
export type ReadMerchant = (name: string) => MerchantReading;

/** What reads merchants' names, with the operator's own ones where there are some. */
export function makeReadMerchant(own?: OwnIndex): ReadMerchant {
  const merchants = new LRUCache<string, MerchantReading>({ max: MAX_STORED });
  return (name) => remembered(merchants, name, () => readName(name, own));
}

/**
 * Reads a request. Bounded whatever its length: every text is cut at the text limit, 25 trace steps are read, and all of
 * it ends with the words that a request may have; merchant and description come first, then the task and the trace.
 */
export function readSpend(request: SpendRequest, readMerchant: ReadMerchant): SpendReading {
  const { action, trace = [] } = request;
  const written = [
    action.merchant,
    action.type,
    action.category ?? '',
    action.description ?? '',
    request.task ?? '',
    ...trace.slice(0, MAX_TRACE_STEPS).map((step) => step.step),
  ];
  const { texts, cut } = withinBudget(written, MAX_REQUEST_TEXT);
  const [, , , described, task, ...steps] = texts as [string, string, string, string, string, ...string[]];
  const merchant = readMerchant(action.merchant);
  const description = new FieldText('action.description', described);
  const said = new FieldText('task', task);
  const merchantTokens = merchant.text.tokens;
  const descriptionTokens = description.tokens;
  const taskTokens = said.tokens;
  const category = remembered(categories, action.category ?? '', () => readCategory(action.category));
  return {
    request,
    merchant: merchant.text,
    description,
    task: said,
    category: category.text,
    trace: steps.map((step, i) => new FieldText(`trace[${i}].step`, step)),
    merchantTokens,
    descriptionTokens,
    taskTokens,
    typeTokens: remembered(types, action.type, () => tokenize(action.type)),
    known: merchant.known,
    task_stems: stemsOfAll(taskTokens),
    goods_stems: stemsOfAll(merchantTokens, descriptionTokens),
    merchantSightings: merchant.sightings,
    descriptionSightings: sightings('action.description', [
      ...tradeWords(descriptionTokens),
      ...companiesInText(descriptionTokens),
    ]),
    taskSightings: sightings('task', tradeWords(taskTokens)),
    categorySightings: category.sightings,
    amount:
      action.amount_minor / 10 ** (isActiveCurrency(action.currency) ? currencyExponent(action.currency) : 2),
    cut: cut || texts.some(isTooLong) || trace.length > MAX_TRACE_STEPS,
  };
}
