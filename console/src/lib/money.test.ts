import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { exponentOf, formatMoney, fromInput, toInput } from './money.ts';

const table = JSON.parse(
  readFileSync(new URL('../../../packages/rules/src/values/data/iso-4217.json', import.meta.url), 'utf8'),
) as { active: Record<string, number>; withdrawn: Record<string, number> };

test('every currency has the digits that the service counts it in', () => {
  const all = Object.entries({ ...table.withdrawn, ...table.active });
  expect(all.length).toBeGreaterThan(150);
  expect(all.filter(([currency, exponent]) => exponentOf(currency) !== exponent)).toEqual([]);
});

describe('amounts for people', () => {
  test.each([
    [5440, 'EUR', 'EUR 54.40'],
    [1200, 'JPY', 'JPY 1,200'],
    [1250, 'KWD', 'KWD 1.250'],
    [5, 'USD', 'USD 0.05'],
    [0, 'USD', 'USD 0.00'],
    [1_250_000, 'EUR', 'EUR 12,500.00'],
    [120_000, 'EUR', 'EUR 1,200.00'],
    [-5440, 'EUR', 'EUR −54.40'],
    [9_007_199_254_740_990, 'EUR', 'EUR 90,071,992,547,409.90'],
    [9_007_199_254_740_991, 'JPY', 'JPY ≥ 9,007,199,254,740,991'],
  ])('%i %s is %s', (amount_minor, currency, text) => {
    expect(formatMoney(amount_minor, currency)).toBe(text);
  });
});

describe('amounts as they are typed', () => {
  test.each([
    ['54.40', 'EUR', 5440],
    ['54,4', 'EUR', 5440],
    ['1,500', 'EUR', 150_000],
    ['1 500.5', 'EUR', 150_050],
    ['1200', 'JPY', 1200],
    ['1.250', 'KWD', 1250],
    ['0', 'EUR', 0],
    ['', 'EUR', null],
  ])('%s %s', (text, currency, amount_minor) => {
    expect(fromInput(text, currency)).toEqual({ amount_minor });
  });
  test.each([
    ['12.345', 'EUR'],
    ['12.5', 'JPY'],
    ['-5', 'EUR'],
    ['twelve', 'EUR'],
    ['90071992547409930', 'EUR'],
    ['1e3', 'EUR'],
  ])('%s is no amount of %s', (text, currency) => {
    expect(fromInput(text, currency)).toHaveProperty('problem');
  });
  test('what is shown in a field is read as the same amount', () => {
    for (const [amount_minor, currency] of [
      [1, 'EUR'],
      [123_456_789, 'EUR'],
      [999, 'JPY'],
      [1, 'KWD'],
      [0, 'CLF'],
    ] as const) {
      expect(fromInput(toInput(amount_minor, currency), currency)).toEqual({ amount_minor });
    }
  });
});
