import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exponentOf, formatMoney, majorUnits, minorUnits } from './money.ts';

const TABLE = new URL('../../packages/rules/src/values/data/iso-4217.json', import.meta.url);

test('the digits of every currency are those of the service', () => {
  const { active, withdrawn } = JSON.parse(readFileSync(TABLE, 'utf8')) as Record<
    string,
    Record<string, number>
  >;
  for (const [code, digits] of Object.entries({ ...withdrawn, ...active }))
    expect([code, exponentOf(code)]).toEqual([code, digits]);
});

test('amounts go to major units and back without a difference', () => {
  for (const currency of ['EUR', 'JPY', 'KWD', 'CLF']) {
    for (const amount_minor of [0, 1, 9, 10, 99, 100, 5440, Number.MAX_SAFE_INTEGER]) {
      expect(minorUnits(majorUnits(amount_minor, currency), currency)).toEqual({ amount_minor });
    }
  }
  expect([formatMoney(5440, 'EUR'), formatMoney(-5, 'EUR'), formatMoney(1200, 'JPY')]).toEqual([
    'EUR 54.40',
    'EUR -0.05',
    'JPY 1,200',
  ]);
});

test.each(['', '1,5', '.5', '1.', '0x10', '１２', 'EUR 5', '-1', '1e3', ' '])('"%s" is no amount', (text) => {
  expect(minorUnits(text, 'EUR')).toHaveProperty('problem');
});
