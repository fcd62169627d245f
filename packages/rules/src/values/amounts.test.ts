import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { amountsIn, minorOf } from './amounts.ts';
import { currencyExponent } from './money.ts';

const read = (text: string) =>
  amountsIn(text).map(({ value, currencies, per }) => [value, currencies[0] ?? null, per]);

describe('a sum is read as it is written', () => {
  it.each([
    ['at most EUR 70 per night', '70', 'EUR', 'night'],
    ['1,500 a month', '1500', null, 'month'],
    ['70 €', '70', 'EUR', null],
    ['70€/Nacht', '70', 'EUR', 'night'],
    ["CHF 1'500.–", '1500', 'CHF', null],
    ['CHF 1’500.-- im Monat', '1500', 'CHF', 'month'],
    ['1.500,00 EUR', '1500.00', 'EUR', null],
    ['1 500 kr', '1500', 'SEK', null],
    ['1 500,50 € par mois', '1500.50', 'EUR', 'month'],
    ['¥12,000', '12000', 'JPY', null],
    ['12,000円まで', '12000', 'JPY', null],
    ['5万円以内', '50000', 'JPY', null],
    ['R$ 1.500', '1500', 'BRL', null],
    ['1,50,000 INR', '150000', 'INR', null],
    ['₹2 lakh', '200000', 'INR', null],
    ['EUR 5k', '5000', 'EUR', null],
    ['$2m', '2000000', 'USD', null],
    ['2m EUR a year', '2000000', 'EUR', 'year'],
    ['USD 1.5 million', '1500000', 'USD', null],
    ['never more than 5k.', '5000', null, null],
    ['2,5 Mio. Euro', '2500000', 'EUR', null],
    ['3 mil euros por pedido', '3000', 'EUR', 'order'],
    ['EUR 12.50/kg', '12.50', 'EUR', 'kg'],
    ['40 euros a box', '40', 'EUR', 'box'],
    ['€15 each', '15', 'EUR', 'piece'],
    ['100 EUR monatlich', '100', 'EUR', 'month'],
    ['120 dólares por noche', '120', 'USD', 'night'],
    ['KWD 1.250', '1.250', 'KWD', null],
    ['KWD 1.250,500', '1250.500', 'KWD', null],
    ['0.500 EUR', '0.500', 'EUR', null],
    ['EUR70', '70', 'EUR', null],
    ['no more than 99,95 zł.', '99.95', 'PLN', null],
    ['between EUR 50-70', '50', 'EUR', null],
  ])('%s', (text, value, currency, per) => {
    expect(read(text)[0]).toEqual([value, currency, per]);
  });

  it.each([
    'on 24.11.2026',
    'from 10.0.0.1',
    'version 1.2.3 only',
    'order 2026-1500',
    'at most 5 people',
    'all 50 seats',
    'try 20 samples',
    'not under 18',
    'cables of 2m',
    'more than 500 km',
    'room H3, A4 paper',
    'VAT 19 % on it',
    'open 9:30 to 17:00',
    'ISO 12402',
  ])('"%s" has no sum', (text) => {
    expect(read(text)).toEqual([]);
  });

  it('stays within linear time where digits and signs never end', () => {
    for (const part of ['1', '1,', '1 ', "1'", '111 ', 'EUR 1 ', '1.1,'])
      expect(amountsIn(part.repeat(4_000)).length).toBeLessThanOrEqual(4_000);
  });
});

const grouped = (whole: string, sign: string): string => whole.replace(/\B(?=(\d{3})+$)/g, sign);
const inLakhs = (whole: string): string =>
  whole.length <= 3 ? whole : `${whole.slice(0, -3).replace(/\B(?=(\d{2})+$)/g, ',')},${whole.slice(-3)}`;

