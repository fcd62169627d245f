import type { Spending } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { tickStep } from 'd3-array';
import { useState } from 'react';
import { bucketsOf } from '../../lib/days.ts';
import { useMedia } from '../../lib/hooks/use-media.ts';
import { formatMoney } from '../../lib/money.ts';
import { dayInWords } from '../../lib/time.ts';
import { words } from '../../lib/words.ts';
import styles from './charts.module.css';
import { type Counts, KINDS } from './kinds.tsx';
import { Switch } from './Switch.tsx';

/** The most bars that are each wide enough to tap. More days share a bar. */
const MAX_BARS = 31;
const MAX_BARS_NARROW = 11;

const grouped = (value: number) => value.toLocaleString('en-US');

type Totals = Spending['totals'];

/** The height of bars: a number of decisions, or their amounts in a currency. */
interface Measure {
  name: string;
  /** A value in words, with its unit. */
  inWords: (value: number) => string;
  days: readonly (Counts & { day: string })[];
}

const COUNT = (days: Measure['days']): Measure => ({ name: 'Count', inWords: grouped, days });

/** Requested amounts by day, in each currency. */
const amountsOf = ({ currency, by_day }: Totals[number]): Measure => ({
  name: currency,
  inWords: (value) => formatMoney(value, currency),
  days: by_day.map(({ day, allow, review, deny }) => ({
    day,
    allow: allow.amount_minor,
    review: review.amount_minor,
    deny: deny.amount_minor,
  })),
});

/** Two lines above zero, the upper one at or above the highest value. */
function ticksFor(highest: number): [middle: number, top: number] {
  const step = tickStep(0, Math.max(highest, 2), 2);
  const top = Math.max(1, Math.ceil(highest / step)) * step;
  return [top / 2, top];
}

/**
 * Decisions by day, including days without any: their number, or with `totals` their amounts. Each bar links to its
 * decisions and says its values when it has the pointer or the focus. The table below has the same numbers.
 */
export default function StackedBars({
  days,
  totals = [],
  from,
  to,
  search = {},
  path = '/decisions',
}: {
  days: readonly (Counts & { day: string })[];
  /** The requested amounts of the same decisions. */
  totals?: Totals | undefined;
  /** First and last day to show. Defaults to the first and last day in `days`. */
  from?: string | undefined;
  to?: string | undefined;
  /** More filters for the linked lists. */
  search?: Record<string, string>;
  /** The path of the linked list. */
  path?: string;
}) {
  const is_wide = useMedia('(min-width: 75rem)');
  const [chosen, setChosen] = useState('Count');
  const [said, setSaid] = useState<string | null>(null);
  const [first, last] = [from ?? days[0]?.day, to ?? days.at(-1)?.day];
  if (first === undefined || last === undefined) return <p>No requests in this period.</p>;
  const measures = [COUNT(days), ...totals.map(amountsOf)];
  const {
    name: measured,
    inWords,
    days: shown,
  } = measures.find(({ name }) => name === chosen) ?? (measures[0] as Measure);
  const buckets = bucketsOf(shown, first, last, is_wide ? MAX_BARS : MAX_BARS_NARROW);
  const highest = Math.max(...buckets.map((each) => each.allow + each.review + each.deny));
  if (highest === 0) return <p>No requests in this period.</p>;
  const [middle, top] = ticksFor(highest);
  const ofKinds = (counts: Counts) =>
    KINDS.map((kind) => {
      const [value, name] = [inWords(counts[kind]), words(kind.toUpperCase()).toLowerCase()];
      return measured === 'Count' ? `${value} ${name}` : `${name} ${value}`;
    }).join(', ');
  return (
    <figure>
      {measures.length > 1 && (
        <Switch
          label="Measure"
          options={measures.map(({ name }) => name)}
          value={measured}
          onValue={(value) => {
            setChosen(value);
            setSaid(null);
          }}
        />
      )}
      <div className={styles.plot}>
        <div className={styles.ticks} aria-hidden="true">
          <span>{inWords(top)}</span>
          <span>{Number.isInteger(middle) && inWords(middle)}</span>
          <span>0</span>
        </div>
        <div className={styles.bars}>
          {buckets.map((each) => {
            const span = `${each.from === each.to ? '' : `${dayInWords(each.from)} to `}${dayInWords(each.to)}`;
            const name = `${span}: ${ofKinds(each)}`;
            return (
              <Link
                key={each.from}
                className={styles.day}
                to={path}
                search={{ ...search, from: each.from, to: each.to }}
                aria-label={name}
                onMouseEnter={() => setSaid(name)}
                onFocus={() => setSaid(name)}
              >
                {KINDS.filter((kind) => each[kind] > 0).map((kind) => (
                  <span
                    key={kind}
                    className={styles[kind]}
                    style={{ height: `${(each[kind] / top) * 100}%` }}
                  />
                ))}
              </Link>
            );
          })}
        </div>
      </div>
      <div className={styles.axis} aria-hidden="true">
        <span>{dayInWords(first)}</span>
        {first !== last && <span>{dayInWords(last)}</span>}
      </div>
      <p className={styles.said} aria-hidden="true">
        {said ?? 'Point at a bar, or move to it with Tab, for its values.'}
      </p>
      <details className={styles.behind}>
        <summary>As a table</summary>
        <div className={styles.table}>
          <table>
            <caption>
              {measured === 'Count'
                ? 'Decisions by day (UTC)'
                : `Requested amounts by day (UTC), ${measured}`}
            </caption>
            <thead>
              <tr>
                <th scope="col">Day</th>
                {KINDS.map((kind) => (
                  <th key={kind} scope="col">
                    {words(kind.toUpperCase())}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((each) => (
                <tr key={each.day}>
                  <th scope="row">{dayInWords(each.day)}</th>
                  {KINDS.map((kind) => (
                    <td key={kind}>{inWords(each[kind])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
