import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorNotice } from './Notice.tsx';
import { Empty, Page } from './Page.tsx';

/** A screen that could not be shown. */
export function ScreenError({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This did not work">
      <ErrorNotice error={error} onRetry={reset} />
    </Page>
  );
}

/** An address that names no screen. */
export function NotFound() {
  return (
    <Page title="Not found">
      <Empty title="There is nothing at this address">
        <p>It may have been mistyped, or be of another workspace.</p>
      </Empty>
    </Page>
  );
}
