import { readFileSync } from 'node:fs';

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
 * List one of ISO 4217 with the amendments since, by scripts/make-currency-table.mjs: digits of the minor unit by code.
 * Codes without a minor unit (metals, units of account, tests) are not in it. Withdrawn codes stay, because what was
 * recorded in them must still be shown.
 */
const { active, withdrawn } = JSON.parse(
  readFileSync(new URL('./data/iso-4217.json', import.meta.url), 'utf8'),
) as { active: Record<string, number>; withdrawn: Record<string, number> };

const EXPONENTS: ReadonlyMap<string, number> = new Map(Object.entries({ ...withdrawn, ...active }));

/**
 * The active ISO 4217 codes that have a minor unit, sorted. Funds codes (CHE, CLF, USN, …) are among them: they are
 * active codes of list one with a minor unit, and they can do no harm, since amounts of two currencies are never
 * compared.
 */
export const ACTIVE_CURRENCIES: readonly string[] = Object.keys(active);

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
