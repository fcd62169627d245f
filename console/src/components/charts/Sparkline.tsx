import { line } from 'd3-shape';
import { daysBetween } from '../../lib/days.ts';
import styles from './charts.module.css';

const grouped = (value: number) => value.toLocaleString('en-US');
const SPARK_WIDTH = 96;
const SPARK_HEIGHT = 24;

/** A small line chart of values by day, with a text alternative. `inWords` writes a value; by default a number. */
export function Sparkline({
  days,
  from,
  to,
  inWords = grouped,
  hideSum = false,
}: {
  days: readonly { day: string; count: number }[];
  from: string;
  to: string;
  inWords?: (value: number) => string;
  /** For a row that has the sum beside it. */
  hideSum?: boolean;
}) {
  const by_day = new Map(days.map(({ day, count }) => [day, count]));
  const counts = daysBetween(from, to).map((day) => by_day.get(day) ?? 0);
  const highest = Math.max(1, ...counts);
  const sum = counts.reduce((all, each) => all + each, 0);
  const step = SPARK_WIDTH / Math.max(1, counts.length - 1);
  const path = line<number>(
    (_, i) => i * step,
    (count) => SPARK_HEIGHT - 2 - (count / highest) * (SPARK_HEIGHT - 4),
  )(counts);
  const summary = `${inWords(sum)} in ${counts.length} days, up to ${inWords(Math.max(...counts))} per day`;
  return (
    <span className={styles.spark} title={summary}>
      <svg viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`} role="img" aria-label={summary}>
        <path d={path ?? ''} />
      </svg>
      {!hideSum && inWords(sum)}
    </span>
  );
}
