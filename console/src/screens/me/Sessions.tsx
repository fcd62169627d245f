import type { Session } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import styles from './Me.module.css';
import { userAgentWords } from './user-agent.ts';

/** The person's sessions, which they can end. */
export function Sessions() {
  const query = useQuery({
    queryKey: ['sessions'],
    queryFn: async () => (await purser.me.listSessions()).data,
  });
  const [are_ended, setEnded] = useState(false);
  const ending = useAction(async (which: string) => {
    setEnded(false);
    await (which === 'others' ? purser.me.endOtherSessions() : purser.me.endSession(which));
    await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    setEnded(which === 'others');
  });
  const has_others = query.data?.some((each) => !each.current) === true;
  const columns: readonly Column<Session>[] = [
    {
      name: 'Browser',
      heading: true,
      wrap: true,
      cell: (each) => (
        <span title={each.user_agent ?? undefined}>
          {userAgentWords(each.user_agent)} {each.current && <Badge tone="accent">This session</Badge>}
        </span>
      ),
    },
    { name: 'Address', cell: (each) => each.client_address ?? '' },
    { name: 'Last seen', cell: (each) => <Time at={each.last_seen_at} /> },
    { name: 'Signed in', cell: (each) => <Time at={each.created_at} /> },
    { name: 'Expires', cell: (each) => <Time at={each.expires_at} /> },
    {
      name: 'Actions',
      hideName: true,
      cell: (each) =>
        !each.current && (
          <Button small disabled={ending.busy} onClick={() => void ending.run(each.id)}>
            End session
          </Button>
        ),
    },
  ];
  return (
    <Card
      title="Sessions"
      flush
      aside={
        has_others && (
          <Button small disabled={ending.busy} onClick={() => void ending.run('others')}>
            End other sessions
          </Button>
        )
      }
    >
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      <div role="status">
        {are_ended && (
          <div className={styles.notice}>
            <Notice tone="good">Your other sessions have ended.</Notice>
          </div>
        )}
      </div>
      {ending.error !== null && (
        <div className={styles.notice}>
          <ErrorNotice error={ending.error} />
        </div>
      )}
      {query.isPending && <Loading lines={3} />}
      {query.data !== undefined && (
        <Table label="Sessions" columns={columns} rows={query.data} keyOf={(each) => each.id} />
      )}
    </Card>
  );
}
