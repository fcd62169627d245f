import type { BurnDown as Curve } from '@purser/sdk';
import { curveStepAfter, line } from 'd3-shape';
import { useState } from 'react';
import { formatMoney, majorUnits } from '../../lib/money.ts';
import { dayInWords, localTime } from '../../lib/time.ts';
import styles from './BurnDown.module.css';
import charts from './charts.module.css';

const WIDTH = 600;
const HEIGHT = 140;
const DAY_MS = 86_400_000;
/** A period without an end, of a budget in total, is drawn to this long after now. */
const AHEAD_MS = 30 * DAY_MS;

/** Points of the curve that can be pointed at are this far apart, so that each has a target of 24 px on a phone too. */
const APART = WIDTH / 10;

/** The newest point, and of those before it each that is far enough from the one after it. */
function spaced<Point extends { x: number }>(points: readonly Point[]): Point[] {
  const kept: Point[] = [];
  for (const point of points.toReversed())
    if (kept[0] === undefined || kept[0].x - point.x >= APART) kept.unshift(point);
  return kept;
}

/**
 * How a budget is used up: what remained, the even pace to zero, and where the present pace leads. Each point says its values
 * when it has the pointer or the focus. The table below has the same numbers.
 */
export function BurnDown({ curve }: { curve: Curve }) {
  const { currency, limit_minor, used_minor, points, thresholds, used_up_at } = curve;
  const [said, setSaid] = useState<string | null>(null);
  const [begin, now] = [Date.parse(curve.starts_at), Date.parse(curve.generated_at)];
  const end = Math.min(
    Date.parse(curve.ends_at),
    Math.max(now, Date.parse(used_up_at ?? '') || 0) + AHEAD_MS,
  );
  const x = (at_ms: number) => ((at_ms - begin) / Math.max(1, end - begin)) * WIDTH;
  const y = (minor: number) => HEIGHT - (minor / Math.max(1, limit_minor)) * HEIGHT;
  const drawn = points.map((each) => ({ ...each, x: x(Date.parse(each.at)), y: y(each.remaining_minor) }));
  const remained = line<(typeof drawn)[number]>(
    (each) => each.x,
    (each) => each.y,
  ).curve(curveStepAfter)(drawn);
  const left_minor = Math.max(0, limit_minor - used_minor);
  const pace = used_minor / Math.max(1, now - begin);
  const at_end = used_up_at === null ? Math.max(0, left_minor - pace * (end - now)) : 0;
  const target = x(used_up_at === null ? end : Date.parse(used_up_at));
  const outlook =
    left_minor === 0
      ? 'Nothing remains.'
      : used_up_at !== null
        ? `At this pace used up on ${dayInWords(used_up_at.slice(0, 10))} (UTC).`
        : used_minor === 0
          ? 'Nothing used so far.'
          : 'At this pace it lasts for the period.';
  return (
    <figure className={styles.figure}>
      <p>
        {formatMoney(used_minor, currency)} of {majorUnits(limit_minor, currency)} used now.{' '}
        <strong>{outlook}</strong>
      </p>
      <div className={charts.plot}>
        <div className={charts.ticks} aria-hidden="true">
          <span>{formatMoney(limit_minor, currency)}</span>
          <span>{formatMoney(Math.round(limit_minor / 2), currency)}</span>
          <span>0</span>
        </div>
        <div className={styles.area}>
          <svg
            className={styles.plot}
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            <line className={styles.tick} x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
            {thresholds.map((minor) => (
              <line key={minor} className={styles.threshold} x1={0} x2={WIDTH} y1={y(minor)} y2={y(minor)} />
            ))}
            <line className={styles.even} x1={0} y1={0} x2={x(Date.parse(curve.ends_at))} y2={HEIGHT} />
            {left_minor > 0 && used_minor > 0 && (
              <line className={styles.ahead} x1={x(now)} y1={y(left_minor)} x2={target} y2={y(at_end)} />
            )}
            <path className={styles.remained} d={remained ?? ''} />
          </svg>
          <ul className={styles.points} aria-label="What remained">
            {spaced(drawn).map((each) => {
              const name = `${localTime(each.at)}: ${formatMoney(each.remaining_minor, currency)} remained`;
              return (
                <li
                  key={each.at}
                  style={{ left: `${(each.x / WIDTH) * 100}%`, top: `${(each.y / HEIGHT) * 100}%` }}
                >
                  <button
                    type="button"
                    aria-label={name}
                    onMouseEnter={() => setSaid(name)}
                    onFocus={() => setSaid(name)}
                  />
                </li>
              );
            })}
          </ul>
        </div>
      </div>
      <div className={charts.axis} aria-hidden="true">
        <span>{dayInWords(curve.starts_at.slice(0, 10))}</span>
        <span>{dayInWords(new Date(end - 1).toISOString().slice(0, 10))}</span>
      </div>
      <p className={charts.said} aria-hidden="true">
        {said ?? 'Line: what remained. Dashed: even pace. Dotted: where the present pace leads.'}
      </p>
      <details className={charts.behind}>
        <summary>As a table</summary>
        <div className={charts.table}>
          <table>
            <caption>
              Remainder after the last decision of each day, as it was then; the last row is now
            </caption>
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Remained</th>
              </tr>
            </thead>
            <tbody>
              {points.map((each) => (
                <tr key={each.at}>
                  <th scope="row">{localTime(each.at)}</th>
                  <td>{formatMoney(each.remaining_minor, currency)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {thresholds.length > 0 && (
          <p>Alerts when {thresholds.map((minor) => formatMoney(minor, currency)).join(', ')} remain.</p>
        )}
      </details>
    </figure>
  );
}
