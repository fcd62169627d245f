/**
 * Digits of the minor unit where they are not two, as ISO 4217 has them. What Node knows of currencies is another list.
 * A test holds these against the service's table.
 */
// biome-ignore format: a table
const OTHER_EXPONENTS: Readonly<Record<string, number>> = {
  BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0,
  VUV: 0, XAF: 0, XOF: 0, XPF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3,
  CLF: 4, UYW: 4,
};

const DECIMAL = /^(\d{1,16})(?:\.(\d{1,8}))?$/;

/** The number of digits of a currency's minor unit. */
export function exponentOf(currency: string): number {
  return OTHER_EXPONENTS[currency] ?? 2;
}

/** An amount of minor units in major units, exactly: 5440 EUR is "54.40", 1200 JPY is "1200". */
export function majorUnits(amount_minor: number, currency: string): string {
  const exponent = exponentOf(currency);
  const digits = String(Math.abs(amount_minor)).padStart(exponent + 1, '0');
  const point = digits.length - exponent;
  const fraction = exponent === 0 ? '' : `.${digits.slice(point)}`;
  return `${amount_minor < 0 ? '-' : ''}${digits.slice(0, point)}${fraction}`;
}

/** An amount for people: "EUR 54.40". */
export function formatMoney(amount_minor: number, currency: string): string {
  return `${currency} ${majorUnits(amount_minor, currency)}`;
}

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
