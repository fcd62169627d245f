import type { Decision } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { purser } from '../../api/client.ts';
import { Author, KeyCreatorBadge } from '../../components/Author.tsx';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Notes } from '../../components/decision/Assign.tsx';
import { Budget } from '../../components/decision/Budget.tsx';
import { LabelBox } from '../../components/decision/LabelBox.tsx';
import { Notified } from '../../components/decision/Notified.tsx';
import { PolicyTrace } from '../../components/decision/PolicyTrace.tsx';
import { Purpose } from '../../components/decision/Purpose.tsx';
import { Remedies } from '../../components/decision/Remedies.tsx';
import { ReviewBox } from '../../components/decision/ReviewBox.tsx';
import { draftOf, dropDraft, useRefusedReviews } from '../../components/decision/review-drafts.ts';
import { Sheet, sheetQuery } from '../../components/decision/Sheet.tsx';
import { useKeys } from '../../components/keys/use-keys.ts';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, CardGrid, Loading } from '../../components/Page.tsx';
import { DecisionQuestions, hasQuestions } from '../../components/questions/DecisionQuestions.tsx';
import { CodeBlock, CopyButton, Countdown, Money, Time } from '../../components/Value.tsx';
import { labelOfReview } from '../../lib/review-reasons.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';
import styles from './Inbox.module.css';

/** Scroll distance of a key as a share of the visible height, so that the last lines stay visible. */
const READING = [
  ['PageDown', 0.85],
  ['PageUp', -0.85],
] as const;

/** The details of one request for a reviewer, with the review buttons. */
export function Pane({
  id,
  has_label,
  onBack,
  onReviewed,
  onLoaded,
}: {
  id: string;
  /** True if a reviewed request can be labelled here. */
  has_label: boolean;
  /** Called with the current decision. */
  onLoaded: (decision: Decision) => void;
  onBack: () => void;
  /** Called when the review is confirmed. */
  onReviewed: (decision: Decision) => void;
}) {
  const query = useQuery({
    queryKey: ['decision', id],
    queryFn: async () => purser.decisions.retrieve(id),
  });
  const decision = query.data;
  const [is_reviewing, setReviewing] = useState(false);
  const is_refused = useRefusedReviews().has(id);
  useEffect(() => {
    if (decision !== undefined) onLoaded(decision);
  }, [decision, onLoaded]);
  const read = useRef<HTMLDivElement>(null);
  const scroll = (pages: number) => {
    const { current } = read;
    // On a narrow screen the page itself scrolls and handles these keys.
    if (current === null || current.scrollHeight <= current.clientHeight) return false;
    current.scrollBy({ top: pages * current.clientHeight });
    return true;
  };
  useKeys(Object.fromEntries(READING.map(([key, pages]) => [key, () => scroll(pages)])));
  // A failed refresh removes nothing: the reviewer may be writing.
  const failure = query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  // The sheet comes with the rest, so that nothing moves under the reviewer's pointer.
  const { isPending: awaits_sheet } = useQuery(sheetQuery(id));
  if (decision === undefined || awaits_sheet) return failure || <Loading lines={10} />;
  const { action, agent, reservation, review_state, context } = decision;
  return (
    <article id="request" tabIndex={-1} className={styles.pane} aria-label={visible(action.merchant)}>
      <div ref={read} className={styles.read}>
        <div className={styles.content}>
          <Button kind="quiet" small className={styles.back} onClick={onBack}>
            ← Back to the list
          </Button>
          {failure}
          <header className={styles.what}>
            <div className={styles.badges}>
              <StateBadge state={decision.mode} />
              <span>
                {action.type} by <Link to={`/agents/${agent.slug}`}>{agent.slug}</Link>
              </span>
              <span>
                requested <Time at={decision.created_at} />
              </span>
              {review_state === 'PENDING' && reservation.expires_at !== null && (
                <Countdown until={reservation.expires_at} />
              )}
            </div>
            <h2 title={visible(action.merchant)}>{visible(action.merchant)}</h2>
            <p className={styles.sum}>
              <Money amount_minor={decision.requested_amount_minor} currency={decision.currency} />
            </p>
          </header>
          <Notes decision_id={id} />
          <Sheet decision={decision} />
          <Notified decision_id={id} />
          {hasQuestions(decision) && (
            <Card title="Questions">
              <DecisionQuestions decision={decision} />
            </Card>
          )}
          <Remedies decision={decision} />
          <Card title="Purpose assessment">
            <Purpose decision={decision} shown_above={decision.explanation} />
          </Card>
          <Card title="Budget before and after">
            <Budget decision={decision} />
          </Card>
          <CardGrid>
            <details className={styles.fold}>
              <summary>All checks</summary>
              <PolicyTrace decision={decision} />
            </details>
          </CardGrid>
          {context !== null && (
            <details className={styles.fold}>
              <summary>Attached context</summary>
              <CodeBlock label="the context" code={JSON.stringify(context, null, 2)} />
            </details>
          )}
          <p>
            <Link to={`/decisions/${id}`}>Open the full decision</Link>
          </p>
        </div>
      </div>
      <div id="decision" tabIndex={-1} className={styles.bar}>
        {review_state === 'PENDING' || is_reviewing || is_refused ? (
          <ReviewBox decision={decision} onOpen={setReviewing} onDone={() => onReviewed(decision)} />
        ) : (
          <Settled decision={decision} has_label={has_label} onReviewed={onReviewed} />
        )}
      </div>
    </article>
  );
}

