import { useDebouncedInput } from '../../lib/hooks/use-debounced-input.ts';
import { exponentOf, fromInput, toInput } from '../../lib/money.ts';
import type { Search } from '../../lib/search.ts';
import { TextField } from '../Field.tsx';

/** Converts an amount of the URL, in minor units, to the input's major units. */
function typedOf(value: string, currency: string): string {
  return /^\d{1,15}$/.test(value) ? toInput(Number(value), currency) : value;
}

/**
 * Adapts the amounts in a URL to a new currency. Typed numbers stay: "120" in one currency becomes "120" in the other.
 * Amounts that the new currency cannot represent, and all amounts without a currency, are removed.
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

/** A filter by amount, typed in major units: 120.50 in EUR, 1200 in JPY. */
export function AmountFilter({
  name,
  value,
  currency,
  onValue,
}: {
  name: string;
  /** In minor units. Empty if not set. */
  value: string;
  currency: string;
  /** Called after a pause in typing, in minor units. Undefined clears the filter. */
  onValue: (amount_minor: string | undefined) => void;
}) {
  const shown = typedOf(value, currency);
  const { typed, setTyped, flush } = useDebouncedInput(shown, (text) => {
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
        if (event.key === 'Enter') flush();
      }}
    />
  );
}
