import type { SignIn } from '@purser/sdk';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { Badge, type Tone } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { words } from '../../lib/words.ts';
import styles from './Team.module.css';

const KINDS: Record<string, readonly [string, Tone]> = {
  ok: ['Signed in', 'allow'],
  wrong: ['Refused', 'review'],
  locked: ['Too many attempts', 'deny'],
  oidc_failed: ['Identity provider refused', 'review'],
  password_changed: ['Password changed', 'idle'],
  passkey_added: ['Passkey added', 'idle'],
  passkey_removed: ['Passkey removed', 'idle'],
  name_changed: ['Name changed', 'idle'],
  reset_link_made: ['Reset link created', 'review'],
  account_disabled: ['Account disabled', 'deny'],
  account_enabled: ['Account enabled', 'allow'],
};

const COLUMNS: readonly Column<SignIn>[] = [
  { name: 'Time', cell: (each) => <Time at={each.created_at} /> },
  { name: 'E-mail', heading: true, wrap: true, cell: (each) => each.email ?? '' },
  {
    name: 'Event',
    cell: (each) => {
      const [text, tone] = KINDS[each.kind] ?? [words(each.kind), 'idle'];
      return <Badge tone={tone}>{each.attempts > 1 ? `${text} (${each.attempts} times)` : text}</Badge>;
    },
  },
  { name: 'Method', cell: (each) => (each.method === null ? '' : words(each.method)) },
  { name: 'Address', cell: (each) => each.client_address ?? '' },
];

const CSV: CsvColumns<SignIn> = [
  ['id', (each) => each.id],
  ['created_at', (each) => each.created_at],
  ['kind', (each) => each.kind],
  ['email', (each) => each.email],
  ['user_id', (each) => each.user_id],
  ['method', (each) => each.method],
  ['client_address', (each) => each.client_address],
  ['attempts', (each) => each.attempts],
];

/** Sign-in history, loaded when opened. */
export function SignIns() {
  const [is_open, setOpen] = useState(false);
  return (
    <Card
      title="Sign-ins"
      flush={is_open}
      aside={
        <>
          <Button small kind="quiet" aria-expanded={is_open} onClick={() => setOpen(!is_open)}>
            {is_open ? 'Hide' : 'Show'}
          </Button>
          {is_open && (
            <ExportCsv
              name="sign-ins"
              what="sign-ins"
              columns={CSV}
              fetch={(page: PageQuery) => purser.signIns.list(page)}
            />
          )}
        </>
      }
    >
      {is_open ? (
        <>
          <List member />
          <h3 className={styles.soft}>Attempts with unknown e-mails, by hour and address</h3>
          <List member={false} />
        </>
      ) : (
        <p className={styles.soft}>Successful and refused sign-ins, with method and address.</p>
      )}
    </Card>
  );
}

function List({ member }: { member: boolean }) {
  const list = useList<SignIn>(
    ['team', 'sign-ins', member],
    (page) => purser.signIns.list({ member, ...page }),
    { mode: 'first', idOf: (each) => each.id },
  );
  if (list.isError && !list.isSuccess)
    return <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isPending) return <Loading />;
  return (
    <>
      <Table
        label={member ? 'Sign-ins' : 'Attempts with unknown e-mails'}
        columns={COLUMNS}
        rows={list.rows}
        keyOf={(each) => each.id}
      />
      <LoadMore query={list} />
    </>
  );
}
