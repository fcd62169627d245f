import type { Import } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { useImports } from '../../api/history.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { formatCount } from '../../lib/money.ts';
import { ImportFile } from './ImportFile.tsx';
import { Problems } from './Problems.tsx';

export default function History() {
  const may = useMay('admin');
  const [is_importing, setImporting] = useState(false);
  return (
    <Page
      title="History"
      lead="Files of what cards, accounts and model providers say was paid. Lines decide nothing and count in no budget."
      actions={
        <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => setImporting(true)}>
          Import file
        </Button>
      }
    >
      <p>
        <Link to={'/history/report' as string}>What would have happened</Link> shows what a policy would have
        decided about these lines. <Link to={'/rails' as string}>Rails</Link> send lines by themselves.
      </p>
      <Imports />
      {is_importing && <ImportFile onClose={() => setImporting(false)} />}
    </Page>
  );
}

const COLUMNS: readonly Column<Import>[] = [
  { name: 'File', heading: true, wrap: true, cell: (each) => each.file_name },
  { name: 'Feed', short: true, cell: (each) => <span title={each.feed}>{each.feed}</span> },
  {
    name: 'Agent',
    short: true,
    cell: ({ agent }) => (agent === null ? '–' : <AgentName of={agent} />),
  },
  { name: 'Status', cell: (each) => <StateBadge state={each.status} title={each.failure?.message} /> },
  { name: 'Taken', number: true, cell: (each) => formatCount(each.lines.taken) },
  { name: 'Known', number: true, cell: (each) => formatCount(each.lines.present) },
  { name: 'Left out', number: true, cell: (each) => formatCount(each.lines.skipped) },
  { name: 'Bad', number: true, cell: (each) => formatCount(each.lines.bad) },
  { name: 'Created', cell: (each) => <Time at={each.created_at} /> },
];

function Imports() {
  const query = useImports();
  const may = useMay('admin');
  const [asked, setAsked] = useState<{ what: 'problems' | 'delete'; of: Import } | null>(null);
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading lines={6} />;
  return (
    <>
      <Card title="Imports" flush={query.data.length > 0}>
        {query.data.length === 0 ? (
          <Empty title="No imports yet">
            <p>
              Import a bank statement, a card export or a cost report to see what a policy would have done.
            </p>
          </Empty>
        ) : (
          <Table
            label="Imports"
            rows={query.data}
            keyOf={(each) => each.id}
            columns={[
              ...COLUMNS,
              {
                name: 'Actions',
                hideName: true,
                cell: (each) => (
                  <span>
                    {each.lines.bad > 0 && (
                      <Button
                        small
                        aria-label={`Problems of ${each.file_name}`}
                        onClick={() => setAsked({ what: 'problems', of: each })}
                      >
                        Problems
                      </Button>
                    )}{' '}
                    <Button
                      small
                      kind="danger"
                      aria-label={`Delete ${each.file_name}`}
                      why={!may && WHY_NOT.admin}
                      onClick={() => setAsked({ what: 'delete', of: each })}
                    >
                      Delete
                    </Button>
                  </span>
                ),
              },
            ]}
          />
        )}
      </Card>
      {asked?.what === 'problems' && <Problems of={asked.of} onClose={() => setAsked(null)} />}
      {asked?.what === 'delete' && (
        <Confirm
          title={`Delete the import of “${asked.of.file_name}”?`}
          action="Delete"
          onClose={() => setAsked(null)}
          work={async () => {
            await purser.imports.delete(asked.of.id);
            void invalidate('imports');
          }}
        >
          <p>
            Its {formatCount(asked.of.lines.taken)} lines are deleted, too. The ledger still shows that it was
            there.
          </p>
        </Confirm>
      )}
    </>
  );
}
