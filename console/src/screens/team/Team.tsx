import type { Member } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { invalidate } from '../../api/live.ts';
import { meQuery, queryClient, useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { AdminOnly } from '../../components/AdminOnly.tsx';
import { RecordedAs } from '../../components/Author.tsx';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { SelectField } from '../../components/Field.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Loading, Page } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { CodeBlock, Time } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { withEach } from '../../lib/pages.ts';
import { words } from '../../lib/words.ts';
import { Invitations } from './Invitations.tsx';
import { Invite } from './Invite.tsx';
import { ROLES } from './roles.ts';
import { SignIns } from './SignIns.tsx';
import styles from './Team.module.css';

const CSV: CsvColumns<Member> = [
  ['user_id', (each) => each.user_id],
  ['email', (each) => each.email],
  ['name', (each) => each.name],
  ['role', (each) => each.role],
  ['principal_id', (each) => each.principal_id],
  ['joined_at', (each) => each.joined_at],
  ['last_seen_at', (each) => each.last_seen_at],
];

export default function Team() {
  const may = useMay('admin');
  const [is_inviting, setInviting] = useState(false);
  return (
    <Page
      title="Team"
      lead="The people in this workspace. They join by invitation or through your identity provider."
      actions={
        <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      <AdminOnly what="the team">
        <Members is_static={is_inviting} />
        <Invitations />
        <SignIns />
        <details className={styles.forgot}>
          <summary>Forgotten password</summary>
          <p>The operator of this service can print a link to set a new one:</p>
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

const fetchMembers = (page: PageQuery) => purser.members.list(page);

/** `is_static` shows roles as text, so that the dialog's field is the only one with its name. */
function Members({ is_static }: { is_static: boolean }) {
  const list = useList<Member>(['team', 'members'], fetchMembers, {
    mode: 'first',
    idOf: (each) => each.user_id,
  });
  const [leaving, setLeaving] = useState<Leaving | null>(null);
  const changing = useAction(async (user_id: string, role: Member['role']) => {
    try {
      const now = await purser.members.update(user_id, { role });
      list.patch((pages) => withEach(pages, (each) => (each.user_id === user_id ? now : each)));
    } finally {
      await invalidate('team');
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
          {each.status === 'disabled' && <Badge tone="deny">Disabled</Badge>}
          {each.pending && <Badge>Not joined yet</Badge>}
          <div className={styles.soft}>{each.email}</div>
        </>
      ),
    },
    {
      name: 'Role',
      cell: (each) =>
        is_static ? (
          words(each.role)
        ) : (
          <SelectField
            label={`Role of ${each.name}`}
            hideLabel
            className={styles.role}
            value={each.role}
            disabled={changing.busy}
            options={ROLES.map(({ role }) => [role, words(role)])}
            onValue={(role) =>
              each.role === 'admin'
                ? setLeaving({ member: each, role: role as Member['role'] })
                : void changing.run(each.user_id, role as Member['role'])
            }
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
        <Button small kind="danger" onClick={() => setLeaving({ member: each, role: null })}>
          Remove
        </Button>
      ),
    },
  ];
  return (
    <Card
      title="Members"
      flush
      aside={<ExportCsv name="members" what="members" columns={CSV} fetch={fetchMembers} />}
    >
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
          <p className={styles.notice}>
            <RecordedAs />
          </p>
        </>
      )}
      {leaving !== null && (
        <Leave
          of={leaving}
          onClose={() => setLeaving(null)}
          work={async (keep_keys) => {
            const { member, role } = leaving;
            const query = keep_keys ? { keep_keys } : {};
            if (role !== null) {
              const now = await purser.members.update(member.user_id, { role }, query);
              list.patch((pages) => withEach(pages, (each) => (each.user_id === now.user_id ? now : each)));
            } else {
              await purser.members.delete(member.user_id, query);
              list.patch((pages) =>
                withEach(pages, (each) => (each.user_id === member.user_id ? null : each)),
              );
            }
          }}
        />
      )}
    </Card>
  );
}

/** A member who is removed, or with `role` loses the administrator role. */
interface Leaving {
  member: Member;
  role: Member['role'] | null;
}

function Leave({
  of: { member, role },
  work,
  onClose,
}: {
  of: Leaving;
  work: (keep_keys: boolean) => Promise<void>;
  onClose: () => void;
}) {
  const is_me = useMe().user.id === member.user_id;
  const [keep_keys, setKeep] = useState(false);
  const name = is_me ? 'yourself' : member.name;
  const their = is_me ? 'Your' : 'Their';
  return (
    <Confirm
      title={role === null ? `Remove ${name}?` : `Make ${name} a ${words(role).toLowerCase()}?`}
      action={role === null ? 'Remove' : 'Change role'}
      onClose={onClose}
      work={async () => {
        await work(keep_keys);
        if (is_me) await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
        void invalidate('team');
        void invalidate('keys');
      }}
    >
      <p>
        {their} sessions end at once
        {member.role === 'admin' &&
          `, and so do pending invitations by ${is_me ? 'you or your' : 'them or their'} keys`}
        . Reviews and labels stay, attributed to <code>{member.principal_id}</code>.
      </p>
      <KeysOf person={member.principal_id} keep_keys={keep_keys} onKeep={setKeep} />
    </Confirm>
  );
}

/** A person's active keys, with the choice to revoke those with `admin` scope. */
function KeysOf({
  person,
  keep_keys,
  onKeep,
}: {
  person: string;
  keep_keys: boolean;
  onKeep: (keep: boolean) => void;
}) {
  const query = useQuery({
    queryKey: ['keys', 'of', person],
    queryFn: () => purser.apiKeys.list({ person, status: ['active'], limit: 200 }),
  });
  if (query.isPending) return <Loading />;
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  const keys = query.data.data;
  const admin = keys.filter(({ scopes }) => scopes.includes('admin'));
  const others = keys.length - admin.length;
  const more = query.data.next_cursor === null ? '' : ' or more';
  return (
    <>
      {admin.length > 0 && (
        <Notice
          tone="warn"
          title={`${admin.length}${more} admin ${admin.length === 1 ? 'key belongs' : 'keys belong'} to this person.`}
        >
          <ul>
            {admin.map(({ id, name, hint }) => (
              <li key={id}>
                “{name}” <code>{hint}</code>
              </li>
            ))}
          </ul>
          <label>
            <input
              type="checkbox"
              checked={!keep_keys}
              onChange={(event) => onKeep(!event.currentTarget.checked)}
            />{' '}
            Revoke these keys
          </label>
        </Notice>
      )}
      {others > 0 && (
        <Notice>
          {others}
          {more} of their keys without admin rights {others === 1 ? 'keeps' : 'keep'} working. Revoke them in
          Keys if needed.
        </Notice>
      )}
    </>
  );
}
