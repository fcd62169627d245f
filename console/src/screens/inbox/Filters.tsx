import type { Inbox } from '@purser/sdk';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { Money } from '../../components/Value.tsx';
import type { Search } from '../../lib/search.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';
import styles from './Inbox.module.css';
import { type InboxFilters, isNarrowed } from './use-reviews.ts';

const SORTS = [
  ['', 'Expiring first'],
  ['newest', 'Newest'],
  ['oldest', 'Oldest'],
  ['amount', 'Largest amount'],
] as const;
const GROUPS = [
  ['', 'No groups'],
  ['agent', 'By agent'],
  ['merchant', 'By merchant'],
  ['reason', 'By cause'],
  ['alike', 'Alike'],
] as const;

/** Search, order and groups of the pending reviews. All of them are in the URL. */
export function Filters({ filters, counts }: { filters: InboxFilters; counts: Inbox | undefined }) {
  const navigate = useNavigate();
  const set = (change: InboxFilters) => {
    const merged = Object.entries({ ...filters, ...change }).filter(([, value]) => value);
    void navigate({ to: '/reviews', search: Object.fromEntries(merged) as Search, replace: true });
  };
  const [typed, setTyped] = useState(filters.search ?? '');
  useEffect(() => setTyped(filters.search ?? ''), [filters.search]);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    set({ search: typed.trim() });
  };
  const { group, sort, ...narrowed } = filters;
  return (
    <div className={styles.filters}>
      <form onSubmit={onSubmit}>
        <TextField
          label="Search"
          hideLabel
          type="search"
          placeholder="Search merchants, texts, notes, IDs"
          value={typed}
          onValue={setTyped}
        />
      </form>
      <div className={styles.selects}>
        <SelectField
          label="Sort"
          hideLabel
          value={sort ?? ''}
          onValue={(value) => set({ sort: value })}
          options={SORTS}
        />
        <SelectField
          label="Group"
          hideLabel
          value={group ?? ''}
          onValue={(value) => set({ group: value })}
          options={GROUPS}
        />
        <label className={styles.mine}>
          <input
            type="checkbox"
            checked={filters.mine === 'true'}
            onChange={({ target }) => set({ mine: target.checked ? 'true' : '' })}
          />
          Mine
        </label>
      </div>
      {sort === 'amount' && filters.currency === undefined && (
        <CurrencyField onCurrency={(currency) => set({ currency })} />
      )}
      {isNarrowed(filters) && (
        <p className={styles.narrowed}>
          <span>
            {counts === undefined ? 'Filtered' : `${counts.total.toLocaleString('en')} found`}
            {[narrowed.agent, narrowed.merchant, narrowed.currency, narrowed.reason]
              .filter((each) => each !== undefined)
              .map((each) => ` · ${each === narrowed.reason ? reasonWords(each) : visible(each)}`)}
          </span>
          <Button
            small
            kind="quiet"
            onClick={() => set({ search: '', agent: '', merchant: '', currency: '', reason: '', mine: '' })}
          >
            Clear
          </Button>
        </p>
      )}
      {group !== undefined && <GroupLinks filters={filters} groups={counts?.groups ?? []} />}
    </div>
  );
}

/** Amounts are compared within a currency, so the person chooses one. */
function CurrencyField({ onCurrency }: { onCurrency: (currency: string) => void }) {
  const [typed, setTyped] = useState('');
  return (
    <form
      className={styles.currency}
      onSubmit={(event) => {
        event.preventDefault();
        if (/^[A-Z]{3}$/.test(typed)) onCurrency(typed);
      }}
    >
      <TextField
        label="Currency"
        hint="Amounts are sorted within one currency, such as EUR."
        value={typed}
        maxLength={3}
        onValue={(value) => setTyped(value.toUpperCase())}
      />
    </form>
  );
}

/** The groups of all pending reviews that the filters let through, each as a link to its requests. */
function GroupLinks({ filters, groups }: { filters: InboxFilters; groups: Inbox['groups'] }) {
  const { group: _group, ...kept } = filters;
  return (
    <ul className={styles.groupLinks} aria-label="Groups">
      {groups.map(({ key, filter, count, amounts }) => {
        const { agent, merchant, currency, reason } = filter;
        const parts = [agent, merchant === undefined ? undefined : visible(merchant), currency];
        const name = [...parts, reason === undefined ? undefined : reasonWords(reason)];
        return (
          <li key={key}>
            <Link to="/reviews" search={{ ...kept, ...filter } as Search}>
              <strong>{name.filter((each) => each !== undefined).join(' · ')}</strong>
              <span className={styles.meta}>
                {count} pending
                {amounts.map(({ currency: of, amount_minor }) => (
                  <span key={of}>
                    {' · '}
                    <Money amount_minor={amount_minor} currency={of} />
                  </span>
                ))}
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