/** How sums are written: the whole part, and the sign of the decimals. */
const FORMATS: readonly [(whole: string) => string, string][] = [
  [(whole) => whole, '.'],
  [(whole) => whole, ','],
  [(whole) => grouped(whole, ','), '.'],
  [(whole) => grouped(whole, '.'), ','],
  [(whole) => grouped(whole, "'"), '.'],
  [(whole) => grouped(whole, '’'), ','],
  [(whole) => grouped(whole, ' '), ','],
  [(whole) => grouped(whole, '\u202f'), ','],
  [inLakhs, '.'],
];
const CURRENCIES: readonly [code: string, ...spellings: string[]][] = [
  ['EUR', 'EUR', '€', 'euros', 'eur'],
  ['USD', 'USD', '$', 'US$'],
  ['CHF', 'CHF', 'Fr.'],
  ['JPY', 'JPY', '¥', '円'],
  ['SEK', 'SEK', 'kr'],
  ['BRL', 'BRL', 'R$'],
  ['INR', 'INR', '₹'],
  ['KWD', 'KWD'],
];
const SENTENCES = [
  '',
  'Hotels: at most # for everything',
  'Keine Bestellung über #.',
  'Nicht mehr als #, bitte',
  'Jamais plus de #.',
  'No más de #; nunca',
  'Niet meer dan # (zonder btw)',
  'Não mais de # no total',
  '#を超えるものは不可',
];
const UNITS: readonly [text: string, unit: string | null][] = [
  ['', null],
  [' per night', 'night'],
  [' a month', 'month'],
  ['/kg', 'kg'],
  [' pro Person', 'person'],
  [' par jour', 'day'],
  [' por noche', 'night'],
  [' each', 'piece'],
];

test('every sum that is written in any format, language and currency is read back exactly', () => {
  const one = fc.record({
    format: fc.constantFrom(...FORMATS),
    currency: fc.constantFrom(...CURRENCIES),
    spelling: fc.nat(3),
    minor: fc.nat(10 ** 12),
    has_cents: fc.boolean(),
    is_before: fc.boolean(),
    blank: fc.constantFrom('', ' ', '\u00a0'),
    sentence: fc.constantFrom(...SENTENCES),
    unit: fc.constantFrom(...UNITS),
  });
  fc.assert(
    fc.property(one, ({ format: [write, point], currency, spelling, ...is }) => {
      const [code, ...spellings] = currency;
      const sign = spellings[spelling % spellings.length] ?? code;
      const places = currencyExponent(code);
      // Without its three places "KWD 1.250" could be either, and with none a number has no point.
      const shows_cents = places > 0 && (is.has_cents || places === 3);
      const minor = shows_cents ? is.minor : Math.floor(is.minor / 10 ** places) * 10 ** places;
      const digits = String(minor).padStart(places + 1, '0');
      const whole = write(places === 0 ? digits : digits.slice(0, -places));
      const number = shows_cents ? `${whole}${point}${digits.slice(-places)}` : whole;
      // A word needs a blank between it and the digits that follow it in running text.
      const sum = is.is_before ? `${sign}${is.blank}${number}` : `${number}${is.blank}${sign}`;
      const [unit_text, unit] = is.sentence.startsWith('#') ? ['', null] : is.unit;
      const text =
        is.sentence === '' ? `${sum}${unit_text}` : is.sentence.replace('#', () => `${sum}${unit_text}`);
      const found = amountsIn(text);
      expect(
        found.map((each) => [minorOf(each, code), each.per]),
        text,
      ).toEqual([[minor, unit]]);
      const plain = (words: string) => words.replace(/\.$/, '');
      expect(plain(text.slice(found[0]?.at, found[0]?.end))).toBe(plain(`${sum}${unit_text}`));
    }),
    { numRuns: Number(process.env.AMOUNTS_RUNS ?? 3_000) },
  );
});

test('a sum in another currency is not compared, and a fraction of a minor unit is cut', () => {
  const minor = (text: string, currency: string) => amountsIn(text).map((one) => minorOf(one, currency));
  expect(minor('USD 10.999', 'EUR')).toEqual([null]);
  expect(minor('USD 10.999', 'USD')).toEqual([1_099_900]);
  expect(minor('JPY 10.5', 'JPY')).toEqual([10]);
  expect(minor(`EUR ${'9'.repeat(40)}`, 'EUR')).toEqual([Number.MAX_SAFE_INTEGER]);
});
