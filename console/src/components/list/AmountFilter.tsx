import { useTyped } from '../../lib/hooks/use-typed.ts';
import { exponentOf, fromInput, toInput } from '../../lib/money.ts';
import type { Search } from '../../lib/search.ts';
import { TextField } from '../Field.tsx';

/** An amount of the address, which is in minor units, as it is typed: in the units of its currency. */
function typedOf(value: string, currency: string): string {
  return /^\d{1,15}$/.test(value) ? toInput(Number(value), currency) : value;
}

/**
 * What else changes in an address with its currency: amounts stay what was typed, "120" of one currency becomes "120" of
 * the other. What is no amount of the other, and amounts of no currency, go.
 */
export function amountsIn(
  search: Search,
  params: readonly string[],
  currency: string | undefined,
): Record<string, string | undefined> {
  const before = search.currency;
  const changes: Record<string, string | undefined> = {};
  for (const param of params) {
    const value = search[param];
    if (value === undefined || before === undefined || before === currency) continue;
    const read =
      currency === undefined ? null : fromInput(typedOf(value, before).replace(/\.0+$/, ''), currency);
    const amount_minor = read !== null && 'amount_minor' in read ? read.amount_minor : null;
    changes[param] = amount_minor === null ? undefined : String(amount_minor);
  }
  return changes;
}

/** A filter by an amount, typed in the currency's own units: 120.50 in EUR, 1200 in JPY. */
export function AmountFilter({
  name,
  value,
  currency,
  onValue,
}: {
  name: string;
  /** In minor units; empty: none is set. */
  value: string;
  currency: string;
  /** Told when the typing pauses, in minor units; undefined: none. */
  onValue: (amount_minor: string | undefined) => void;
}) {
  const stands = typedOf(value, currency);
  const { typed, setTyped, tell } = useTyped(stands, (text) => {
    const amount = fromInput(text, currency);
    if ('problem' in amount) return;
    onValue(amount.amount_minor === null ? undefined : String(amount.amount_minor));
  });
  const read = fromInput(typed, currency);
  return (
    <TextField
      label={name}
      prefix={currency}
      inputMode="decimal"
      autoComplete="off"
      placeholder={exponentOf(currency) === 0 ? '1200' : '120.50'}
      value={typed}
      problem={'problem' in read ? read.problem : undefined}
      onValue={setTyped}
      onKeyDown={(event) => {
        if (event.key === 'Enter') tell();
      }}
    />
  );
}
