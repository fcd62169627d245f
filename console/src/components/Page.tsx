import { type ReactNode, useEffect, useId } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './Page.module.css';

/** The layout of a screen with heading, actions and content. Sets the document title. */
export function Page({
  title,
  above,
  badges,
  actions,
  lead,
  width,
  children,
}: {
  title: string;
  /** A back link above the heading. */
  above?: ReactNode;
  badges?: ReactNode;
  actions?: ReactNode;
  lead?: ReactNode;
  width?: 'narrow' | 'wide' | undefined;
  children: ReactNode;
}) {
  useTitle(title);
  return (
    <div className={cx(styles.page, width === 'wide' && styles.wide, width === 'narrow' && styles.narrow)}>
      <header className={styles.head}>
        {above !== undefined && <div className={styles.above}>{above}</div>}
        <div className={styles.title}>
          <h1>{title}</h1>
          {badges}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        {lead !== undefined && <p className={styles.lead}>{lead}</p>}
      </header>
      {children}
    </div>
  );
}

/** Sets the document title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === 'Purser' ? title : `${title} · Purser`;
  }, [title]);
}

/** A section with a heading. `flush` removes the padding, as for tables. */
export function Card({
  title,
  aside,
  flush,
  children,
}: {
  title?: string | undefined;
  aside?: ReactNode;
  flush?: boolean;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={styles.card} aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <div className={styles.cardHead}>
          <h2 id={id}>{title}</h2>
          {aside}
        </div>
      )}
      <div className={flush === true ? styles.flush : styles.cardBody}>{children}</div>
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
