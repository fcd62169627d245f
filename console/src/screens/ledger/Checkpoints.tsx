import type { SignedCheckpoint } from '@purser/sdk';
import { purser } from '../../api/client.ts';
import { useList } from '../../api/lists.ts';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Facts, Loading } from '../../components/Page.tsx';
import { LoadMore } from '../../components/Table.tsx';
import { CodeBlock, Id, Time } from '../../components/Value.tsx';
import styles from './Ledger.module.css';

/** Signed checkpoints of the chain, the newest shown in full, to be stored elsewhere. */
export function Checkpoints() {
  const list = useList<SignedCheckpoint>(
    ['ledger', 'checkpoints'],
    (page) => purser.ledger.checkpoints({ ...page, limit: 10 }),
    { mode: 'first', idOf: (each) => String(each.seq) },
  );
  const [newest, ...older] = list.rows;
  return (
    <Card title="Checkpoints">
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={4} />}
      {list.isSuccess && newest === undefined && (
        <p>No checkpoints yet. The first is signed a few seconds after a change.</p>
      )}
      {newest !== undefined && (
        <>
          <p>
            A signed statement of where the history ended. Store it outside Purser: whatever happens to the
            database later, verification must still match it.
          </p>
          <Signed checkpoint={newest} label="the newest checkpoint" />
          <p>
            Verify its signature with the <a href="/.well-known/jwks.json">public keys</a>.
          </p>
        </>
      )}
      {older.length > 0 && (
        <>
          <ol className={styles.checkpoints} aria-label="Earlier checkpoints">
            {older.map((each) => (
              <li key={each.seq}>
                <details>
                  <summary>
                    {each.seq.toLocaleString('en-US')} entries, signed <Time at={each.signed_at} />
                  </summary>
                  <Signed checkpoint={each} label={`the checkpoint of ${each.seq} entries`} />
                </details>
              </li>
            ))}
          </ol>
          <LoadMore query={list} />
        </>
      )}
    </Card>
  );
}

function Signed({ checkpoint, label }: { checkpoint: SignedCheckpoint; label: string }) {
  const { note, seq, signed_at, hash, key_id } = checkpoint;
  return (
    <>
      <CodeBlock label={label} code={note.trimEnd()} />
      <Facts
        of={[
          ['Entries', seq.toLocaleString('en-US')],
          ['Signed', <Time key="t" at={signed_at} exact />],
          [
            'Hash',
            <code key="c" className={styles.hash}>
              {hash}
            </code>,
          ],
          ['Key', <Id key="i" id={key_id} />],
        ]}
      />
    </>
  );
}
