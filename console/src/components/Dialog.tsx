import { type ReactNode, useEffect, useId, useRef } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './Dialog.module.css';
import { RecordedAs } from './Who.tsx';

/**
 * A modal dialog: the browser keeps the focus inside, and gives it back. It is there as long as it is rendered;
 * `onClose` is called for Escape and the closing button.
 */
export function Dialog({
  title,
  wide,
  onClose,
  children,
}: {
  title: string;
  wide?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    if (element !== null && !element.open) {
      element.showModal();
      focusFirst(element);
    }
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  // What had the focus may be gone, as a form is in whose place a secret stands.
  useEffect(() => {
    const element = dialog.current;
    if (element?.open === true && document.activeElement === document.body) focusFirst(element);
  });
  return (
    <dialog
      ref={dialog}
      className={cx(styles.dialog, wide === true && styles.wide)}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className={styles.head}>
        <h2 id={id}>{title}</h2>
        <button type="button" className={styles.close} aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      <div className={styles.body} data-body>
        {children}
      </div>
    </dialog>
  );
}

/** Focuses the first field, or the last button; the browser would choose the closing button. */
function focusFirst(dialog: HTMLDialogElement): void {
  const field = 'input:not([readonly], [type="checkbox"]), select, textarea';
  const first = dialog.querySelector<HTMLElement>(`[data-body] :is(${field})`);
  (first ?? dialog.querySelector<HTMLElement>('[data-actions] button:last-child'))?.focus();
}

/**
 * The row of buttons at the end of a dialog or form. `recorded`: what they do is written to the history, so they say under
 * whose name.
 */
export function Actions({ recorded = false, children }: { recorded?: boolean; children: ReactNode }) {
  return (
    <div className={styles.actions} data-actions>
      {recorded && <RecordedAs className={styles.as} />}
      {children}
    </div>
  );
}
