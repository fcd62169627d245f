import type { ReviewPolicy, ReviewPolicyVersion } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { Author } from '../../components/Author.tsx';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Id, Time } from '../../components/Value.tsx';
import { policyInWords } from '../../lib/reviews/policy.ts';
import styles from './ReviewPolicy.module.css';

type NameOf = (name: string) => string;

/** Shows a policy sentence by sentence. */
export function Sentences({ policy, nameOf }: { policy: ReviewPolicy; nameOf: NameOf }) {
  const sentences = policyInWords(policy, nameOf);
  if (sentences.length === 0) return <p>One approval by anyone who may review is enough.</p>;
  return (
    <ul className={styles.sentences}>
      {sentences.map((each) => (
        <li key={each}>{each}</li>
      ))}
    </ul>
  );
}

/** Shows the sentences that differ between two policies. */
export function Difference({ from, to, nameOf }: { from: ReviewPolicy; to: ReviewPolicy; nameOf: NameOf }) {
  const before = policyInWords(from, nameOf);
  const after = policyInWords(to, nameOf);
  const removed = before.filter((each) => !after.includes(each));
  const added = after.filter((each) => !before.includes(each));
  if (removed.length + added.length === 0) return <p>No differences.</p>;
  return (
    <ul className={styles.sentences}>
      {removed.map((each) => (
        <li key={each}>
          <del>{each}</del>
        </li>
      ))}
      {added.map((each) => (
        <li key={each}>
          <ins>{each}</ins>
        </li>
      ))}
    </ul>
  );
}

/** All versions, and the one in the address beside the current one. */
export function Versions({
  current,
  shown,
  may,
  nameOf,
  onStart,
}: {
  current: ReviewPolicyVersion;
  shown: string | undefined;
  may: boolean;
  nameOf: NameOf;
  onStart: (policy: ReviewPolicy) => void;
}) {
  const list = useList<ReviewPolicyVersion>(
    ['review-policy', 'versions'],
    (page: PageQuery) => purser.reviewPolicy.versions(page),
    { mode: 'first', idOf: ({ version }) => String(version) },
  );
  const looked_at = useQuery({
    queryKey: ['review-policy', 'version', shown],
    queryFn: async () => purser.reviewPolicy.retrieve({ version: Number(shown) }),
    enabled: shown !== undefined && /^\d{1,9}$/.test(shown),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (current.version === 0) return null;
  const columns: readonly Column<ReviewPolicyVersion>[] = [
    {
      name: 'Version',
      heading: true,
      cell: (each) => (
        <>
          <Link to="/review-policy" search={{ version: String(each.version) }}>
            {each.version}
          </Link>{' '}
          {each.version === current.version && <Badge tone="accent">Current</Badge>}
        </>
      ),
    },
    {
      name: 'Saved',
      wrap: true,
      cell: (each) => (
        <>
          {each.created_at !== null && <Time at={each.created_at} />}
          {each.created_by !== null && (
            <div className={styles.soft}>
              <Author {...each.created_by} />
            </div>
          )}
        </>
      ),
    },
    { name: 'Note', wrap: true, cell: (each) => each.note ?? '' },
  ];
  const old = looked_at.data;
  return (
    <>
      {looked_at.isError && <ErrorNotice error={looked_at.error} />}
      {old !== undefined && (
        <Card
          title={
            old.version === current.version ? `Version ${old.version} (current)` : `Version ${old.version}`
          }
          aside={
            <Link to="/review-policy" search={{}}>
              Close
            </Link>
          }
        >
          <Sentences policy={old.policy} nameOf={nameOf} />
          {old.version !== current.version && (
            <>
              <h3>
                From version {old.version} to version {current.version}
              </h3>
              <Difference from={old.policy} to={current.policy} nameOf={nameOf} />
            </>
          )}
          <Id id={old.hash} />
          {may && (
            <div>
              <Button small onClick={() => onStart(old.policy)}>
                Start from this version
              </Button>
            </div>
          )}
        </Card>
      )}
      <Card title="Versions" flush>
        {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
        <Table label="Versions" columns={columns} rows={list.rows} keyOf={({ version }) => version} />
        <LoadMore query={list} />
      </Card>
    </>
  );
}
