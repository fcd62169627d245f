import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costOf, findPrice, highestPrice, inputOf, pricesMet, scaleTo, worstPrices } from './price-table.ts';
import { readPrices, shownPrices } from './read-prices.ts';

const BUILT_IN = readFileSync(new URL('../../prices.json', import.meta.url), 'utf8');
const built_in = readPrices(BUILT_IN, null);

const ENTRY = {
  provider: 'openai',
  model: 'm',
  currency: 'USD',
  per_million: { input: '0.25', output: '2' },
  context_window: 1000,
  max_output_tokens: 100,
  source: 'https://example.com',
  as_of: '2026-11-20',
};
const RATE = { from: 'USD', to: 'EUR', rate: '0.93', source: 's', as_of: '2026-11-20' };
const table = (...entries: object[]) => readPrices('{}', JSON.stringify({ models: entries }));
const priced = (more: object) =>
  table({ ...ENTRY, ...more }).models[0] as NonNullable<ReturnType<typeof findPrice>>;
const problem = (file: unknown) => {
  try {
    readPrices('{}', JSON.stringify(file));
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

test('the built-in table has both providers, each with a source and a day, and no model costs nothing', () => {
  for (const provider of ['openai', 'anthropic'] as const)
    expect(built_in.models.filter((each) => each.provider === provider).length).toBeGreaterThan(10);
  for (const price of built_in.models) {
    expect(price.source).toMatch(/^https:\/\/(developers\.openai|platform\.claude)\.com\//);
    expect(price.band.standard.input).toBeGreaterThan(0n);
    if (price.max_output_tokens !== null) expect(price.band.standard.output).toBeGreaterThan(0n);
    // A tier that holds below the step and not above it would be refused only for long inputs.
    if (price.above !== null)
      expect([...price.above.band.tiers.keys()]).toEqual([...price.band.tiers.keys()]);
  }
});

test('what is left out costs as the input does, and an image counts as the context window', () => {
  const { band, image_tokens } = priced({});
  expect(band.standard).toEqual({
    input: 25_000n,
    cached_input: 25_000n,
    cache_write: 25_000n,
    cache_write_1h: 25_000n,
    output: 200_000n,
  });
  expect(image_tokens).toBe(1000);
});

test.each<[string, unknown]>([
  ['models[0].per_million.output must be a decimal', { models: [{ ...ENTRY, per_million: { input: '1' } }] }],
  [
    'models[0].per_million.input must be a decimal',
    { models: [{ ...ENTRY, per_million: { input: 1, output: '1' } }] },
  ],
  [
    'models[0].per_million.input must be',
    { models: [{ ...ENTRY, per_million: { input: '0.000001', output: '1' } }] },
  ],
  [
    'models[0].per_million.input must be',
    { models: [{ ...ENTRY, per_million: { input: '-1', output: '1' } }] },
  ],
  ['models[0].provider must be one of openai, anthropic', { models: [{ ...ENTRY, provider: 'other' }] }],
  ['models[0].as_of must be a day', { models: [{ ...ENTRY, as_of: 'today' }] }],
  ['models[0].context_window must be a whole number', { models: [{ ...ENTRY, context_window: 0 }] }],
  ['models[0].perMillion must be left out', { models: [{ ...ENTRY, perMillion: {} }] }],
  ['models[0].tiers.fast.output must be', { models: [{ ...ENTRY, tiers: { fast: { input: '1' } } }] }],
  [
    'models[0].above.input_tokens must be',
    { models: [{ ...ENTRY, above: { per_million: ENTRY.per_million } }] },
  ],
  ['models[1] must be the only entry of m', { models: [ENTRY, ENTRY] }],
  ['rates[0].rate must be', { rates: [{ ...RATE, rate: '0' }] }],
  ['rates[1] must be the only rate from USD to EUR', { rates: [RATE, { ...RATE, rate: '0.9' }] }],
  ['The file must be an object', []],
])('a bad file is refused: %s', (message, file) => {
  expect(problem(file)).toContain(message);
});

test("the operator's entry replaces the built-in one by provider and model, and its names are its own", () => {
  const own = { ...ENTRY, model: 'gpt-5-mini', aliases: ['gpt-5.6'] };
  const merged = readPrices(BUILT_IN, JSON.stringify({ models: [own] }));
  expect(findPrice(merged, 'openai', 'gpt-5-mini')?.from).toBe('operator');
  expect(findPrice(merged, 'openai', 'gpt-5.6')?.model).toBe('gpt-5-mini');
  expect(findPrice(merged, 'openai', 'gpt-5.6-sol')?.from).toBe('built-in');
  expect(findPrice(merged, 'anthropic', 'gpt-5-mini')).toBeUndefined();
  expect(merged.hash).not.toBe(built_in.hash);
  const shown = shownPrices(merged) as { hash: string; models: { model: string; from: string }[] };
  expect(shown.hash).toBe(merged.hash);
  expect(shown.models[0]).toEqual({ ...own, from: 'operator' });
});

test('names match exactly', () => {
  for (const name of ['GPT-5-MINI', 'gpt-5-mini ', 'gpt-5-min', 'gpt-5-mini-2025'])
    expect(findPrice(built_in, 'openai', name)).toBeUndefined();
});

test('the highest price of a provider is at least that of each of its models', () => {
  const highest = highestPrice(built_in, 'anthropic', 'unheard-of');
  if (highest === undefined) throw new Error('no highest price');
  for (const price of built_in.models.filter((each) => each.provider === 'anthropic')) {
    for (const tier of [null, ...price.band.tiers.keys()]) {
      const worst = worstPrices(price, tier, price.context_window);
      expect(worstPrices(highest, null, 1).input).toBeGreaterThanOrEqual(worst.input);
      expect(worstPrices(highest, null, 1).output).toBeGreaterThanOrEqual(worst.output);
    }
    expect(highest.context_window).toBeGreaterThanOrEqual(price.context_window);
  }
});

test('another currency needs a rate', () => {
  const rates = readPrices('{}', JSON.stringify({ rates: [RATE] }));
  expect(scaleTo(rates, 'USD', 'GBP')).toBeNull();
  expect(scaleTo(rates, 'EUR', 'USD')).toBeNull();
  const scale = scaleTo(rates, 'USD', 'EUR');
  if (scale === null) throw new Error('no rate');
  // USD 1 per million: a million tokens are EUR 0.93, in billionths of a cent.
  const one = { ...ENTRY, per_million: { input: '1', output: '1' } };
  const usage = { input: 1_000_000, cached_input: 0, cache_write: 0, cache_write_1h: 0, output: 0 };
  expect(costOf(usage, priced(one).band.standard, scale)).toBe(93_000_000_000n);
});

describe('10,000 usages cost what a sum of fractions says', () => {
  /** A fraction of whole numbers, kept exact. */
  type Fraction = [bigint, bigint];
  const add = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d];
  const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d];
  const decimal = (text: string): Fraction => {
    const [whole = '0', digits = ''] = text.split('.');
    return [BigInt(whole + digits), 10n ** BigInt(digits.length)];
  };
  const price = fc
    .tuple(fc.nat(500), fc.nat(99_999))
    .map(([whole, part]) => `${whole}.${String(part).padStart(5, '0')}`);
  const tokens = fc.oneof(fc.nat(10), fc.nat(3_000_000));

  test.each<[string, number]>([
    ['USD', 2],
    ['JPY', 0],
    ['KWD', 3],
    ['CLF', 4],
  ])('in %s', (currency, exponent) => {
    const FIELDS = ['input', 'cached_input', 'cache_write', 'cache_write_1h', 'output'] as const;
    const five = <T>(arbitrary: fc.Arbitrary<T>) =>
      fc.tuple(arbitrary, arbitrary, arbitrary, arbitrary, arbitrary);
    fc.assert(
      fc.property(five(price), five(tokens), price, fc.boolean(), (prices, counts, factor, has_rate) => {
        const named = <T>(values: readonly T[]) =>
          Object.fromEntries(FIELDS.map((name, i) => [name, values[i]])) as Record<
            (typeof FIELDS)[number],
            T
          >;
        const rate = has_rate && !/^0\.0+$/.test(factor) ? factor : null;
        const file = {
          models: [{ ...ENTRY, currency: rate === null ? currency : 'GBP', per_million: named(prices) }],
          rates: rate === null ? [] : [{ from: 'GBP', to: currency, rate, source: 's', as_of: '2026-11-20' }],
        };
        const read = readPrices('{}', JSON.stringify(file));
        const [model] = read.models;
        const scale = scaleTo(read, model?.currency ?? '', currency);
        if (model === undefined || scale === null) throw new Error('no price');
        const usage = named(counts);
        const cost = costOf(usage, pricesMet(model, null, inputOf(usage)), scale);
        let sum: Fraction = [0n, 1n];
        for (const [i, each] of prices.entries())
          sum = add(sum, times(decimal(each), [BigInt(counts[i] as number), 1_000_000n]));
        const [n, d] = times(times(sum, decimal(rate ?? '1')), [10n ** BigInt(exponent + 9), 1n]);
        // Exact where a billionth of a minor unit is fine enough, and else the next one above.
        expect(cost).toBe(n % d === 0n ? n / d : n / d + 1n);
        if (currency === 'USD' && rate === null) expect(n % d).toBe(0n);
      }),
      { numRuns: 2_500 },
    );
  });
});
