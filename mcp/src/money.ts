import { exponentOf, formatMoney, majorUnits } from '@purser/contract/money';

export { exponentOf, formatMoney, majorUnits };

const DECIMAL = /^(\d{1,16})(?:\.(\d{1,8}))?$/;

/**
 * A decimal amount of major units in minor units, exactly. What is no such amount gives a problem in words, which says
 * what to write instead.
 */
export function minorUnits(amount: string, currency: string): { amount_minor: number } | { problem: string } {
  const exponent = exponentOf(currency);
  const found = DECIMAL.exec(amount.trim());
  if (found === null) {
    return { problem: 'must be a decimal amount in major units without a currency sign, such as "54.40"' };
  }
  const [, whole = '', fraction = ''] = found;
  const digits = fraction.replace(/0+$/, '');
  if (digits.length > exponent) {
    return {
      problem: `must have at most ${exponent} digits after the point, since ${currency} has no smaller unit`,
    };
  }
  const amount_minor = Number(whole + digits.padEnd(exponent, '0'));
  if (!Number.isSafeInteger(amount_minor)) return { problem: 'must be smaller' };
  return { amount_minor };
}
