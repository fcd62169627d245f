import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './Button.module.css';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'primary' | 'danger' | 'danger-primary' | 'quiet' | undefined;
  small?: boolean | undefined;
  /** Work is under way: it cannot be pressed again, and says so. */
  busy?: boolean | undefined;
  /** Why it is disabled; shown as its description. A reason disables it. */
  why?: string | false | null | undefined;
  /** The key that presses it, shown in it. Its name for machines stays without it. */
  shortcut?: string | undefined;
  children: ReactNode;
}

/** The class of a button, for links that look like one. */
export function buttonClass(kind?: ButtonProps['kind'], small?: boolean): string {
  return cx(
    styles.button,
    (kind === 'primary' || kind === 'danger-primary') && styles.primary,
    (kind === 'danger' || kind === 'danger-primary') && styles.danger,
    kind === 'quiet' && styles.quiet,
    small && styles.small,
  );
}

/** A button. Not a submit button unless it is told to be. While it is busy it does nothing, and keeps the focus. */
export function Button({
  kind,
  small,
  busy,
  why,
  shortcut,
  children,
  disabled,
  onClick,
  ...rest
}: ButtonProps) {
  const reason = why === false || why === null || why === '' ? undefined : why;
  return (
    <button
      type="button"
      title={reason}
      {...rest}
      disabled={disabled === true || reason !== undefined}
      // The browser takes the focus from what is disabled, and could not give it back afterwards.
      aria-disabled={busy === true || undefined}
      aria-busy={busy === true || undefined}
      onClick={busy === true ? (event) => event.preventDefault() : onClick}
      className={cx(buttonClass(kind, small), rest.className)}
    >
      {busy === true && <span className={styles.spinner} aria-hidden="true" />}
      {children}
      {shortcut !== undefined && (
        <span className={styles.key} aria-hidden="true">
          {shortcut}
        </span>
      )}
    </button>
  );
}
