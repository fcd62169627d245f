/**
 * Digits of the minor unit where they are not two, as ISO 4217 has them. What Node and browsers know of currencies are
 * other lists. Tests hold these against the service's table.
 */
// biome-ignore format: a table
const OTHER_EXPONENTS: Readonly<Record<string, number>> = {
  BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0,
  VUV: 0, XAF: 0, XOF: 0, XPF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3,
  CLF: 4, UYW: 4,
};

/** The number of digits of a currency's minor unit; 2 where the currency is unknown. */
export function exponentOf(currency: string): number {
  return OTHER_EXPONENTS[currency] ?? 2;
}

/** An amount of minor units in major units, exactly and without groups: 5440 EUR is "54.40", 1200 JPY is "1200". */
export function majorUnits(amount_minor: number, currency: string): string {
  const exponent = exponentOf(currency);
  const digits = String(Math.abs(amount_minor)).padStart(exponent + 1, '0');
  const point = digits.length - exponent;
  const fraction = exponent === 0 ? '' : `.${digits.slice(point)}`;
  return `${amount_minor < 0 ? '-' : ''}${digits.slice(0, point)}${fraction}`;
}

/** Digits in groups of three: "1445" is "1,445". */
export const groupDigits = (digits: string): string => digits.replace(/\B(?=(?:\d{3})+$)/g, ',');

/** An amount for people: "EUR 54.40", "EUR 1,200.00", "JPY 1,200". */
export function formatMoney(amount_minor: number, currency: string): string {
  return `${currency} ${majorUnits(amount_minor, currency).replace(/\d+/, groupDigits)}`;
}
