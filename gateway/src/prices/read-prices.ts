import { createHash } from 'node:crypto';
import { type Fields, isFields } from '../fields.ts';
import {
  type Band,
  type ModelPrice,
  type PerMillion,
  PROVIDERS,
  type PriceTable,
  type Provider,
  type Rate,
} from './price-table.ts';

/** A price file that cannot be right. The message names the field and says what is allowed. */
export class PriceFileError extends Error {
  override name = 'PriceFileError';
}

const DECIMAL = /^(\d{1,9})(?:\.(\d{1,5}))?$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const CURRENCY = /^[A-Z]{3}$/;
const SCALE = 100_000n;
const PER_MILLION_FIELDS = ['input', 'cached_input', 'cache_write', 'cache_write_1h', 'output'];
const MODEL_FIELDS = [
  'provider',
  'model',
  'aliases',
  'currency',
  'per_million',
  'above',
  'tiers',
  'context_window',
  'max_output_tokens',
  'image_tokens',
  'source',
  'as_of',
];

function fail(path: string, must: string): never {
  throw new PriceFileError(`${path} must be ${must}`);
}

function objectAt(value: unknown, path: string, fields: readonly string[]): Fields {
  if (!isFields(value)) return fail(path, 'an object');
  for (const name of Object.keys(value))
    if (!fields.includes(name)) fail(`${path}.${name}`, `left out: the fields are ${fields.join(', ')}`);
  return value;
}

function listAt(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : fail(path, 'a list');
}

function textAt(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '' || value.length > 300)
    return fail(path, 'a text of 1 to 300 characters');
  return value;
}

function dayAt(value: unknown, path: string): string {
  const is_day = typeof value === 'string' && DAY.test(value) && !Number.isNaN(Date.parse(value));
  return is_day ? value : fail(path, 'a day such as "2026-11-20"');
}

function currencyAt(value: unknown, path: string): string {
  return typeof value === 'string' && CURRENCY.test(value)
    ? value
    : fail(path, 'a currency code such as "USD"');
}

function countAt(value: unknown, path: string): number {
  const is_count =
    Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= 1_000_000_000;
  return is_count ? (value as number) : fail(path, 'a whole number from 1 to 1000000000');
}

/** A decimal with at most five digits after the point, in hundred thousandths. */
function decimalAt(value: unknown, path: string): bigint {
  const found = typeof value === 'string' ? DECIMAL.exec(value) : null;
  if (found === null)
    return fail(path, 'a decimal in quotes with at most 5 digits after the point, such as "0.25"');
  return BigInt(found[1] as string) * SCALE + BigInt((found[2] ?? '').padEnd(5, '0'));
}

function perMillionAt(value: unknown, path: string, has_output: boolean): PerMillion {
  const given = objectAt(value, path, PER_MILLION_FIELDS);
  const input = decimalAt(given.input, `${path}.input`);
  const orInput = (name: string) =>
    given[name] === undefined ? input : decimalAt(given[name], `${path}.${name}`);
  return {
    input,
    cached_input: orInput('cached_input'),
    cache_write: orInput('cache_write'),
    cache_write_1h: given.cache_write_1h === undefined ? orInput('cache_write') : orInput('cache_write_1h'),
    output: has_output || given.output !== undefined ? decimalAt(given.output, `${path}.output`) : 0n,
  };
}

function bandAt(per_million: unknown, tiers: unknown, path: string, has_output: boolean): Band {
  const given = tiers === undefined ? {} : tiers;
  if (!isFields(given)) return fail(`${path}tiers`, 'an object');
  return {
    standard: perMillionAt(per_million, `${path}per_million`, has_output),
    tiers: new Map(
      Object.entries(given).map(([name, prices]) => [
        name,
        perMillionAt(prices, `${path}tiers.${name}`, has_output),
      ]),
    ),
  };
}

