import type { ReactNode } from 'react';
import styles from './SkipLink.module.css';

/** A link for the keyboard, visible with the focus, to the element of this page with the id `to`, which takes the focus. */
export function SkipLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <a href={`#${to}`} className={styles.skip}>
      {children}
    </a>
  );
}
