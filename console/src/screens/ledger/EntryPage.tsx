import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Facts, Loading, Page } from '../../components/Page.tsx';
import { SubjectLink } from '../../components/SubjectLink.tsx';
import { CodeBlock, Id, Time } from '../../components/Value.tsx';
import { canHash, hashOf, sealedText } from '../../lib/ledger.ts';
import { words } from '../../lib/words.ts';
import styles from './Ledger.module.css';

const ZERO_HASH = `sha256:${'0'.repeat(64)}`;

/** An entry, with the one before it, and what this browser makes of it. */
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
            ['About', <SubjectLink key="s" subject={event.subject} />],
            ['Happened', <Time key="t" at={event.occurred_at} exact />],
            ['Event', <Id key="i" id={event.id} />],
          ]}
        />
      </Card>
      <Card title="Computed again in this browser">
        <ol className={styles.steps}>
          <li>
            <p>The entry names the hash of the one before it:</p>
            <code className={styles.hash}>{event.prev_hash}</code>
            {event.prev_hash === prev_hash ? (
              <Notice tone="good">
                {before === null
                  ? 'It is the first entry, which begins with zeros.'
                  : `That is the hash of entry ${before.seq}.`}
              </Notice>
            ) : (
              <Notice tone="bad" title="It does not follow from the entry before it.">
                That one has <code className={styles.hash}>{prev_hash}</code>
              </Notice>
            )}
          </li>
          <li>
            <p>
              To its 32 bytes this text is added, in which <code>data_hash</code> stands for all of what
              happened:
            </p>
            <CodeBlock label="the sealed text" code={sealedText(event)} />
          </li>
          <li>
            <p>The SHA-256 of both is the entry’s own hash, which the next entry names:</p>
            <code className={styles.hash}>{event.hash}</code>
            {computed === null ? (
              <Notice tone="warn">This browser computes hashes only over https or on localhost.</Notice>
            ) : computed === event.hash ? (
              <Notice tone="good">Computed here: the same hash.</Notice>
            ) : (
              <Notice tone="bad" title="The hash is not what the entry makes.">
                Computed here: <code className={styles.hash}>{computed}</code>
              </Notice>
            )}
          </li>
        </ol>
        <p>
          Whether <code>data_hash</code> still fits the stored rows is what{' '}
          <Link to="/ledger" search={{ since: String(event.seq - 1) }}>
            Verify
          </Link>{' '}
          tells.
        </p>
      </Card>
    </>
  );
}
