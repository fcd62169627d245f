/**
 * Digits of the minor unit where they are not two, as ISO 4217 has them. The browser's own list is another one (it shows
 * IQD without digits), so it is not asked. A test holds these against the service's table.
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

/** The largest amount that the service names exactly; in sums it stands for itself and everything above. */
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

/** An amount as it stands in a field for typing: "54.40", without groups. Empty where there is none. */
export function toInput(amount_minor: number | null | undefined, currency: string): string {
  if (amount_minor === null || amount_minor === undefined) return '';
  return majorUnits(amount_minor, currency).replaceAll(',', '');
}

/**
 * What was typed into a field of major units, in minor units. Null for nothing; an error in words for what is no amount
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
    return { problem: 'must be smaller: it is more than can be counted exactly' };
  return { amount_minor };
}
