import { type ReactNode, useId, useState } from 'react';
import styles from './Clamped.module.css';

/** Texts longer than this are shown in part. About four lines of a card. */
const SHORT = 220;
const SHORT_LINES = 4;

/** At most four lines of somebody else's text, with its length and a button for the rest: the writer never sets the layout. */
export function Clamped({ text, children }: { text: string; children: ReactNode }) {
  const [is_open, setOpen] = useState(false);
  const id = useId();
  const length = [...text].length;
  if (length <= SHORT && text.split('\n').length <= SHORT_LINES) return <div>{children}</div>;
  return (
    <div>
      <div id={id} className={is_open ? undefined : styles.clamped}>
        {children}
      </div>
      <p className={styles.more}>
        <button type="button" aria-expanded={is_open} aria-controls={id} onClick={() => setOpen(!is_open)}>
          {is_open ? 'Show less' : 'Show all'}
        </button>
        {length.toLocaleString('en')} characters
      </p>
    </div>
  );
}
