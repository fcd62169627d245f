import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { buttonClass } from './Button.tsx';
import { ErrorNotice } from './Notice.tsx';
import { Empty, Page } from './Page.tsx';

/** Shown in place of a screen that failed. */
export function ScreenError({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="Something went wrong">
      <ErrorNotice error={error} onRetry={reset} />
    </Page>
  );
}

/** Shown for a URL without a screen. */
export function NotFound() {
  return (
    <Page title="Not found">
      <Empty title="This page does not exist">
        <p>The address may be mistyped or belong to another workspace.</p>
        <p>
          <Link to="/" className={buttonClass('primary')}>
            Go to Overview
          </Link>
        </p>
      </Empty>
    </Page>
  );
}
