import { data as listOfJune2024 } from 'currency-codes';

/** The largest amount in minor units: the largest integer that a JSON number carries exactly. */
export const MAX_AMOUNT_MINOR = 9_007_199_254_740_991;

/** The sum of two amounts; one beyond what a JSON number carries exactly is given as the largest that it does. */
export function addMinor(one: number, other: number): number {
  return Math.min(one + other, MAX_AMOUNT_MINOR);
}

/** A sum as a JSON number carries it: exact, or the largest that is where it is beyond. */
export function cappedMinor(sum: bigint): number {
  return sum > BigInt(MAX_AMOUNT_MINOR) ? MAX_AMOUNT_MINOR : Number(sum);
}

/**
 * Codes of ISO 4217 list one whose minor unit is "N.A.": metals, bond market units, units of account of banks, and
 * the codes for tests and for no currency. An amount in minor units has no meaning in them. `currency-codes` gives
 * them 0 digits, so they cannot be told by their digits.
 */
const WITHOUT_MINOR_UNIT: ReadonlySet<string> = new Set([
  ...['XAG', 'XAU', 'XPD', 'XPT'],
  ...['XBA', 'XBB', 'XBC', 'XBD'],
  ...['XDR', 'XSU', 'XUA'],
  ...['XTS', 'XXX'],
]);

/**
 * What changed after the list of 2024-06-25 that `currency-codes` 2.2.0 carries. Source: the amendments of the SIX
 * Group, which keeps ISO 4217, published as
 * https://www.six-group.com/dam/download/financial-information/data-center/iso-currrency/amendments/dl-currency-iso-amendment-180.pdf
 * (and so on by number). `added` gives the digits of the minor unit.
 */
const AMENDMENTS: readonly {
  number: number;
  added: Readonly<Record<string, number>>;
  withdrawn: readonly string[];
}[] = [
  // From 2025-03-31: the Caribbean guilder in place of that of the Netherlands Antilles.
  { number: 176, added: { XCG: 2 }, withdrawn: ['ANG'] },
  // At once (early 2025): the Cuban convertible peso, out of circulation since June 2021.
  { number: 178, added: {}, withdrawn: ['CUC'] },
  // From 2025-05-12: the Arab accounting dinar, a funds code.
  { number: 179, added: { XAD: 2 }, withdrawn: [] },
  // From 2026-01-01: Bulgaria in the euro area.
  { number: 180, added: {}, withdrawn: ['BGN'] },
];

/** Withdrawn codes stay here: what was recorded in them must still be shown. */
const EXPONENTS: ReadonlyMap<string, number> = new Map([
  ...listOfJune2024
    .filter((currency) => !WITHOUT_MINOR_UNIT.has(currency.code))
    .map((currency): [string, number] => [currency.code, currency.digits]),
  ...AMENDMENTS.flatMap((amendment) => Object.entries(amendment.added)),
]);

const WITHDRAWN: ReadonlySet<string> = new Set(AMENDMENTS.flatMap((amendment) => amendment.withdrawn));

/**
 * The active ISO 4217 codes that have a minor unit, sorted. Funds codes (CHE, CLF, USN, …) are among them: they are
 * active codes of list one with a minor unit, and they can do no harm, since amounts of two currencies are never
 * compared.
 */
export const ACTIVE_CURRENCIES: readonly string[] = [...EXPONENTS.keys()]
  .filter((code) => !WITHDRAWN.has(code))
  .sort();

const ACTIVE: ReadonlySet<string> = new Set(ACTIVE_CURRENCIES);

/** Whether an amount may be given in this currency. Only the upper-case code is one. */
export function isActiveCurrency(code: string): boolean {
  return ACTIVE.has(code);
}

/**
 * Digits of the minor unit: 0 for JPY, 3 for KWD, 2 for USD; also for codes withdrawn since June 2024.
 * Throws RangeError for any other code.
 */
export function currencyExponent(code: string): number {
  const exponent = EXPONENTS.get(code);
  if (exponent === undefined) throw new RangeError(`no currency with a minor unit: ${code}`);
  return exponent;
}

/**
 * An amount for people: "USD 120.00", "JPY 1200", "KWD 1.250". Exact, since it only moves digits; a bigint is for
 * sums beyond the safe integers. Throws RangeError for a number that is not a safe integer or an unknown currency.
 */
export function formatMoney(amount_minor: number | bigint, currency: string): string {
  if (typeof amount_minor === 'number' && !Number.isSafeInteger(amount_minor)) {
    throw new RangeError(`not an exact amount in minor units: ${amount_minor}`);
  }
  const exponent = currencyExponent(currency);
  const sign = amount_minor < 0 ? '-' : '';
  const digits = String(amount_minor)
    .slice(sign.length)
    .padStart(exponent + 1, '0');
  if (exponent === 0) return `${currency} ${sign}${digits}`;
  const point = digits.length - exponent;
  return `${currency} ${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
