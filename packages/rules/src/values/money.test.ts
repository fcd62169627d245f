import { MAX_AMOUNT_MINOR } from '@purser/contract/limits';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACTIVE_CURRENCIES, currencyExponent, formatMoney, isActiveCurrency } from './money.ts';

describe('active currencies', () => {
  it('are sorted upper-case codes without repetition', () => {
    expect(ACTIVE_CURRENCIES).toEqual([...new Set(ACTIVE_CURRENCIES)].sort());
    for (const code of ACTIVE_CURRENCIES) expect(code).toMatch(/^[A-Z]{3}$/);
    expect(ACTIVE_CURRENCIES.length).toBe(179 - 13 - 3 + 2);
  });

  it.each(['USD', 'EUR', 'JPY', 'KWD', 'XOF', 'XCD', 'SLE', 'VED', 'ZWG', 'XCG', 'XAD'])(
    '%s is one',
    (code) => {
      expect(isActiveCurrency(code)).toBe(true);
      expect(ACTIVE_CURRENCIES).toContain(code);
    },
  );

  it.each(['CHE', 'CLF', 'USN', 'UYW'])('the funds code %s is one, as ISO 4217 lists it', (code) => {
    expect(isActiveCurrency(code)).toBe(true);
  });

  it.each(['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL', 'DEM'])('the withdrawn %s is not', (code) => {
    expect(isActiveCurrency(code)).toBe(false);
  });

  it.each([
    ...['XAG', 'XAU', 'XPD', 'XPT', 'XBA', 'XBB', 'XBC', 'XBD'],
    ...['XDR', 'XSU', 'XUA', 'XTS', 'XXX'],
  ])('%s, which has no minor unit, is not', (code) => {
    expect(isActiveCurrency(code)).toBe(false);
    expect(() => currencyExponent(code)).toThrow(RangeError);
  });

  it.each(['usd', 'Usd', ' USD', 'USD ', '', 'US', 'BTC', 'USDT', 'constructor', '__proto__'])(
    '%j is not',
    (code) => {
      expect(isActiveCurrency(code)).toBe(false);
      expect(() => currencyExponent(code)).toThrow(RangeError);
    },
  );
});

describe('the exponent of a currency', () => {
  it.each([
    ['JPY', 0],
    ['KRW', 0],
    ['ISK', 0],
    ['UYI', 0],
    ['USD', 2],
    ['HUF', 2],
    ['XCG', 2],
    ['BHD', 3],
    ['KWD', 3],
    ['TND', 3],
    ['CLF', 4],
    ['UYW', 4],
  ])('of %s is %i', (code, exponent) => {
    expect(currencyExponent(code)).toBe(exponent);
  });

  it('is still known for a withdrawn currency, so that what was recorded in it can be shown', () => {
    expect(currencyExponent('BGN')).toBe(2);
    expect(formatMoney(150, 'BGN')).toBe('BGN 1.50');
  });
});

describe('money for people', () => {
  it.each([
    [12_000, 'USD', 'USD 120.00'],
    [1200, 'JPY', 'JPY 1,200'],
    [1250, 'KWD', 'KWD 1.250'],
    [0, 'USD', 'USD 0.00'],
    [0, 'JPY', 'JPY 0'],
    [-0, 'USD', 'USD 0.00'],
    [5, 'USD', 'USD 0.05'],
    [99, 'KWD', 'KWD 0.099'],
    [1, 'CLF', 'CLF 0.0001'],
    [-5, 'USD', 'USD -0.05'],
    [-1250, 'USD', 'USD -12.50'],
    [MAX_AMOUNT_MINOR, 'USD', 'USD 90,071,992,547,409.91'],
    [MAX_AMOUNT_MINOR, 'JPY', 'JPY 9,007,199,254,740,991'],
    [-MAX_AMOUNT_MINOR, 'KWD', 'KWD -9,007,199,254,740.991'],
    [123_456_789_012_345_678_901n, 'USD', 'USD 1,234,567,890,123,456,789.01'],
  ])('%s minor units of %s read %s', (amount_minor, currency, text) => {
    expect(formatMoney(amount_minor, currency)).toBe(text);
  });

  it('shows the exact amount for every safe integer and currency', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.constantFrom(...ACTIVE_CURRENCIES), (amount_minor, currency) => {
        const text = formatMoney(amount_minor, currency);
        const number = /^([A-Z]{3}) (-?(?:0|[1-9]\d{0,2}(?:,\d{3})*)(?:\.(\d+))?)$/.exec(text);
        expect(number?.[1]).toBe(currency);
        expect(number?.[3]?.length ?? 0).toBe(currencyExponent(currency));
        expect(BigInt(number?.[2]?.replace(/[.,]/g, '') ?? '')).toBe(BigInt(amount_minor));
      }),
    );
  });

  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, MAX_AMOUNT_MINOR + 1])(
    'refuses %s, which is not exact',
    (amount) => {
      expect(() => formatMoney(amount, 'USD')).toThrow(RangeError);
    },
  );

  it('refuses a currency that has no minor unit', () => {
    expect(() => formatMoney(1, 'XXX')).toThrow(RangeError);
  });
});
