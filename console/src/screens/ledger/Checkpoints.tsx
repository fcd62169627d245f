import { useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Facts, Loading } from '../../components/Page.tsx';
import { CodeBlock, Id, Time } from '../../components/Value.tsx';
import styles from './Ledger.module.css';

/** The newest signed note of where the chain ended, to be kept elsewhere. */
export function Checkpoints() {
  const query = useQuery({
    queryKey: ['ledger', 'checkpoints'],
    queryFn: async () => (await purser.ledger.checkpoints({ limit: 1 })).data,
  });
  const newest = query.data?.[0];
  return (
    <Card title="Newest checkpoint">
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={4} />}
      {query.isSuccess && newest === undefined && (
        <p>None was signed yet: the first follows a few seconds after a change.</p>
      )}
      {newest !== undefined && (
        <>
          <p>
            A signed note of where the history ended. Keep it somewhere else: whatever is done to the database
            later, a verification must still agree with it.
          </p>
          <CodeBlock label="the checkpoint" code={newest.note.trimEnd()} />
          <Facts
            of={[
              ['Entries', newest.seq.toLocaleString('en-US')],
              ['Signed', <Time key="t" at={newest.signed_at} exact />],
              [
                'Hash',
                <code key="c" className={styles.hash}>
                  {newest.hash}
                </code>,
              ],
              ['Key', <Id key="i" id={newest.key_id} />],
            ]}
          />
          <p>
            <a href="/.well-known/jwks.json">The public keys</a> that check its signature.
          </p>
        </>
      )}
    </Card>
  );
}
