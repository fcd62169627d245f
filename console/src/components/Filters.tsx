import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useExampleCurrency } from '../api/agent-names.ts';
import { useDebouncedInput } from '../lib/hooks/use-debounced-input.ts';
import { useMedia } from '../lib/hooks/use-media.ts';
import { formatMoney } from '../lib/money.ts';
import type { Search } from '../lib/search.ts';
import { Button } from './Button.tsx';
import { Field, SelectField } from './Field.tsx';
import styles from './Filters.module.css';
import { useKeys } from './keys/use-keys.ts';
import { AmountFilter, amountsIn } from './list/AmountFilter.tsx';

/** One filter of a list: a URL parameter that is passed to the API unchanged. */
export interface Filter {
  param: string;
  name: string;
  /** Choices with their labels. Without them the filter is a text, a day or an amount. */
  options?: readonly (readonly [value: string, text: string])[];
  /** The URL has an amount in minor units of its `currency` parameter. */
  type?: 'text' | 'date' | 'search' | 'amount';
  placeholder?: string;
  /** Hidden under “More filters” unless one of those is set. */
  more?: boolean;
  /** Words for a value that are not those of the options. */
  say?: (value: string) => string;
}

/** The first control of the screen's filters. Null if there is none. */
export const firstFilter = () => document.querySelector<HTMLElement>('main search :is(input, select)');

/** Moves the focus to the screen's filters. */
export function goToFilters(): void {
  const filter = firstFilter();
  filter?.scrollIntoView({ block: 'center' });
  filter?.focus({ preventScroll: true });
}

/** The text of a chip. Several values are joined. */
function chipText(filter: Filter, value: string, currency?: string): string {
  if (filter.type === 'amount')
    return currency === undefined ? `${value} minor units` : formatMoney(Number(value), currency);
  if (filter.say !== undefined) return filter.say(value);
  const words = new Map(filter.options);
  return value
    .split(',')
    .map((each) => words.get(each) ?? each)
    .join(' or ');
}

/** The fields of a list's filters, with chips for those that are set. The URL holds their state. */
export function Filters({
  filters,
  search,
  to,
  keep = [],
  children,
}: {
  filters: readonly Filter[];
  search: Search;
  /** The path of the screen. */
  to: string;
  /** Parameters that “Clear all” keeps because they are not filters. */
  keep?: readonly string[];
  /** Shown below the fields; on a phone only while all fields are. */
  children?: ReactNode;
}) {
  const navigate = useNavigate();
  useKeys({ f: goToFilters });
  const amounts = filters.filter(({ type }) => type === 'amount').map(({ param }) => param);
  const example = useExampleCurrency(undefined, { enabled: amounts.length > 0 });
  const set = (changes: Record<string, string | undefined>) => {
    const next: Search = {};
    for (const [name, value] of Object.entries({ ...search, ...changes })) {
      if (value !== undefined && value !== '') next[name] = value;
    }
    void navigate({ to, search: next, replace: true });
  };
  const change = (param: string, value: string | undefined) =>
    set({
      ...(param === 'currency' ? amountsIn(search, amounts, value === '' ? undefined : value) : {}),
      [param]: value,
    });
  const active = filters.filter(({ param }) => search[param] !== undefined);
  // On a phone the fields would fill the screen before the first row.
  const is_phone = useMedia('(max-width: 40rem)');
  const isMore = ({ more }: Filter, i: number) => more === true || (is_phone && i > 0);
  const has_more = filters.some(isMore);
  const [is_open, setOpen] = useState(active.some(({ more }) => more === true));
  const shown = filters.filter((filter, i) => !isMore(filter, i) || is_open);
  return (
    <search className={styles.filters}>
      <div className={styles.fields}>
        {shown.map((filter) =>
          filter.type === 'amount' ? (
            <AmountFilter
              key={filter.param}
              name={filter.name}
              value={search[filter.param] ?? ''}
              currency={search.currency ?? example}
              onValue={(value) =>
                set({
                  [filter.param]: value,
                  // An amount needs its currency.
                  ...(value === undefined ? {} : { currency: search.currency ?? example }),
                })
              }
            />
          ) : (
            <FilterField
              key={filter.param}
              filter={filter}
              value={search[filter.param] ?? ''}
              onValue={(value) => change(filter.param, value)}
            />
          ),
        )}
      </div>
      {(has_more || active.length > 0) && (
        <div className={styles.foot}>
          {has_more && (
            <Button small kind="quiet" aria-expanded={is_open} onClick={() => setOpen(!is_open)}>
              {is_open ? 'Fewer filters' : 'More filters'}
            </Button>
          )}
          {active.map((filter) => (
            <span key={filter.param} className={styles.chip}>
              {filter.name}: {chipText(filter, search[filter.param] as string, search.currency)}
              <button
                type="button"
                aria-label={`Remove filter ${filter.name}`}
                onClick={() => change(filter.param, undefined)}
              >
                ✕
              </button>
            </span>
          ))}
          {active.length > 1 && (
            <Button
              small
              kind="quiet"
              onClick={() =>
                void navigate({
                  to,
                  search: Object.fromEntries(Object.entries(search).filter(([name]) => keep.includes(name))),
                  replace: true,
                })
              }
            >
              Clear all
            </Button>
          )}
        </div>
      )}
      {(!is_phone || is_open) && children}
    </search>
  );
}

function FilterField({
  filter,
  value,
  onValue,
}: {
  filter: Filter;
  value: string;
  onValue: (value: string) => void;
}) {
  const { name, options, type = 'text', placeholder } = filter;
  if (options !== undefined) {
    const is_known = value === '' || options.some(([each]) => each === value);
    return (
      <SelectField
        label={name}
        value={value}
        onValue={onValue}
        options={[['', 'Any'], ...options, ...(is_known ? [] : [[value, chipText(filter, value)] as const])]}
      />
    );
  }
  return <TypedFilter name={name} type={type} placeholder={placeholder} value={value} onValue={onValue} />;
}

/** Applies its text after a pause in typing. */
function TypedFilter({
  name,
  type,
  placeholder,
  value,
  onValue,
}: {
  name: string;
  type: string;
  placeholder: string | undefined;
  value: string;
  onValue: (value: string) => void;
}) {
  const { typed, setTyped, flush } = useDebouncedInput(value, onValue);
  return (
    <Field label={name}>
      {(control) => (
        <input
          {...control}
          type={type}
          placeholder={placeholder}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') flush();
          }}
        />
      )}
    </Field>
  );
}
