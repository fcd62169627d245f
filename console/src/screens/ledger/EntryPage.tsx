import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { SubjectLink } from '../../components/names/SubjectLink.tsx';
import { Card, Facts, Loading, Page } from '../../components/Page.tsx';
import { CodeBlock, Id, Time } from '../../components/Value.tsx';
import { canHash, hashOf, sealedText } from '../../lib/ledger.ts';
import { words } from '../../lib/words.ts';
import styles from './Ledger.module.css';

const ZERO_HASH = `sha256:${'0'.repeat(64)}`;

/** Loads an entry and the one before it, and computes its hash in this browser. */
async function recompute(seq: number) {
  const [event, before] = await Promise.all([
    purser.ledger.event(seq),
    seq > 1 ? purser.ledger.event(seq - 1) : null,
  ]);
  return { event, before, computed: canHash() ? await hashOf(event) : null };
}

export default function EntryPage() {
  const { seq: text } = useParams({ strict: false }) as { seq: string };
  const seq = Number(text);
  const query = useQuery({
    queryKey: ['ledger', 'entry', seq],
    queryFn: () => recompute(seq),
    enabled: Number.isSafeInteger(seq) && seq > 0,
  });
  return (
    <Page
      title={`Entry ${text}`}
      above={<Link to="/ledger">Ledger</Link>}
      actions={
        <span className={styles.pager}>
          {seq > 1 && <Link to={`/ledger/${seq - 1}`}>← Entry {seq - 1}</Link>}
          <Link to={`/ledger/${seq + 1}`}>Entry {seq + 1} →</Link>
        </span>
      }
    >
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={8} />}
      {query.data !== undefined && <Entry {...query.data} />}
    </Page>
  );
}

function Entry({ event, before, computed }: Awaited<ReturnType<typeof recompute>>) {
  const prev_hash = before?.hash ?? ZERO_HASH;
  return (
    <>
      <Card>
        <Facts
          of={[
            ['Type', words(event.type)],
            ['Subject', <SubjectLink key="s" subject={event.subject} />],
            ['Time', <Time key="t" at={event.occurred_at} exact />],
            ['Event', <Id key="i" id={event.id} />],
          ]}
        />
      </Card>
      <Card title="Recomputed in this browser">
        <ol className={styles.steps}>
          <li>
            <p>The entry contains the hash of the previous entry:</p>
            <code className={styles.hash}>{event.prev_hash}</code>
            {event.prev_hash === prev_hash ? (
              <Notice tone="good">
                {before === null
                  ? 'This is the first entry, so the hash is all zeros.'
                  : `This matches the hash of entry ${before.seq}.`}
              </Notice>
            ) : (
              <Notice tone="bad" title="It does not match the previous entry.">
                The previous entry has <code className={styles.hash}>{prev_hash}</code>
              </Notice>
            )}
          </li>
          <li>
            <p>
              This text is appended to its 32 bytes. Its <code>data_hash</code> covers all data of the event:
            </p>
            <CodeBlock label="the sealed text" code={sealedText(event)} />
          </li>
          <li>
            <p>The SHA-256 of both is the entry’s own hash, which the next entry contains:</p>
            <code className={styles.hash}>{event.hash}</code>
            {computed === null ? (
              <Notice tone="warn">Browsers can compute hashes only over HTTPS or on localhost.</Notice>
            ) : computed === event.hash ? (
              <Notice tone="good">Computed here: the hash matches.</Notice>
            ) : (
              <Notice tone="bad" title="The hash does not match the entry.">
                Computed here: <code className={styles.hash}>{computed}</code>
              </Notice>
            )}
          </li>
        </ol>
        <p>
          <Link to="/ledger" search={{ since: String(event.seq - 1) }}>
            Verify
          </Link>{' '}
          checks that <code>data_hash</code> still matches the stored rows.
        </p>
      </Card>
    </>
  );
}
