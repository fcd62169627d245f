import type { SigningKey } from '@purser/sdk';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { queryClient, useMe } from '../../api/queries.ts';
import { Author } from '../../components/Author.tsx';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import { type Column, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { canPasskeys, wasCancelled } from '../../lib/passkeys.ts';
import { signStatement } from '../../lib/signing/statements.ts';
import { words } from '../../lib/words.ts';
import styles from './Me.module.css';

const signingKeysQuery = queryOptions({
  queryKey: ['signing-keys'],
  queryFn: async () => (await purser.signingKeys.list()).data,
});

/** Runs an action that a passkey confirms. Nothing happens if the person closes the browser's dialog. */
async function unlessCancelled(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!wasCancelled(error)) throw error;
  }
}

/** The workspace's signing keys: enrol one's own, endorse those of others, revoke. */
export function SigningKeys() {
  const me = useMe();
  const query = useQuery(signingKeysQuery);
  const [name, setName] = useState('');
  const again = () => queryClient.invalidateQueries({ queryKey: signingKeysQuery.queryKey });
  const enrolling = useAction(() =>
    unlessCancelled(async () => {
      const expected = { type: 'purser.signing-key.v1', principal_id: me.principal_id };
      const signature = await signStatement(await purser.signingKeys.begin(), expected);
      await purser.signingKeys.enrol({ name: name.trim() || 'Signing key', ...signature });
      setName('');
      await again();
    }),
  );
  const endorsing = useAction((key: SigningKey) =>
    unlessCancelled(async () => {
      const { id, principal_id, fingerprint } = key;
      const expected = {
        type: 'purser.signing-key-endorsement.v1',
        signing_key_id: id,
        principal_id,
        fingerprint,
      };
      const signature = await signStatement(await purser.signingKeys.beginEndorsement(id), expected);
      await purser.signingKeys.endorse(id, signature);
      await again();
    }),
  );
  const revoking = useAction(async (id: string) => {
    await purser.signingKeys.delete(id);
    await again();
  });
  const mayEndorse = ({ status, principal_id }: SigningKey) =>
    status === 'PENDING' && me.role === 'admin' && principal_id !== me.principal_id;
  const mayRevoke = ({ principal_id }: SigningKey) => me.role === 'admin' || principal_id === me.principal_id;
  const columns: readonly Column<SigningKey>[] = [
    { name: 'Name', heading: true, wrap: true, cell: (each) => each.name },
    { name: 'Person', wrap: true, cell: (each) => <Author principal_id={each.principal_id} key_id={null} /> },
    { name: 'Status', cell: (each) => words(each.status) },
    { name: 'Fingerprint', wrap: true, cell: (each) => <code>{each.fingerprint}</code> },
    { name: 'Added', cell: (each) => <Time at={each.created_at} /> },
    {
      name: 'Actions',
      hideName: true,
      cell: (each) => (
        <>
          {mayEndorse(each) && (
            <Button
              small
              aria-label={`Endorse ${each.name} of ${each.principal_id}`}
              disabled={endorsing.busy}
              onClick={() => void endorsing.run(each)}
            >
              Endorse
            </Button>
          )}
          {mayRevoke(each) && (
            <Button
              small
              aria-label={`Revoke ${each.name} of ${each.principal_id}`}
              disabled={revoking.busy}
              onClick={() => void revoking.run(each.id)}
            >
              Revoke
            </Button>
          )}
        </>
      ),
    },
  ];
  const error = enrolling.error ?? endorsing.error ?? revoking.error;
  const listed = query.data?.filter(({ status }) => status !== 'REVOKED') ?? [];
  return (
    <Card title="Signing keys" flush>
      <div className={styles.notice}>
        {error !== null && <ErrorNotice error={error} />}
        <form
          className={styles.row}
          onSubmit={(event) => {
            event.preventDefault();
            void enrolling.run();
          }}
        >
          <TextField
            label="Signing key name"
            placeholder="Laptop"
            maxLength={100}
            value={name}
            onValue={setName}
            hint="Makes one of your passkeys a key that signs approvals. Compare a fingerprint with its owner before you endorse it; auditors pin that of the first key."
          />
          <Button
            type="submit"
            busy={enrolling.busy}
            why={canPasskeys() ? false : 'This browser does not support passkeys.'}
          >
            Add signing key
          </Button>
        </form>
      </div>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={2} />}
      {listed.length > 0 && (
        <Table label="Signing keys" columns={columns} rows={listed} keyOf={(each) => each.id} />
      )}
    </Card>
  );
}
