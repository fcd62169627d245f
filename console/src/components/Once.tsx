import type { ReactNode } from 'react';
import { Notice } from './Notice.tsx';
import { CodeBlock } from './Value.tsx';

/** A secret that is shown this once: it lives in the state of what renders it, and is gone with that. */
export function ShownOnce({
  title,
  secret,
  label,
  children,
}: {
  title: string;
  secret: string;
  /** What it is, for the copy button's name. */
  label: string;
  children?: ReactNode;
}) {
  return (
    <div style={{ display: 'grid', gap: '0.75rem', gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <Notice tone="warn" title={title}>
        It is not kept anywhere in readable form and cannot be shown again. Put it where it belongs before you
        close this.
      </Notice>
      <CodeBlock label={label} code={secret} />
      {children}
    </div>
  );
}
