import type { Invitation } from '@purser/sdk';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { invalidate } from '../../api/live.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { withEach } from '../../lib/pages.ts';
import { words } from '../../lib/words.ts';
import styles from './Team.module.css';

const CSV: CsvColumns<Invitation> = [
  ['id', (each) => each.id],
  ['email', (each) => each.email],
  ['role', (each) => each.role],
  ['principal_id', (each) => each.principal_id],
  ['status', (each) => each.status],
  ['created_at', (each) => each.created_at],
  ['expires_at', (each) => each.expires_at],
];

/** The workspace's invitations. Ended ones are hidden by default. */
export function Invitations() {
  const fetchPage = (page: PageQuery) => purser.invitations.list(page);
  const list = useList<Invitation>(['team', 'invitations'], fetchPage, {
    mode: 'first',
    idOf: (each) => each.id,
  });
  const [shows_all, setShowsAll] = useState(false);
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  const pending = list.rows.filter(({ status }) => status === 'pending');
  const rows = shows_all ? list.rows : pending;
  const hidden = list.rows.length - pending.length;
  const columns: readonly Column<Invitation>[] = [
    { name: 'E-mail', heading: true, wrap: true, cell: (each) => each.email },
    { name: 'Role', cell: (each) => words(each.role) },
    { name: 'Reviews as', short: true, cell: (each) => each.principal_id ?? '' },
    { name: 'Status', cell: (each) => <StateBadge state={each.status} /> },
    { name: 'Invited', cell: (each) => <Time at={each.created_at} /> },
    { name: 'Expires', cell: (each) => <Time at={each.expires_at} /> },
    {
      name: 'Actions',
      hideName: true,
      cell: (each) =>
        each.status === 'pending' && (
          <Button small kind="danger" onClick={() => setRevoking(each)}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <Card
      title="Invitations"
      flush={rows.length > 0}
      aside={
        <>
          {hidden > 0 && (
            <Button small kind="quiet" aria-pressed={shows_all} onClick={() => setShowsAll(!shows_all)}>
              {shows_all ? 'Hide ended' : `Show ${hidden} ended`}
            </Button>
          )}
          <ExportCsv
            name="invitations"
            what="invitations"
            columns={CSV}
            fetch={async (page) => {
              const { data, next_cursor } = await fetchPage(page);
              return { data: data.filter(({ status }) => shows_all || status === 'pending'), next_cursor };
            }}
          />
        </>
      }
    >
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={2} />}
      {list.isSuccess && rows.length === 0 && <p className={styles.soft}>No pending invitations.</p>}
      {rows.length > 0 && (
        <>
          <Table label="Invitations" columns={columns} rows={rows} keyOf={(each) => each.id} />
          <LoadMore query={list} />
        </>
      )}
      {revoking !== null && (
        <Confirm
          title={`Revoke the invitation for ${revoking.email}?`}
          action="Revoke"
          onClose={() => setRevoking(null)}
          work={async () => {
            await purser.invitations.delete(revoking.id);
            list.patch((pages) =>
              withEach(pages, (each) => (each.id === revoking.id ? { ...each, status: 'revoked' } : each)),
            );
            await invalidate('team');
          }}
        >
          <p>The link stops working. You can invite them again.</p>
        </Confirm>
      )}
    </Card>
  );
}
