import { useMay } from '../api/queries.ts';
import { Card, Empty } from './Page.tsx';

/** What stands in the place of a screen's content for somebody whose role has no leave to read it. */
export function AdminOnly({ what, children }: { what: string; children: React.ReactNode }) {
  if (useMay('admin')) return children;
  return (
    <Card>
      <Empty title={`Only administrators see ${what}`}>
        <p>Your role has no leave to read this. An administrator can change your role in Team.</p>
      </Empty>
    </Card>
  );
}
