import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './Button.module.css';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'primary' | 'danger' | 'danger-primary' | 'quiet' | undefined;
  small?: boolean | undefined;
  /** The action is running: the button shows it and ignores clicks. */
  busy?: boolean | undefined;
  /** The reason why the button is disabled, shown as its tooltip. A reason disables it. */
  why?: string | false | null | undefined;
  /** The shortcut shown in the button. Its accessible name does not include it. */
  shortcut?: string | undefined;
  children: ReactNode;
}

/** The class of a button, for links that look like buttons. */
export function buttonClass(kind?: ButtonProps['kind'], small?: boolean): string {
  return cx(
    styles.button,
    (kind === 'primary' || kind === 'danger-primary') && styles.primary,
    (kind === 'danger' || kind === 'danger-primary') && styles.danger,
    kind === 'quiet' && styles.quiet,
    small && styles.small,
  );
}

/** A button of type "button" unless set otherwise. While busy it ignores clicks and keeps the focus. */
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
      // A disabled button would lose the focus for good.
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
