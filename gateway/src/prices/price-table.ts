import { exponentOf } from '@purser/contract/money';
import { divideUp } from './money.ts';

export const PROVIDERS = ['openai', 'anthropic'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** Prices of a million tokens, as whole numbers of a hundred thousandth of the currency's major unit. */
export interface PerMillion {
  input: bigint;
  cached_input: bigint;
  cache_write: bigint;
  cache_write_1h: bigint;
  output: bigint;
}

/** The prices that hold for a length of the input: as the provider serves by default, and in its other tiers. */
export interface Band {
  standard: PerMillion;
  tiers: ReadonlyMap<string, PerMillion>;
}

export interface ModelPrice {
  provider: Provider;
  model: string;
  aliases: readonly string[];
  currency: string;
  band: Band;
  /** For the whole call, once its input has more tokens than this. */
  above: { input_tokens: number; band: Band } | null;
  context_window: number;
  /** Null for a model without output tokens, such as one for embeddings. */
  max_output_tokens: number | null;
  image_tokens: number;
  source: string;
  as_of: string;
  from: 'built-in' | 'operator';
  /** The entry as its file has it. */
  entry: Readonly<Record<string, unknown>>;
}

export interface Rate {
  from: string;
  to: string;
  /** `rate` as a fraction. */
  numerator: bigint;
  denominator: bigint;
  entry: Readonly<Record<string, unknown>>;
}

export interface PriceTable {
  /** `sha256:…` over all entries and rates. */
  hash: string;
  models: readonly ModelPrice[];
  rates: readonly Rate[];
}

/** The tokens of one call. Each is counted once: `input` is what was neither read from a cache nor written to one. */
export interface TokenUsage {
  input: number;
  cached_input: number;
  cache_write: number;
  cache_write_1h: number;
  output: number;
}

export const NO_USAGE: Readonly<TokenUsage> = {
  input: 0,
  cached_input: 0,
  cache_write: 0,
  cache_write_1h: 0,
  output: 0,
};

/** All tokens that went in. */
export const inputOf = (usage: TokenUsage): number =>
  usage.input + usage.cached_input + usage.cache_write + usage.cache_write_1h;

/** Turns hundred thousandths of a major unit per million tokens into units of the purse: multiply, then divide. */
export interface Scale {
  numerator: bigint;
  denominator: bigint;
}

/** A million tokens, five digits of a price, less the nine digits of a unit below the minor unit. */
const DIGITS_TOO_MANY = 2;

/** The scale from a price's currency to a purse's; null where that needs a rate which the table does not have. */
export function scaleTo(table: Pick<PriceTable, 'rates'>, from: string, to: string): Scale | null {
  const exponent = exponentOf(to);
  const same: Scale = {
    numerator: 10n ** BigInt(Math.max(0, exponent - DIGITS_TOO_MANY)),
    denominator: 10n ** BigInt(Math.max(0, DIGITS_TOO_MANY - exponent)),
  };
  if (from === to) return same;
  const rate = table.rates.find((each) => each.from === from && each.to === to);
  if (rate === undefined) return null;
  return {
    numerator: same.numerator * rate.numerator,
    denominator: same.denominator * rate.denominator,
  };
}

/** The model's entry by its name or an alias, exactly; undefined if the table has none. */
export function findPrice(table: PriceTable, provider: Provider, model: string): ModelPrice | undefined {
  return table.models.find(
    (each) => each.provider === provider && (each.model === model || each.aliases.includes(model)),
  );
}

const INPUT_FIELDS = ['input', 'cached_input', 'cache_write', 'cache_write_1h'] as const;

function highest(values: readonly bigint[]): bigint {
  let found = 0n;
  for (const value of values) if (value > found) found = value;
  return found;
}

/** The prices of a band in a tier; undefined if the band has none for it. Null is the tier by default. */
const inTier = (band: Band, tier: string | null) => (tier === null ? band.standard : band.tiers.get(tier));

/** Tells whether every price that a call with at most this much input can meet is known for the tier. */
export function isTierPriced(price: ModelPrice, tier: string | null, max_input_tokens: number): boolean {
  if (inTier(price.band, tier) === undefined) return false;
  const { above } = price;
  return above === null || max_input_tokens <= above.input_tokens || inTier(above.band, tier) !== undefined;
}

/** The highest price of one token that goes in, and of one that comes out, for a call with at most this much input. */
export function worstPrices(
  price: ModelPrice,
  tier: string | null,
  max_input_tokens: number,
): { input: bigint; output: bigint } {
  const bands = [price.band];
  if (price.above !== null && max_input_tokens > price.above.input_tokens) bands.push(price.above.band);
  // A provider may serve its standard tier instead of the one that the call asks for.
  const reachable = bands.flatMap((band) => [band.standard, inTier(band, tier) ?? highestOf(band)]);
  return {
    input: highest(reachable.flatMap((each) => INPUT_FIELDS.map((field) => each[field]))),
    output: highest(reachable.map((each) => each.output)),
  };
}

const pricesOf = (band: Band): PerMillion[] => [band.standard, ...band.tiers.values()];
const highestOf = (band: Band): PerMillion => highestEach(pricesOf(band));

/** An entry with the highest of each price. */
function highestEach(all: readonly PerMillion[]): PerMillion {
  const of = (field: keyof PerMillion) => highest(all.map((each) => each[field]));
  return {
    input: of('input'),
    cached_input: of('cached_input'),
    cache_write: of('cache_write'),
    cache_write_1h: of('cache_write_1h'),
    output: of('output'),
  };
}

/**
 * The prices that a call met: by all of its input, and by the tier that the provider says it served. A tier without a price
 * costs the highest that the model has.
 */
export function pricesMet(price: ModelPrice, tier: string | null, input_tokens: number): PerMillion {
  const { above } = price;
  const band = above !== null && input_tokens > above.input_tokens ? above.band : price.band;
  return inTier(band, tier) ?? highestOf(band);
}

/** The cost of a call, in units of the purse: the exact sum, rounded up once where a unit is no fraction of the price. */
export function costOf(usage: TokenUsage, prices: PerMillion, scale: Scale): bigint {
  const fields = [...INPUT_FIELDS, 'output'] as const;
  const sum = fields.reduce((total, field) => total + BigInt(usage[field]) * prices[field], 0n);
  return divideUp(sum * scale.numerator, scale.denominator);
}

/**
 * An entry for models without one: each price is the highest that the provider's models have, each size the largest.
 * Undefined if the table has no model of the provider.
 */
export function highestPrice(table: PriceTable, provider: Provider, model: string): ModelPrice | undefined {
  const all = table.models.filter((each) => each.provider === provider);
  const [first] = all;
  if (first === undefined) return undefined;
  // Amounts of different currencies cannot be compared.
  if (all.some(({ currency }) => currency !== first.currency)) return undefined;
  const bands = all.flatMap(({ band, above }) => (above === null ? [band] : [band, above.band]));
  const standard = highestEach(bands.flatMap(pricesOf));
  const largest = (of: (price: ModelPrice) => number | null) => Math.max(...all.map((each) => of(each) ?? 0));
  return {
    ...first,
    model,
    aliases: [],
    band: { standard, tiers: new Map() },
    above: null,
    context_window: largest((each) => each.context_window),
    max_output_tokens: largest((each) => each.max_output_tokens),
    image_tokens: largest((each) => each.image_tokens),
    source: `the highest price of ${provider} in the table`,
    entry: {},
  };
}
