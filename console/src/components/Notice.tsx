import { APIError, PurserError } from '@purser/sdk';
import type { ReactNode } from 'react';
import { sentenceOf } from '../api/client.ts';
import { cx } from '../lib/cx.ts';
import { Button } from './Button.tsx';
import styles from './Notice.module.css';

/** An inline message. Screen readers announce `bad` at once. */
export function Notice({
  tone = 'plain',
  title,
  children,
  actions,
}: {
  tone?: 'plain' | 'good' | 'warn' | 'bad';
  title?: string | undefined;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div
      className={cx(styles.notice, tone !== 'plain' && styles[tone])}
      role={tone === 'bad' ? 'alert' : 'note'}
    >
      <div>
        {title !== undefined && <strong>{title}</strong>}
        {children !== undefined && <div>{children}</div>}
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
    </div>
  );
}

/** An error with its request ID, which the service's log has too, and an optional retry button. */
export function ErrorNotice({
  error,
  title,
  onRetry,
}: {
  error: unknown;
  title?: string | undefined;
  onRetry?: (() => void) | undefined;
}) {
  // Trying again cannot find something that does not exist.
  const is_gone = error instanceof APIError && error.status === 404;
  const request_id = error instanceof PurserError ? error.requestId : undefined;
  return (
    <Notice
      tone="bad"
      title={title}
      actions={
        onRetry !== undefined &&
        !is_gone && (
          <Button small onClick={onRetry}>
            Try again
          </Button>
        )
      }
    >
      {sentenceOf(error)}
      {request_id !== undefined && (
        <>
          {' '}
          <span className={styles.request}>
            Request <code>{request_id}</code>
          </span>
        </>
      )}
    </Notice>
  );
}
