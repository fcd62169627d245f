import { minorUnits } from '@purser/mcp/money';
import { CommandError } from './failure.ts';

/** The value of an option, in major units, as minor units. Throws a `CommandError` if it is no such amount. */
export function amountOf(amount: string, currency: string, option = '--amount'): number {
  const found = minorUnits(amount, currency);
  if ('problem' in found) throw new CommandError(`${option} ${found.problem}.`);
  return found.amount_minor;
}
