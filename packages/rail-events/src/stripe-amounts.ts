import { currencyOf, wholeOf } from './fields.ts';
import { refuse } from './read-line.ts';

/** Where Stripe's minor units are not ISO 4217's: Stripe's units in one of ISO's, or the reverse. */
const DIVIDED_BY: Readonly<Record<string, bigint>> = { ISK: 100n, UGX: 100n };
const TIMES: Readonly<Record<string, bigint>> = { MGA: 100n };

/** An amount of Stripe's, with its sign, in ISO minor units. Refuses a part of an ISO unit. */
export function stripeAmount(
  amount: unknown,
  currency: unknown,
  names: { amount: string; currency: string },
): { minor: bigint; currency: string } {
  const code = currencyOf(currency, names.currency);
  const units = BigInt(wholeOf(amount, names.amount)) * (TIMES[code] ?? 1n);
  const divisor = DIVIDED_BY[code] ?? 1n;
  if (units % divisor !== 0n)
    return refuse('PRECISION', names.amount, `is no whole number of the units of ${code}`);
  return { minor: units / divisor, currency: code };
}
