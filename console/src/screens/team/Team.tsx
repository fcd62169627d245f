import type { Member } from '@purser/sdk';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { useList } from '../../api/lists.ts';
import { meQuery, queryClient, useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { AdminOnly } from '../../components/AdminOnly.tsx';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { SelectField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Loading, Page } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { CodeBlock, Time } from '../../components/Value.tsx';
import { useAction } from '../../lib/use-action.ts';
import { words } from '../../lib/words.ts';
import { Invitations } from './Invitations.tsx';
import { Invite } from './Invite.tsx';
import { ROLES } from './roles.ts';
import { SignIns } from './SignIns.tsx';
import styles from './Team.module.css';

export default function Team() {
  const may = useMay('admin');
  const [is_inviting, setInviting] = useState(false);
  return (
    <Page
      title="Team"
      lead="The people of this workspace. Nobody signs up: people come by invitation, or through your identity provider."
      actions={
        <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      <AdminOnly what="the team">
        <Members is_still={is_inviting} />
        <Invitations />
        <SignIns />
        <details className={styles.forgot}>
          <summary>Somebody forgot their password?</summary>
          <p>Whoever runs the service prints them a link that sets a new one:</p>
          <CodeBlock
            label="the command"
            code="npm run -s purser -- user reset-link --email them@example.com"
          />
        </details>
      </AdminOnly>
      {is_inviting && <Invite onClose={() => setInviting(false)} />}
    </Page>
  );
}

/** `is_still`: roles are told and not to be chosen, so that the dialog's field is the only one of its name. */
function Members({ is_still }: { is_still: boolean }) {
  const list = useList<Member>(['team', 'members'], (cursor) => purser.members.list({ cursor, limit: 50 }));
  const [removing, setRemoving] = useState<Member | null>(null);
  const changing = useAction(async (user_id: string, role: Member['role']) => {
    try {
      await purser.members.update(user_id, { role });
    } finally {
      await queryClient.invalidateQueries({ queryKey: ['team'] });
    }
  });
  const me = useMe();
  const columns: readonly Column<Member>[] = [
    {
      name: 'Name',
      heading: true,
      wrap: true,
      cell: (each) => (
        <>
          {each.name} {each.user_id === me.user.id && <Badge>You</Badge>}
          <div className={styles.soft}>{each.email}</div>
        </>
      ),
    },
    {
      name: 'Role',
      cell: (each) =>
        is_still ? (
          words(each.role)
        ) : (
          <SelectField
            label={`Role of ${each.name}`}
            hideLabel
            className={styles.role}
            value={each.role}
            disabled={changing.busy}
            options={ROLES.map(({ role }) => [role, words(role)])}
            onValue={(role) => void changing.run(each.user_id, role as Member['role'])}
          />
        ),
    },
    {
      name: 'Reviews as',
      short: true,
      cell: (each) => <code title={each.principal_id}>{each.principal_id}</code>,
    },
    {
      name: 'Last seen',
      cell: (each) => (each.last_seen_at === null ? 'Never' : <Time at={each.last_seen_at} />),
    },
    { name: 'Joined', cell: (each) => <Time at={each.joined_at} /> },
    {
      name: 'Actions',
      hideName: true,
      cell: (each) => (
        <Button small kind="danger" onClick={() => setRemoving(each)}>
          Remove
        </Button>
      ),
    },
  ];
  return (
    <Card title="Members" flush>
      {changing.error !== null && (
        <div className={styles.notice}>
          <ErrorNotice error={changing.error} title="The role was not changed." />
        </div>
      )}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.isSuccess && (
        <>
          <Table label="Members" columns={columns} rows={list.rows} keyOf={(each) => each.user_id} />
          <LoadMore query={list} />
        </>
      )}
      {removing !== null && <Remove member={removing} onClose={() => setRemoving(null)} />}
    </Card>
  );
}

function Remove({ member, onClose }: { member: Member; onClose: () => void }) {
  const is_me = useMe().user.id === member.user_id;
  return (
    <Confirm
      title={is_me ? 'Remove yourself?' : `Remove ${member.name}?`}
      action="Remove"
      onClose={onClose}
      work={async () => {
        await purser.members.delete(member.user_id);
        await queryClient.invalidateQueries({ queryKey: is_me ? meQuery.queryKey : ['team'] });
      }}
    >
      <p>
        {is_me ? 'Your' : 'Their'} sessions end with the next click, on every node. Reviews and labels stay as
        they are, attributed to <code>{member.principal_id}</code>.
      </p>
      <Notice tone="warn">
        Keys that {is_me ? 'you' : 'they'} made go on working: look at Keys, and revoke what should stop.
      </Notice>
    </Confirm>
  );
}
