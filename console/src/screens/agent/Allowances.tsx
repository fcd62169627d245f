import type { AgentWithBudgets, Allowance } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { AllowanceLink } from '../../components/allowances/AllowanceLink.tsx';
import { AllowanceUse } from '../../components/allowances/AllowanceUse.tsx';
import { usedTimes } from '../../components/allowances/allowances.ts';
import { RevokeAllowance, useMayRevoke } from '../../components/allowances/RevokeAllowance.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';

const SHOWN = 20;

/** The agent's open allowances, standing approvals among them. */
export function AgentAllowances({ agent: { id, slug } }: { agent: AgentWithBudgets }) {
  const may_end = useMayRevoke();
  const query = useQuery({
    queryKey: ['allowances', 'of', id],
    queryFn: async () =>
      (await purser.allowances.list({ agent: id, status: ['OPEN', 'EXHAUSTED'], limit: SHOWN })).data,
  });
  const rows = query.data ?? [];
  return (
    <Card
      title="Allowances"
      flush={rows.length > 0}
      aside={
        <Link to="/allowances" search={{ agent: slug }}>
          View all
        </Link>
      }
    >
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && <p>No open allowances.</p>}
      {rows.length > 0 && (
        <Table<Allowance>
          label="Allowances"
          rows={rows}
          keyOf={(each) => each.id}
          columns={[
            {
              name: 'Name',
              heading: true,
              wrap: true,
              cell: (each) => <AllowanceLink allowance={each} />,
            },
            { name: 'Spent', cell: (each) => <AllowanceUse allowance={each} /> },
            { name: 'Spends', cell: usedTimes },
            { name: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
            {
              name: 'Actions',
              hideName: true,
              cell: (each) => may_end && <RevokeAllowance allowance={each} />,
            },
          ]}
        />
      )}
    </Card>
  );
}
