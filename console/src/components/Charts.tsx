import { Link } from '@tanstack/react-router';
import { cx } from '../lib/cx.ts';
import { daysBetween } from '../lib/days.ts';
import { localDay } from '../lib/time.ts';
import { words } from '../lib/words.ts';
import styles from './Charts.module.css';

/** How many decisions of each kind. */
export interface Counts {
  allow: number;
  review: number;
  deny: number;
}

const KINDS = ['allow', 'review', 'deny'] as const;
const ofKinds = (counts: Counts) =>
  KINDS.map((kind) => `${counts[kind]} ${words(kind.toUpperCase()).toLowerCase()}`).join(', ');

/**
 * Decisions by day. Every day of the span has its place, also where nothing was asked; each is a link to its decisions.
 * The same stands in a table for whoever does not see it.
 */
export function StackedBars({
  days,
  from,
  to,
  search = {},
}: {
  days: readonly (Counts & { day: string })[];
  /** The first and the last day to show; those of the first and last decisions when left out. */
  from?: string | undefined;
  to?: string | undefined;
  /** Further filters of the lists that the bars lead to. */
  search?: Record<string, string>;
}) {
  const by_day = new Map(days.map((each) => [each.day, each]));
  const [first, last] = [from ?? days[0]?.day, to ?? days.at(-1)?.day];
  if (first === undefined || last === undefined) return <p>Nothing was asked in this time.</p>;
  const span = daysBetween(first, last).map(
    (day) => by_day.get(day) ?? { day, allow: 0, review: 0, deny: 0 },
  );
  const highest = Math.max(1, ...span.map((each) => each.allow + each.review + each.deny));
  return (
    <figure>
      <div className={styles.bars}>
        {span.map((each) => (
          <Link
            key={each.day}
            className={styles.day}
            to="/decisions"
            search={{ ...search, from: each.day, to: each.day }}
            aria-label={`${localDay(each.day)}: ${ofKinds(each)}`}
            title={`${localDay(each.day)}: ${ofKinds(each)}`}
          >
            {KINDS.filter((kind) => each[kind] > 0).map((kind) => (
              <span
                key={kind}
                className={styles[kind]}
                style={{ height: `${(each[kind] / highest) * 100}%` }}
              />
            ))}
          </Link>
        ))}
      </div>
      <div className={styles.axis} aria-hidden="true">
        <span>{localDay(first)}</span>
        <span>highest {highest}</span>
        {first !== last && <span>{localDay(last)}</span>}
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

/** What the colours of the bars mean. */
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

/** How a row's decisions divide; the numbers stand beside it. */
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
