import type { Passkey } from '@purser/sdk';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { auth } from '../../api/auth.ts';
import { purser } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { canPasskeys, createPasskey, wasCancelled } from '../../lib/passkeys.ts';
import styles from './Me.module.css';

export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: async () => (await purser.me.listPasskeys()).data,
});

/** The person's passkeys. */
export function Passkeys() {
  const query = useQuery(passkeysQuery);
  const [name, setName] = useState('');
  const again = () => queryClient.invalidateQueries({ queryKey: passkeysQuery.queryKey });
  const adding = useAction(async () => {
    try {
      const made = await createPasskey(await auth.passkeyCreationOptions());
      await auth.addPasskey({ ...made, ...(name.trim() === '' ? {} : { name: name.trim() }) });
    } catch (error) {
      if (wasCancelled(error)) return;
      throw error;
    }
    setName('');
    await again();
  });
  const removing = useAction(async (id: string) => {
    await purser.me.deletePasskey(id);
    await again();
  });
  const columns: readonly Column<Passkey>[] = [
    { name: 'Name', heading: true, wrap: true, cell: (each) => each.name },
    { name: 'Added', cell: (each) => <Time at={each.created_at} /> },
    {
      name: 'Last used',
      cell: (each) => (each.last_used_at === null ? 'Never' : <Time at={each.last_used_at} />),
    },
    {
      name: 'Actions',
      hideName: true,
      cell: (each) => (
        <Button
          small
          aria-label={`Remove ${each.name}`}
          disabled={removing.busy}
          onClick={() => void removing.run(each.id)}
        >
          Remove
        </Button>
      ),
    },
  ];
  const error = adding.error ?? removing.error;
  return (
    <Card title="Passkeys" flush>
      <div className={styles.notice}>
        {error !== null && <ErrorNotice error={error} />}
        <form
          className={styles.row}
          onSubmit={(event) => {
            event.preventDefault();
            void adding.run();
          }}
        >
          <TextField
            label="Passkey name"
            placeholder="Laptop"
            maxLength={100}
            value={name}
            onValue={setName}
            hint="You then sign in with your device’s fingerprint, face or PIN."
          />
          <Button
            type="submit"
            busy={adding.busy}
            why={canPasskeys() ? false : 'This browser does not support passkeys.'}
          >
            Add passkey
          </Button>
        </form>
      </div>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={2} />}
      {query.data !== undefined && query.data.length > 0 && (
        <Table label="Passkeys" columns={columns} rows={query.data} keyOf={(each) => each.id} />
      )}
    </Card>
  );
}
