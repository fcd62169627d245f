import { type ReactNode, useEffect, useId, useRef } from 'react';
import { cx } from '../lib/cx.ts';
import { RecordedAs } from './Author.tsx';
import styles from './Dialog.module.css';

/**
 * A modal dialog. The browser keeps the focus inside and returns it afterwards. The dialog is open while it is rendered.
 * Escape and the close button call `onClose`.
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
  // The focused element may be gone, as when a secret replaces a form.
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

/** Focuses the first field or the last button. The browser would choose the close button. */
function focusFirst(dialog: HTMLDialogElement): void {
  const field = 'input:not([readonly], [type="checkbox"]), select, textarea';
  const first = dialog.querySelector<HTMLElement>(`[data-body] :is(${field})`);
  (first ?? dialog.querySelector<HTMLElement>('[data-actions] button:last-child'))?.focus();
}

/**
 * The row of buttons at the end of a dialog or form. `recorded` shows under which name the history will record the action.
 */
export function Actions({ recorded = false, children }: { recorded?: boolean; children: ReactNode }) {
  return (
    <div className={styles.actions} data-actions>
      {recorded && <RecordedAs className={styles.as} />}
      {children}
    </div>
  );
}
