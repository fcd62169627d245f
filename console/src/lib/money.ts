/**
 * ISO 4217 minor unit digits of currencies that do not have two. The browser's own list differs (it has no digits for IQD),
 * so it is not used. A test compares this table with the service's.
 */
const OTHER_EXPONENTS: Record<string, number> = {
  BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0,
  VUV: 0, XAF: 0, XOF: 0, XPF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3,
  CLF: 4, UYW: 4,
}; // biome-ignore format: a table

/** The number of digits of a currency's minor unit. */
export function exponentOf(currency: string): number {
  return OTHER_EXPONENTS[currency] ?? 2;
}

/** The service's largest exact amount. In sums it means this amount or more. */
const MAX_AMOUNT_MINOR = 9_007_199_254_740_991;

/** An amount in major units without its currency: "54.40", "1200", "12,000.00". Exact. */
export function majorUnits(amount_minor: number, currency: string): string {
  const exponent = exponentOf(currency);
  const sign = amount_minor < 0 ? '−' : '';
  const digits = String(Math.abs(amount_minor)).padStart(exponent + 1, '0');
  const point = digits.length - exponent;
  const whole = digits.slice(0, point);
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ',') : whole;
  return sign + grouped + (exponent === 0 ? '' : `.${digits.slice(point)}`);
}

/** An amount for people: "EUR 54.40", "JPY 1200", "KWD 1.250". */
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
