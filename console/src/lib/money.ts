import { MAX_AMOUNT_MINOR } from '@purser/contract/limits';
import { exponentOf, groupDigits } from '@purser/contract/money';

export { exponentOf };

/** A count for people: "1,204". */
export const formatCount = (count: number): string => groupDigits(String(count));

/** A currency as typed: " eur" is EUR. */
export const currencyOf = (typed: string): string => typed.trim().toUpperCase();

/** An amount in major units without its currency: "54.40", "1,200", "12,000.00". Exact. */
export function majorUnits(amount_minor: number, currency: string): string {
  const exponent = exponentOf(currency);
  const sign = amount_minor < 0 ? '−' : '';
  const digits = String(Math.abs(amount_minor)).padStart(exponent + 1, '0');
  const point = digits.length - exponent;
  return sign + groupDigits(digits.slice(0, point)) + (exponent === 0 ? '' : `.${digits.slice(point)}`);
}

/** An amount for people: "EUR 54.40", "JPY 1,200", "KWD 1.250". */
export function formatMoney(amount_minor: number, currency: string): string {
  const more = amount_minor >= MAX_AMOUNT_MINOR ? '≥ ' : '';
  return `${currency} ${more}${majorUnits(amount_minor, currency)}`;
}

/** An amount for a text field: "54.40", without grouping. Empty for none. */
export function toInput(amount_minor: number | null | undefined, currency: string): string {
  if (amount_minor === null || amount_minor === undefined) return '';
  return majorUnits(amount_minor, currency).replaceAll(',', '');
}

/**
 * Reads a typed amount in major units. Returns minor units, null for an empty field, or the problem if it is not an amount
 * of the currency.
 */
export function fromInput(
  text: string,
  currency: string,
): { amount_minor: number | null } | { problem: string } {
  const typed = text.trim().replace(/[\s,'’_](?=\d{3}(?:\D|$))/g, '');
  if (typed === '') return { amount_minor: null };
  const exponent = exponentOf(currency);
  const found = /^(\d+)(?:[.,](\d*))?$/.exec(typed);
  if (found === null) return { problem: 'must be an amount such as 120 or 120.50' };
  const [, whole = '', fraction = ''] = found;
  if (fraction.length > exponent) {
    return {
      problem:
        exponent === 0
          ? `must be a whole number: ${currency} has no smaller unit`
          : `must have at most ${exponent} digits after the point in ${currency}`,
    };
  }
  const amount_minor = Number(whole + fraction.padEnd(exponent, '0'));
  if (amount_minor > MAX_AMOUNT_MINOR)
    return { problem: 'must be smaller: Purser cannot represent it exactly' };
  return { amount_minor };
}

/** The problem of a typed amount that must be more than 0. `missing`: what it must be, said where it is empty or 0. */
export function amountProblem(text: string, currency: string, missing: string): string | undefined {
  const read = fromInput(text, currency);
  if ('problem' in read) return read.problem;
  return read.amount_minor === null || read.amount_minor === 0 ? missing : undefined;
}

/** A typed amount without problems, in minor units; 0 for one with. */
export function typedAmount(text: string, currency: string): number {
  const read = fromInput(text, currency);
  return 'amount_minor' in read ? (read.amount_minor ?? 0) : 0;
}
