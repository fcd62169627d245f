import type { Decision, RecordedReview } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { purser } from '../../api/client.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Budget } from '../../components/decision/Budget.tsx';
import { Past } from '../../components/decision/Past.tsx';
import { PolicyTrace } from '../../components/decision/PolicyTrace.tsx';
import { Purpose } from '../../components/decision/Purpose.tsx';
import { Remedies } from '../../components/decision/Remedies.tsx';
import { Request } from '../../components/decision/Request.tsx';
import { ReviewBox } from '../../components/decision/ReviewBox.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, CardGrid, Loading } from '../../components/Page.tsx';
import { CodeBlock, Countdown, Money, Time } from '../../components/Value.tsx';
import { Who } from '../../components/Who.tsx';
import { reasonWords } from '../../lib/words.ts';
import styles from './Inbox.module.css';

/** Everything that a reviewer needs to know of one spend, and the two buttons. */
export function Pane({
  id,
  known,
  onBack,
  onReviewed,
  onLoaded,
}: {
  id: string;
  known: Decision | undefined;
  /** How it stands now. */
  onLoaded: (decision: Decision) => void;
  onBack: () => void;
  onReviewed: (decision: Decision, review: RecordedReview) => void;
}) {
  const query = useQuery({
    queryKey: ['decision', id],
    queryFn: async () => purser.decisions.retrieve(id),
    placeholderData: () => known,
  });
  const decision = query.data;
  const is_known = query.isPlaceholderData;
  useEffect(() => {
    if (decision !== undefined && !is_known) onLoaded(decision);
  }, [decision, is_known, onLoaded]);
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (decision === undefined) return <Loading lines={10} />;
  const { action, agent, reservation, review_state, context, reason_codes } = decision;
  return (
    <article className={styles.pane} aria-label={action.merchant}>
      <div className={styles.content}>
        <Button kind="quiet" small className={styles.back} onClick={onBack}>
          ← Back to the list
        </Button>
        <header className={styles.what}>
          <div className={styles.badges}>
            <StateBadge state={decision.mode} />
            <span>
              {action.type} by <Link to={`/agents/${agent.slug}`}>{agent.slug}</Link>
            </span>
            <span>
              asked <Time at={decision.created_at} />
            </span>
            {review_state === 'PENDING' && reservation.expires_at !== null && (
              <Countdown until={reservation.expires_at} />
            )}
          </div>
          <h2>{action.merchant}</h2>
          <p className={styles.sum}>
            <Money amount_minor={decision.requested_amount_minor} currency={decision.currency} />
          </p>
        </header>
        <p className={styles.reason}>{decision.explanation}</p>
        {reason_codes.length > 1 && (
          <p className={styles.badges}>Reasons: {reason_codes.map(reasonWords).join(' · ')}</p>
        )}
        <Remedies decision={decision} />
        <Card title="What the agent says">
          <Request decision={decision} />
        </Card>
        <Card title="Does it serve the purpose?">
          <Purpose decision={decision} said={decision.explanation} />
        </Card>
        <Card title="The budget, before and after">
          <Budget decision={decision} />
        </Card>
        <Card title="This merchant, before">
          <Past decision={decision} />
        </Card>
        <CardGrid>
          <details className={styles.fold}>
            <summary>All checks</summary>
            <PolicyTrace decision={decision} />
          </details>
        </CardGrid>
        {context !== null && (
          <details className={styles.fold}>
            <summary>Context that came with it</summary>
            <CodeBlock label="the context" code={JSON.stringify(context, null, 2)} />
          </details>
        )}
        <p>
          <Link to={`/decisions/${id}`}>Open the whole decision</Link>
        </p>
      </div>
      <div className={styles.bar}>
        {review_state === 'PENDING' ? (
          <ReviewBox decision={decision} onDone={(review) => onReviewed(decision, review)} />
        ) : (
          <Settled decision={decision} onReviewed={onReviewed} />
        )}
      </div>
    </article>
  );
}

/** What became of a review that waits no more. In SHADOW it can be corrected; in ENFORCE it is final. */
function Settled({
  decision,
  onReviewed,
}: {
  decision: Decision;
  onReviewed: (decision: Decision, review: RecordedReview) => void;
}) {
  const { review, review_state, mode } = decision;
  const [is_correcting, setCorrecting] = useState(false);
  if (review === null || review_state === 'EXPIRED') {
    return (
      <Notice title="Its time ran out.">
        Nobody reviewed it in time, so the spend was not allowed and its hold is gone.
      </Notice>
    );
  }
  return (
    <>
      <Notice tone={review.action === 'ALLOW' ? 'good' : 'warn'}>
        <strong>{review.action === 'ALLOW' ? 'Allowed' : 'Denied'}</strong> by{' '}
        <Who principal_id={review.principal_id} key_id={review.key_id} />, <Time at={review.created_at} /> ·{' '}
        {reasonWords(review.reason_code)}
        {review.comment !== null && <p>“{review.comment}”</p>}
      </Notice>
      {mode === 'SHADOW' && (
        <details className={styles.fold} onToggle={(event) => setCorrecting(event.currentTarget.open)}>
          <summary>Correct this review</summary>
          {/* Its keys act only while it is to be seen. */}
          {is_correcting && (
            <ReviewBox decision={decision} onDone={(corrected) => onReviewed(decision, corrected)} />
          )}
        </details>
      )}
    </>
  );
}
