import { Link } from '@tanstack/react-router';
import { cx } from '../lib/cx.ts';
import { bucketsOf, daysBetween } from '../lib/days.ts';
import { useMedia } from '../lib/hooks/use-media.ts';
import { dayInWords } from '../lib/time.ts';
import { words } from '../lib/words.ts';
import styles from './Charts.module.css';

/** Numbers of decisions by kind. */
export interface Counts {
  allow: number;
  review: number;
  deny: number;
}

/** The most bars that are each wide enough to tap. More days share a bar. */
const MAX_BARS = 31;
const MAX_BARS_NARROW = 11;

const KINDS = ['allow', 'review', 'deny'] as const;
const ofKinds = (counts: Counts) =>
  KINDS.map((kind) => `${counts[kind]} ${words(kind.toUpperCase()).toLowerCase()}`).join(', ');

/**
 * Decisions by day, including days without any. Each bar links to its decisions. A hidden table has the same numbers for
 * screen readers.
 */
export function StackedBars({
  days,
  from,
  to,
  search = {},
  path = '/decisions',
}: {
  days: readonly (Counts & { day: string })[];
  /** First and last day to show. Defaults to the first and last day in `days`. */
  from?: string | undefined;
  to?: string | undefined;
  /** More filters for the linked lists. */
  search?: Record<string, string>;
  /** The path of the linked list. */
  path?: string;
}) {
  const is_wide = useMedia('(min-width: 75rem)');
  const [first, last] = [from ?? days[0]?.day, to ?? days.at(-1)?.day];
  if (first === undefined || last === undefined) return <p>No requests in this period.</p>;
  const buckets = bucketsOf(days, first, last, is_wide ? MAX_BARS : MAX_BARS_NARROW);
  const highest = Math.max(...buckets.map((each) => each.allow + each.review + each.deny));
  if (highest === 0) return <p>No requests in this period.</p>;
  return (
    <figure>
      <div className={styles.bars}>
        {buckets.map((each) => {
          const name = `${each.from === each.to ? '' : `${dayInWords(each.from)} to `}${dayInWords(each.to)}: ${ofKinds(each)}`;
          return (
            <Link
              key={each.from}
              className={styles.day}
              to={path}
              search={{ ...search, from: each.from, to: each.to }}
              aria-label={name}
              title={name}
            >
              {KINDS.filter((kind) => each[kind] > 0).map((kind) => (
                <span
                  key={kind}
                  className={styles[kind]}
                  style={{ height: `${(each[kind] / highest) * 100}%` }}
                />
              ))}
            </Link>
          );
        })}
      </div>
      <div className={styles.axis} aria-hidden="true">
        <span>{dayInWords(first)}</span>
        <span>highest {highest}</span>
        {first !== last && <span>{dayInWords(last)}</span>}
      </div>
      <table className="visually-hidden">
        <caption>Decisions by day (UTC)</caption>
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
          {days.map((each) => (
            <tr key={each.day}>
              <th scope="row">{each.day}</th>
              {KINDS.map((kind) => (
                <td key={kind}>{each[kind]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

export function KindLegend() {
  return (
    <ul className={styles.legend}>
      {KINDS.map((kind) => (
        <li key={kind}>
          <i className={styles[kind]} aria-hidden="true" />
          {words(kind.toUpperCase())}
        </li>
      ))}
    </ul>
  );
}

/** Shares of a row's decisions by kind. The numbers are in the columns beside it. */
export function Share({ counts }: { counts: Counts }) {
  const whole = Math.max(1, counts.allow + counts.review + counts.deny);
  return (
    <div className={styles.share} aria-hidden="true">
      {KINDS.map((kind) => (
        <span key={kind} className={cx(styles[kind])} style={{ width: `${(counts[kind] / whole) * 100}%` }} />
      ))}
    </div>
  );
}

const SPARK_WIDTH = 96;
const SPARK_HEIGHT = 24;

/** A small line chart of counts by day, with a text alternative. */
export function Sparkline({
  days,
  from,
  to,
}: {
  days: readonly { day: string; count: number }[];
  from: string;
  to: string;
}) {
  const by_day = new Map(days.map(({ day, count }) => [day, count]));
  const counts = daysBetween(from, to).map((day) => by_day.get(day) ?? 0);
  const highest = Math.max(1, ...counts);
  const sum = counts.reduce((all, each) => all + each, 0);
  const step = SPARK_WIDTH / Math.max(1, counts.length - 1);
  const points = counts.map(
    (count, i) =>
      `${(i * step).toFixed(1)},${(SPARK_HEIGHT - 2 - (count / highest) * (SPARK_HEIGHT - 4)).toFixed(1)}`,
  );
  const summary = `${sum.toLocaleString('en-US')} in ${counts.length} days, up to ${Math.max(...counts)} per day`;
  return (
    <span className={styles.spark} title={summary}>
      <svg viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`} role="img" aria-label={summary}>
        <polyline points={points.join(' ')} />
      </svg>
      {sum.toLocaleString('en-US')}
    </span>
  );
}
