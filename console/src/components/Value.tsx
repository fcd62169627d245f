import { useEffect, useRef, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { useNow } from '../lib/hooks/use-now.ts';
import { majorUnits } from '../lib/money.ts';
import { duration, listedTime, localTime } from '../lib/time.ts';
import styles from './Value.module.css';

/** An amount in major units with its currency: "EUR 54.40". */
export function Money({
  amount_minor,
  currency,
  className,
}: {
  amount_minor: number;
  currency: string;
  className?: string | undefined;
}) {
  return (
    <span className={cx(styles.money, className)}>
      <span className={styles.currency}>{currency} </span>
      {majorUnits(amount_minor, currency)}
    </span>
  );
}

/**
 * A time for lists: relative to now within a day, otherwise day and time. With `exact` always the whole time. The tooltip has
 * the exact times in the workspace's zone and in UTC.
 */
export function Time({ at, exact = false }: { at: string; exact?: boolean }) {
  const now_ms = useNow(10_000);
  return (
    <time dateTime={at} title={`${localTime(at)} · ${at} (UTC)`}>
      {exact ? localTime(at) : listedTime(Date.parse(at), now_ms)}
    </time>
  );
}

const URGENT_MS = 15 * 60_000;

/** The time left until a deadline. */
export function Countdown({ until, over = 'expired' }: { until: string; over?: string }) {
  const left_ms = Date.parse(until) - useNow();
  return (
    <time dateTime={until} title={localTime(until)} className={cx(left_ms < URGENT_MS && styles.urgent)}>
      {left_ms <= 0 ? over : `${duration(left_ms)} left`}
    </time>
  );
}

/** Copies a text and confirms it briefly. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      // Browsers offer no clipboard without HTTPS. The text can still be selected.
      setState('failed');
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState('ready'), 1600);
  };
  return (
    <button type="button" className={styles.copy} onClick={copy} aria-label={label}>
      <span role="status">
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Select to copy' : 'Copy'}
      </span>
    </button>
  );
}

/** An ID with a copy button. */
export function Id({ id }: { id: string }) {
  return (
    <span className={styles.id}>
      <code title={id}>{id}</code>
      <CopyButton text={id} label={`Copy ${id}`} />
    </span>
  );
}

/** Code with a copy button. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre>
          <code>{code}</code>
        </pre>
      </section>
      <CopyButton text={code} label={`Copy ${label}`} />
    </div>
  );
}
