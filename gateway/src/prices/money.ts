import { exponentOf } from '@purser/contract/money';

/** Inside the gateway money is a BigInt of billionths of a minor unit: of a cent for USD. */
export const UNITS_IN_MINOR = 1_000_000_000n;
const DIGITS_BELOW_MINOR = 9;

/** The quotient of two numbers that are not below 0, rounded up. */
export const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;

/** An amount in major units, exactly and with every digit: 123450n units of USD are `0.00000123450`. */
export function exactMajor(units: bigint, currency: string): string {
  return major(units, exponentOf(currency) + DIGITS_BELOW_MINOR, exponentOf(currency) + DIGITS_BELOW_MINOR);
}

/** An amount in major units with four digits below the minor unit, rounded down, so that a remaining amount is never overstated. */
export function roundedMajor(units: bigint, currency: string): string {
  const exponent = exponentOf(currency);
  return major(units, exponent + DIGITS_BELOW_MINOR, exponent + 4);
}

function major(units: bigint, scale: number, shown: number): string {
  const magnitude = units < 0n ? -units : units;
  const digits = magnitude.toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  const fraction = shown === 0 ? '' : `.${digits.slice(point, point + shown)}`;
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}${fraction}`;
}
