import { useMay } from '../api/queries.ts';
import { Card, Empty } from './Page.tsx';

/** Shows `children` to administrators. Others see that their role cannot read them. */
export function AdminOnly({ what, children }: { what: string; children: React.ReactNode }) {
  if (useMay('admin')) return children;
  return (
    <Card>
      <Empty title={`Only administrators can see ${what}`}>
        <p>Your role does not have access. An administrator can change your role in Team.</p>
      </Empty>
    </Card>
  );
}
