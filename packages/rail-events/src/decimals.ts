import { MAX_AMOUNT_MINOR } from '@purser/contract/limits';

/** An exact decimal number: `digits` × 10 to the power of minus `scale`. */
export interface Decimal {
  digits: bigint;
  scale: number;
}

const FORM = /^([+-]?)(\d{1,40})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,2}))?$/;
const TEN = 10n;

/** Reads a plain decimal number, with an exponent or without; null for anything else. */
export function parseDecimal(text: string): Decimal | null {
  const [, sign = '', whole = '', rest = '', power = '0'] = FORM.exec(text) ?? [];
  if (whole === '') return null;
  const digits = BigInt(`${whole}${rest}`) * (sign === '-' ? -1n : 1n);
  const scale = rest.length - Number(power);
  return scale >= 0 ? { digits, scale } : { digits: digits * TEN ** BigInt(-scale), scale: 0 };
}

/** The exact sum. */
export function addDecimals(one: Decimal, other: Decimal): Decimal {
  const scale = Math.max(one.scale, other.scale);
  const at = ({ digits, scale: own }: Decimal) => digits * TEN ** BigInt(scale - own);
  return { digits: at(one) + at(other), scale };
}

/** The same number in units of 10 to the power of minus `places`. `is_exact`: nothing was cut; `minor` is cut towards zero. */
export function inMinorUnits(of: Decimal, places: number): { minor: bigint; is_exact: boolean } {
  if (of.scale <= places) return { minor: of.digits * TEN ** BigInt(places - of.scale), is_exact: true };
  const unit = TEN ** BigInt(of.scale - places);
  return { minor: of.digits / unit, is_exact: of.digits % unit === 0n };
}

/** The same, rounded up. */
export function roundedUp(of: Decimal, places: number): bigint {
  const { minor, is_exact } = inMinorUnits(of, places);
  return is_exact || of.digits < 0n ? minor : minor + 1n;
}

/** The amount as a number, or null where it is beyond the amounts of the API. */
export function asAmount(minor: bigint): number | null {
  return minor > BigInt(MAX_AMOUNT_MINOR) || minor < -BigInt(MAX_AMOUNT_MINOR) ? null : Number(minor);
}
