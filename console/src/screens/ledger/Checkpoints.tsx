import type { SignedCheckpoint } from '@purser/sdk';
import { purser } from '../../api/client.ts';
import { useList } from '../../api/lists.ts';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Facts, Loading } from '../../components/Page.tsx';
import { LoadMore } from '../../components/Table.tsx';
import { CodeBlock, Id, Time } from '../../components/Value.tsx';
import styles from './Ledger.module.css';

/** The signed notes of where the chain ended, the newest first and whole, to be kept elsewhere. */
export function Checkpoints() {
  const list = useList<SignedCheckpoint>(
    ['ledger', 'checkpoints'],
    (cursor) => purser.ledger.checkpoints({ limit: 10, cursor }),
    { still: true },
  );
  const [newest, ...older] = list.rows;
  return (
    <Card title="Checkpoints">
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={4} />}
      {list.isSuccess && newest === undefined && (
        <p>None was signed yet: the first follows a few seconds after a change.</p>
      )}
      {newest !== undefined && (
        <>
          <p>
            A signed note of where the history ended. Keep it somewhere else: whatever is done to the database
            later, a verification must still agree with it.
          </p>
          <Signed checkpoint={newest} label="the newest checkpoint" />
          <p>
            <a href="/.well-known/jwks.json">The public keys</a> that check its signature.
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
