import type { ReactNode } from 'react';
import { Notice } from './Notice.tsx';
import { CodeBlock } from './Value.tsx';

/** Shows a secret once. It lives only in the state of the component that renders it. */
export function ShownOnce({
  title,
  secret,
  label,
  children,
}: {
  title: string;
  secret: string;
  /** Name of the secret, for the copy button. */
  label: string;
  children?: ReactNode;
}) {
  return (
    <div style={{ display: 'grid', gap: '0.75rem', gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <Notice tone="warn" title={title}>
        Purser does not store it in readable form and cannot show it again. Save it before you close this
        dialog.
      </Notice>
      <CodeBlock label={label} code={secret} />
      {children}
    </div>
  );
}
