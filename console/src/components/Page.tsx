import { useIsFetching } from '@tanstack/react-query';
import { createContext, type ReactNode, useEffect, useId, useState } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './Page.module.css';
import { guideOf } from './shell/guides.ts';

/** Link to the guide of a screen, if it has one. */
export function GuideLink({ screen }: { screen: string }) {
  const guide = guideOf(screen);
  if (guide === null) return null;
  return (
    <a className={styles.guide} href={guide} target="_blank" rel="noopener">
      Guide
    </a>
  );
}

/**
 * The layout of a screen with heading, actions and content, which appear together. Sets the document title.
 */
export function Page({
  title,
  screen = title,
  above,
  badges,
  actions,
  lead,
  width,
  children,
}: {
  title: string;
  /** The name of the screen, where the title is that of a record. */
  screen?: string;
  /** A back link above the heading. */
  above?: ReactNode;
  badges?: ReactNode;
  actions?: ReactNode;
  lead?: ReactNode;
  width?: 'narrow' | 'wide' | undefined;
  children: ReactNode;
}) {
  useTitle(title);
  const is_whole = useWhole();
  return (
    <div className={cx(styles.page, width === 'wide' && styles.wide, width === 'narrow' && styles.narrow)}>
      <header className={styles.head}>
        {above !== undefined && <div className={styles.above}>{above}</div>}
        <div className={styles.title}>
          <h1>{title}</h1>
          {badges}
          <GuideLink screen={screen} />
        </div>
        {actions !== undefined && (
          <div className={styles.actions} hidden={!is_whole}>
            {actions}
          </div>
        )}
        {lead !== undefined && lead !== false && (
          <p className={styles.lead} hidden={!is_whole}>
            {lead}
          </p>
        )}
      </header>
      {!is_whole && <Loading lines={10} />}
      <div className={styles.whole} hidden={!is_whole}>
        {children}
      </div>
    </div>
  );
}

/** A screen appears at the latest after this time, though some of its data is still loading. Milliseconds. */
const LATEST_MS = 1_500;
/** Data that depends on other data is asked for within this time after it. Milliseconds. */
const NEXT_MS = 40;

/**
 * True once all data of a screen has loaded for the first time. If its content appears only then, nothing on it moves
 * while the rest arrives.
 */
function useWhole(): boolean {
  const [is_whole, setWhole] = useState(false);
  const loading = useIsFetching({ predicate: ({ state }) => state.status === 'pending' });
  // The queries of the content begin in its own effects, which run before this one.
  const [is_mounted, setMounted] = useState(false);
  useEffect(() => {
    setMounted(true);
    const timer = setTimeout(() => setWhole(true), LATEST_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    if (!is_mounted || loading > 0) return;
    const timer = setTimeout(() => setWhole(true), NEXT_MS);
    return () => clearTimeout(timer);
  }, [is_mounted, loading]);
  return is_whole;
}

/** Sets the document title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === 'Purser' ? title : `${title} · Purser`;
  }, [title]);
}

/** The heading of the card around something. */
export const CardTitle = createContext<string | undefined>(undefined);

/** A section with a heading. `flush` removes the padding, as for tables. */
export function Card({
  title,
  aside,
  flush,
  screen_only,
  children,
}: {
  title?: string | undefined;
  aside?: ReactNode;
  flush?: boolean;
  /** True for what can only be used, and says nothing of the record: it is left out on paper. */
  screen_only?: boolean;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section
      className={styles.card}
      data-screen-only={screen_only || undefined}
      aria-labelledby={title === undefined ? undefined : id}
    >
      {title !== undefined && (
        <div className={styles.cardHead}>
          <h2 id={id}>{title}</h2>
          {aside}
        </div>
      )}
      <CardTitle value={title}>
        <div className={flush === true ? styles.flush : styles.cardBody}>{children}</div>
      </CardTitle>
    </section>
  );
}

export function CardGrid({ children }: { children: ReactNode }) {
  return <div className={styles.grid}>{children}</div>;
}

/** A list of names and values. Null entries are left out. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode] | null)[] }) {
  return (
    <dl className={styles.facts}>
      {of
        .filter((each) => each !== null)
        .map(([name, value]) => (
          <FactRow key={name} name={name} value={value} />
        ))}
    </dl>
  );
}

function FactRow({ name, value }: { name: string; value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/** An empty state: what is missing, why, and how to get it. */
export function Empty({
  title,
  children,
  action,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {children}
      {action}
    </div>
  );
}

/** A placeholder while content loads. */
export function Loading({ lines = 4 }: { lines?: number }) {
  const widths = ['82%', '64%', '74%', '48%', '68%', '56%'];
  return (
    <div className={styles.loading} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the placeholders are identical
        <span key={i} style={{ width: widths[i % widths.length] }} />
      ))}
    </div>
  );
}

/** A row of links or buttons that select the content of a screen. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className={styles.tabs}>
      {children}
    </nav>
  );
}
