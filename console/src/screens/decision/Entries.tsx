import type { Decision } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../components/Badge.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Time } from '../../components/Value.tsx';
import { words } from '../../lib/words.ts';
import styles from './DecisionPage.module.css';
import { type Computed, type Entries, useEntries } from './use-entries.ts';

/** The ledger entries about the decision, each recomputed in this browser. */
export function LedgerEntries({ decision }: { decision: Decision }) {
  const query = useEntries(decision);
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <p>Computing…</p>;
  const { entries } = query.data;
  const first = entries[0]?.event;
  return (
    <>
      <Verdict {...query.data} />
      <ol className={styles.thread} aria-label="Entries">
        {entries.map((each) => (
          <Entry key={each.event.seq} of={each} />
        ))}
      </ol>
      {first !== undefined && (
        <p>
          <Link to="/ledger" search={{ since: String(first.seq - 1) }}>
            Verify the history from here
          </Link>
          <span className={styles.sub}> compares the stored rows with these entries. It starts at once.</span>
        </p>
      )}
    </>
  );
}

const isWrong = ({ event, hash }: Computed) => hash !== null && hash !== event.hash;

/** The result of recomputing all entries. */
function Verdict({ entries, missing }: Entries) {
  const wrong = entries.filter(isWrong).map(({ event }) => event.seq);
  if (missing.length > 0) {
    return (
      <Notice tone="bad" title="The ledger lacks some records.">
        There is no entry for {missing.join(', ')}.
      </Notice>
    );
  }
  if (wrong.length > 0) {
    return (
      <Notice
        tone="bad"
        title={
          wrong.length === 1
            ? `The hash of entry ${wrong[0]} does not match.`
            : `The hashes of entries ${wrong.join(', ')} do not match.`
        }
      >
        It was altered after it was written.
      </Notice>
    );
  }
  if (entries.some(({ hash }) => hash === null)) {
    return <p className={styles.sub}>Browsers can compute hashes only over HTTPS or on localhost.</p>;
  }
  return (
    <Notice tone="good">
      {entries.length === 1
        ? 'Recomputed in this browser: the hash matches.'
        : `Recomputed in this browser: all ${entries.length} hashes match.`}
    </Notice>
  );
}

function Entry({ of }: { of: Computed }) {
  const { event, hash } = of;
  return (
    <li>
      <p className={styles.line}>
        <Link to={`/ledger/${event.seq}`}>Entry {event.seq}</Link>
        {words(event.type)}
        {hash !== null && (
          <Badge tone={isWrong(of) ? 'deny' : 'allow'}>{isWrong(of) ? 'Hash differs' : 'Hash matches'}</Badge>
        )}
      </p>
      <p className={styles.sub}>
        <Time at={event.occurred_at} exact />
      </p>
      <code className={styles.hash}>{event.hash}</code>
      {isWrong(of) && (
        <p className={styles.sub}>
          Computed here: <code className={styles.hash}>{hash}</code>
        </p>
      )}
    </li>
  );
}