/** The result of a review that is no longer pending. It can be corrected in Shadow and is final in Enforce. */
function Settled({
  decision,
  has_label,
  onReviewed,
}: {
  decision: Decision;
  has_label: boolean;
  onReviewed: (decision: Decision) => void;
}) {
  const { decision_id, review, review_state, mode } = decision;
  const [is_correcting, setCorrecting] = useState(false);
  const [unrecorded, setUnrecorded] = useState(() => draftOf(decision_id).comment.trim());
  const is_expired = review === null || review_state === 'EXPIRED';
  return (
    <div className={styles.settled}>
      {is_expired ? (
        <Notice title="This review expired.">
          Nobody reviewed it in time, so the request was not allowed and its hold was released.
        </Notice>
      ) : (
        <Notice tone={review.action === 'ALLOW' ? 'good' : 'warn'}>
          <strong>{review.action === 'ALLOW' ? 'Allowed' : 'Denied'}</strong> by{' '}
          <Author principal_id={review.principal_id} key_id={review.key_id} />,{' '}
          <Time at={review.created_at} /> · {reasonWords(review.reason_code)} <KeyCreatorBadge of={review} />
          {review.comment !== null && <p>“{review.comment}”</p>}
        </Notice>
      )}
      {unrecorded !== '' && !is_correcting && (
        <Notice
          tone="warn"
          title="Your comment was not recorded."
          actions={
            <>
              <CopyButton text={unrecorded} label="Copy comment" />
              <Button
                small
                kind="quiet"
                onClick={() => {
                  dropDraft(decision_id);
                  setUnrecorded('');
                }}
              >
                Discard
              </Button>
            </>
          }
        >
          “{unrecorded}”
        </Notice>
      )}
      {mode === 'SHADOW' && !is_expired && (
        <details className={styles.fold} onToggle={(event) => setCorrecting(event.currentTarget.open)}>
          <summary>Correct this review</summary>
          {/* Its shortcuts are active only while it is visible. */}
          {is_correcting && <ReviewBox decision={decision} onDone={() => onReviewed(decision)} />}
        </details>
      )}
      {has_label && (
        <LabelBox
          decision_id={decision_id}
          label={decision.label}
          suggested={is_expired ? undefined : labelOfReview(review, decision)}
        />
      )}
    </div>
  );
}
