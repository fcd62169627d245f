import { readFileSync } from 'node:fs';
import { MAX_AMOUNT_MINOR } from '@purser/contract/limits';
import { groupDigits } from '@purser/contract/money';

/** The sum of two amounts, capped at `MAX_AMOUNT_MINOR`. */
export function addMinor(one: number, other: number): number {
  return Math.min(one + other, MAX_AMOUNT_MINOR);
}

/** A sum as reports show it. `amount_cut` is there only where the sum is larger than `amount_minor` can say. */
export interface SummedAmount {
  amount_minor: number;
  amount_cut?: true;
}

/** A sum as a number, cut at `MAX_AMOUNT_MINOR`. */
export function summedAmount(sum: bigint): SummedAmount {
  return sum > BigInt(MAX_AMOUNT_MINOR)
    ? { amount_minor: MAX_AMOUNT_MINOR, amount_cut: true }
    : { amount_minor: Number(sum) };
}

/**
 * List one of ISO 4217 with later amendments, written by scripts/make-currency-table.mjs: digits of the minor unit by
 * code. It has no codes without a minor unit (metals, units of account, tests). Withdrawn codes stay, because amounts
 * recorded in them must still be shown.
 */
const { active, withdrawn } = JSON.parse(
  readFileSync(new URL('./data/iso-4217.json', import.meta.url), 'utf8'),
) as { active: Record<string, number>; withdrawn: Record<string, number> };

const EXPONENTS: ReadonlyMap<string, number> = new Map(Object.entries({ ...withdrawn, ...active }));

/**
 * The active ISO 4217 codes that have a minor unit, sorted. This includes the funds codes of list one (CHE, CLF, USN, …),
 * which do no harm, since amounts in different currencies are never compared.
 */
export const ACTIVE_CURRENCIES: readonly string[] = Object.keys(active);

const ACTIVE: ReadonlySet<string> = new Set(ACTIVE_CURRENCIES);

/** Returns true if a code is an active currency with a minor unit. Codes are upper-case. */
export function isActiveCurrency(code: string): boolean {
  return ACTIVE.has(code);
}

/**
 * The number of digits of the minor unit: 0 for JPY, 3 for KWD, 2 for USD; also for codes withdrawn since June 2024.
 * Throws RangeError for any other code.
 */
export function currencyExponent(code: string): number {
  const exponent = EXPONENTS.get(code);
  if (exponent === undefined) throw new RangeError(`no currency with a minor unit: ${code}`);
  return exponent;
}

/**
 * An amount for people: "USD 1,120.00", "JPY 1,200", "KWD 1.250". Exact; a bigint is for sums beyond the safe integers.
 * Throws RangeError for a number that is not a safe integer and for an unknown currency.
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
  const point = digits.length - exponent;
  const whole = groupDigits(digits.slice(0, point));
  return `${currency} ${sign}${whole}${exponent === 0 ? '' : `.${digits.slice(point)}`}`;
}