function modelAt(value: unknown, path: string, from: ModelPrice['from']): ModelPrice {
  const entry = objectAt(value, path, MODEL_FIELDS);
  const provider = entry.provider as Provider;
  if (!PROVIDERS.includes(provider)) fail(`${path}.provider`, `one of ${PROVIDERS.join(', ')}`);
  const model = textAt(entry.model, `${path}.model`);
  const aliases = entry.aliases === undefined ? [] : listAt(entry.aliases, `${path}.aliases`);
  const has_output = entry.max_output_tokens !== undefined;
  const context_window = countAt(entry.context_window, `${path}.context_window`);
  const { above } = entry;
  const long =
    above === undefined ? null : objectAt(above, `${path}.above`, ['input_tokens', 'per_million', 'tiers']);
  return {
    provider,
    model,
    aliases: aliases.map((alias, i) => textAt(alias, `${path}.aliases[${i}]`)),
    currency: currencyAt(entry.currency, `${path}.currency`),
    band: bandAt(entry.per_million, entry.tiers, `${path}.`, has_output),
    above:
      long === null
        ? null
        : {
            input_tokens: countAt(long.input_tokens, `${path}.above.input_tokens`),
            band: bandAt(long.per_million, long.tiers, `${path}.above.`, has_output),
          },
    context_window,
    max_output_tokens: has_output ? countAt(entry.max_output_tokens, `${path}.max_output_tokens`) : null,
    image_tokens:
      entry.image_tokens === undefined ? context_window : countAt(entry.image_tokens, `${path}.image_tokens`),
    source: textAt(entry.source, `${path}.source`),
    as_of: dayAt(entry.as_of, `${path}.as_of`),
    from,
    entry,
  };
}

function rateAt(value: unknown, path: string): Rate {
  const entry = objectAt(value, path, ['from', 'to', 'rate', 'source', 'as_of']);
  const numerator = decimalAt(entry.rate, `${path}.rate`);
  if (numerator === 0n) fail(`${path}.rate`, 'above 0');
  textAt(entry.source, `${path}.source`);
  dayAt(entry.as_of, `${path}.as_of`);
  return {
    from: currencyAt(entry.from, `${path}.from`),
    to: currencyAt(entry.to, `${path}.to`),
    numerator,
    denominator: SCALE,
    entry,
  };
}

interface PriceFile {
  models: ModelPrice[];
  rates: Rate[];
}

function readFile(text: string, from: ModelPrice['from']): PriceFile {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new PriceFileError('The file must be JSON');
  }
  const file = objectAt(parsed, 'The file', ['models', 'rates']);
  const models = listAt(file.models ?? [], 'models').map((each, i) => modelAt(each, `models[${i}]`, from));
  const rates = listAt(file.rates ?? [], 'rates').map((each, i) => rateAt(each, `rates[${i}]`));
  const names = new Set<string>();
  for (const [i, { provider, model, aliases }] of models.entries())
    for (const name of [model, ...aliases]) {
      if (names.has(`${provider} ${name}`)) fail(`models[${i}]`, `the only entry of ${name}`);
      names.add(`${provider} ${name}`);
    }
  const pairs = new Set<string>();
  for (const [i, { from, to }] of rates.entries()) {
    const pair = `${from} to ${to}`;
    if (pairs.has(pair)) fail(`rates[${i}]`, `the only rate from ${pair}`);
    pairs.add(pair);
  }
  return { models, rates };
}

/**
 * The prices of the gateway: the built-in ones, and over them the operator's, by provider and model. Throws a
 * `PriceFileError` that names the field at fault.
 */
export function readPrices(built_in: string, operator: string | null): PriceTable {
  const own = readFile(built_in, 'built-in');
  const given: PriceFile = operator === null ? { models: [], rates: [] } : readFile(operator, 'operator');
  const named = (price: ModelPrice) =>
    [price.model, ...price.aliases].map((name) => `${price.provider} ${name}`);
  const replaced = new Set(given.models.flatMap(named));
  const kept = own.models
    .filter(({ provider, model }) => !replaced.has(`${provider} ${model}`))
    .map((price) => ({
      ...price,
      aliases: price.aliases.filter((alias) => !replaced.has(`${price.provider} ${alias}`)),
    }));
  const models = [...given.models, ...kept];
  const paired = new Set(given.rates.map(({ from, to }) => `${from} ${to}`));
  const rates = [...given.rates, ...own.rates.filter(({ from, to }) => !paired.has(`${from} ${to}`))];
  const content = JSON.stringify([models.map(({ entry }) => entry), rates.map(({ entry }) => entry)]);
  return { hash: `sha256:${createHash('sha256').update(content).digest('hex')}`, models, rates };
}

/** The body of `GET /gateway/prices`: every entry as its file has it, and where it is from. */
export function shownPrices(table: PriceTable): object {
  return {
    hash: table.hash,
    models: table.models.map(({ entry, from }) => ({ ...entry, from })),
    rates: table.rates.map(({ entry }) => entry),
  };
}
