import type { Decision, Label, Review } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import { Author, KeyCreatorBadge } from '../../components/Author.tsx';
import { StateBadge } from '../../components/Badge.tsx';
import { LabelBox } from '../../components/decision/LabelBox.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Time } from '../../components/Value.tsx';
import { reasonWords } from '../../lib/words.ts';
import styles from './DecisionPage.module.css';

/** A review or a label of the thread. */
interface Entry {
  id: string;
  state: string;
  reason: string | null;
  comment: string | null;
  principal_id: string | null;
  key_id: string | null;
  at: string;
  supersedes: string | null;
  by_key_maker: boolean;
}

const ofReview = (each: Review): Entry => ({
  id: each.review_id,
  state: each.action === 'ALLOW' ? 'ALLOWED' : 'DENIED',
  reason: each.reason_code,
  comment: each.comment,
  principal_id: each.principal_id,
  key_id: each.key_id,
  at: each.created_at,
  supersedes: each.supersedes,
  by_key_maker: each.by_key_maker,
});
const ofLabel = (each: Label): Entry => ({
  id: each.label_id,
  state: each.label,
  reason: null,
  comment: each.comment,
  principal_id: each.principal_id,
  key_id: each.key_id,
  at: each.created_at,
  supersedes: each.supersedes,
  by_key_maker: false,
});

/** All reviews and labels of a decision, oldest first. Superseded ones stay visible. */
export function Thread({ decision }: { decision: Decision }) {
  const { decision_id } = decision;
  const query = useQuery({
    queryKey: ['decision', decision_id, 'thread'],
    queryFn: async () => {
      const [reviews, labels] = await Promise.all([
        purser.decisions.listReviews(decision_id),
        purser.decisions.listLabels(decision_id),
      ]);
      const entries = [...reviews.data.map(ofReview), ...labels.data.map(ofLabel)];
      return entries.sort((a, b) => (a.at < b.at ? -1 : 1));
    },
  });
  const entries = query.data ?? [];
  const corrected = new Set(entries.map((each) => each.supersedes));
  return (
    <>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && entries.length === 0 && <p>No reviews or labels yet.</p>}
      {entries.length > 0 && (
        <ol className={styles.thread}>
          {entries.map((each) => (
            <li key={each.id} data-old={corrected.has(each.id) || undefined}>
              <p className={styles.line}>
                <StateBadge state={each.state} />
                <span className={styles.by}>
                  <Author principal_id={each.principal_id} key_id={each.key_id} /> · <Time at={each.at} />{' '}
                  <KeyCreatorBadge of={each} />
                </span>
                {each.reason !== null && <span className={styles.sub}>{reasonWords(each.reason)}</span>}
                {corrected.has(each.id) && <span className={styles.sub}>superseded</span>}
              </p>
              {each.comment !== null && <p>{each.comment}</p>}
            </li>
          ))}
        </ol>
      )}
      <div data-screen-only>
        <p className={styles.sub} style={{ marginBottom: '0.4rem' }}>
          Did this request fit the purpose? Labels train the assessor and count in the shadow report.
        </p>
        <LabelBox decision_id={decision_id} label={decision.label} />
      </div>
    </>
  );
}
