import type { Decision, Question } from '@purser/sdk';
import { useEffect, useId, useRef, useState } from 'react';
import { purser, sentenceOf } from '../../api/client.ts';
import { useMe } from '../../api/queries.ts';
import { RecordedAs } from '../../components/Author.tsx';
import { Badge, StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { HELD_MS } from '../../components/decision/held-reviews.ts';
import { refusalOf } from '../../components/decision/refusals.ts';
import { AreaField, SelectField } from '../../components/Field.tsx';
import { ReviewSettles } from '../../components/questions/Settles.tsx';
import { Money } from '../../components/Value.tsx';
import { choicesFor, REVIEW_REASONS } from '../../lib/review-reasons.ts';
import { groupsOf, sumsOf } from '../../lib/reviews/bulk.ts';
import { hidesCharacters, visible } from '../../lib/visible.ts';
import { reasonWords, words } from '../../lib/words.ts';
import styles from './Inbox.module.css';

export type Verdict = 'ALLOW' | 'DENY';
type Result = { state: 'waiting' | 'done' | 'skipped' } | { state: 'failed'; error: unknown };

/**
 * Reviews several requests in one way: one call after the other, each with its own result. Says before what the reviews
 * will settle.
 */
export function BulkDialog({
  decisions: given,
  review_action,
  comment,
  setComment,
  question,
  onClose,
}: {
  decisions: readonly Decision[];
  review_action: Verdict;
  comment: string;
  setComment: (comment: string) => void;
  /** The question that all of them ask: a denial is about this one. */
  question?: Question | undefined;
  /** Called with the reviewed IDs, or null if nothing was attempted. */
  onClose: (reviewed: ReadonlySet<string> | null) => void;
}) {
  const me = useMe();
  const form_id = useId();
  const reasons = REVIEW_REASONS[review_action];
  // The selection when the dialog opened. The list below keeps changing.
  const [decisions] = useState(given);
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [state, setState] = useState<'asking' | 'held' | 'running' | 'over'>('asking');
  const stopped = useRef(false);
  const whyLeftOut = (decision: Decision) => whyNotTogether(decision, me.principal_id);
  const included = decisions.filter((each) => whyLeftOut(each) === null);
  const [chosen, setReason] = useState<string | null>(null);
  const reason_code = chosen ?? agreedReason(included, review_action);
  const note = (id: string, result: Result) => setResults((before) => new Map(before).set(id, result));
  const named =
    review_action === 'DENY' && question !== undefined ? { questions: [question.question_id] } : undefined;
  const send = async (decision: Decision) => {
    const { decision_id } = decision;
    if (stopped.current || whyLeftOut(decision) !== null) {
      note(decision_id, { state: 'skipped' });
      return;
    }
    note(decision_id, { state: 'waiting' });
    try {
      const words = comment.trim() === '' ? {} : { comment };
      await purser.decisions.review(decision_id, {
        action: review_action,
        reason_code,
        ...words,
        ...named,
      });
      note(decision_id, { state: 'done' });
    } catch (error) {
      note(decision_id, { state: 'failed', error });
    }
  };
  const run = async () => {
    setState('running');
    for (const decision of decisions) await send(decision);
    setState('over');
  };
  // A page that closes has no time to send them one after the other.
  const runAtOnce = async () => {
    setState('running');
    await Promise.all(decisions.map(send));
    setState('over');
  };
  useHeld(state === 'held', run, runAtOnce);
  const close = () =>
    onClose(
      state !== 'over'
        ? null
        : new Set([...results].filter(([, { state }]) => state === 'done').map(([id]) => id)),
    );
  const count = (which: Result['state']) =>
    [...results.values()].filter((each) => each.state === which).length;
  return (
    <Dialog
      title={`${words(review_action)} ${included.length === decisions.length ? '' : `${included.length} of `}${decisions.length} ${decisions.length === 1 ? 'request' : 'requests'}`}
      onClose={() => {
        if (state === 'running') stopped.current = true;
        else if (state === 'held') setState('asking');
        else close();
      }}
    >
      {state === 'asking' && (
        <form
          id={form_id}
          className={styles.asking}
          onSubmit={(event) => {
            event.preventDefault();
            if (reason_code !== '' && included.length > 0) setState('held');
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              event.currentTarget.requestSubmit();
          }}
        >
          <SelectField
            label="Reason"
            value={reason_code}
            onValue={setReason}
            onKeyDown={(event) => {
              const reason = reasons[Number(event.key) - 1];
              if (reason === undefined || event.ctrlKey || event.metaKey) return;
              event.preventDefault();
              setReason(reason[0]);
            }}
            options={[
              ...(reason_code === '' ? [['', 'Choose a reason…'] as const] : []),
              ...reasons.map(([code, text], i) => [code, `${i + 1}  ${text}`] as const),
            ]}
          />
          <AreaField label="Comment" optional maxLength={2000} value={comment} onValue={setComment} />
          <ReviewSettles decisions={included} review_action={review_action} named={named?.questions} lists />
          <RecordedAs />
        </form>
      )}
      {state === 'held' && (
        <p role="status">
          {included.length} {included.length === 1 ? 'review is' : 'reviews are'} sent in five seconds.
        </p>
      )}
      {(state === 'running' || state === 'over') && (
        <p role="status">
          {count('done')} of {decisions.length} recorded
          {count('failed') > 0 && `, ${count('failed')} refused`}
          {count('skipped') > 0 && `, ${count('skipped')} left out`}.
        </p>
      )}
      <div className={styles.results}>
        {groupsOf(decisions).map(({ key, agent, reason_code: cause, decisions: some }) => {
          const summed = some.filter((each) => whyLeftOut(each) === null);
          return (
            <section key={key} aria-label={`${agent}, ${reasonWords(cause)}`}>
              <h3>
                {agent} · {reasonWords(cause)}
              </h3>
              <p className={styles.sums}>
                {summed.length} of {some.length} {some.length === 1 ? 'request' : 'requests'}
                {sumsOf(summed).map(({ currency, amount_minor }) => (
                  <span key={currency}>
                    {' · '}
                    <Money amount_minor={amount_minor} currency={currency} />
                  </span>
                ))}
              </p>
              <ul>
                {some.map((decision) => {
                  const { decision_id, action, requested_amount_minor, currency } = decision;
                  const result = results.get(decision_id);
                  const why_left_out = whyLeftOut(decision);
                  return (
                    <li key={decision_id}>
                      <span className={styles.merchant}>{visible(action.merchant)}</span>
                      {result === undefined ? (
                        <Money amount_minor={requested_amount_minor} currency={currency} />
                      ) : (
                        <ResultBadge result={result} review_action={review_action} />
                      )}
                      {why_left_out !== null && <p>{why_left_out}</p>}
                      {result?.state === 'failed' && <Refused error={result.error} />}
                    </li>
                  );
                })}
              </ul>
            </section>
          );
        })}
      </div>
      <Actions>
        {state === 'asking' && (
          <>
            <Button onClick={() => onClose(null)}>Cancel</Button>
            <Button
              kind={review_action === 'DENY' ? 'danger-primary' : 'primary'}
              why={
                included.length === 0
                  ? 'All of them are left out.'
                  : reason_code === '' && 'Choose a reason first.'
              }
              type="submit"
              form={form_id}
              shortcut="Ctrl ↵"
            >
              Confirm
            </Button>
          </>
        )}
        {state === 'held' && <UndoButton onUndo={() => setState('asking')} />}
        {state === 'running' && <Button onClick={() => (stopped.current = true)}>Stop after this one</Button>}
        {state === 'over' && (
          <Button kind="primary" autoFocus onClick={close}>
            Done
          </Button>
        )}
      </Actions>
    </Dialog>
  );
}

/** Holds confirmed reviews for five seconds before `onSend`. Leaving the page or the screen sends them by `onLeave`. */
function useHeld(is_held: boolean, onSend: () => Promise<void>, onLeave: () => Promise<void>): void {
  const latest = useRef({ is_held, onSend, onLeave });
  latest.current = { is_held, onSend, onLeave };
  useEffect(() => {
    if (!is_held) return;
    const timer = setTimeout(() => void latest.current.onSend(), HELD_MS);
    const leave = () => void latest.current.onLeave();
    window.addEventListener('pagehide', leave);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('pagehide', leave);
    };
  }, [is_held]);
  useEffect(() => () => void (latest.current.is_held && latest.current.onLeave()), []);
}

/** The reason that fits the cause of each of these; empty if none does. */
function agreedReason(decisions: readonly Decision[], review_action: Verdict): string {
  const [first = '', ...rest] = new Set(decisions.map((each) => choicesFor(each).defaults[review_action]));
  return rest.length === 0 ? first : '';
}

/** The reason to leave a request out of a bulk review. Null if it is included. */
function whyNotTogether(decision: Decision, principal_id: string | null): string | null {
  if (decision.requested_by.principal_id === principal_id) return 'Left out: this is your own request.';
  if (hidesCharacters(decision.action.merchant))
    return 'Left out: the merchant name contains hidden characters. Open the request to review it individually.';
  return choicesFor(decision).bulk
    ? null
    : 'Left out: its cause needs a look. Open the request to review it individually.';
}

/** Takes the confirmed reviews back before they are sent. */
function UndoButton({ onUndo }: { onUndo: () => void }) {
  return (
    <Button autoFocus onClick={onUndo} onKeyDown={({ key }) => key === 'u' && onUndo()} shortcut="u">
      Undo
    </Button>
  );
}

/** A refusal in its row. */
function Refused({ error }: { error: unknown }) {
  const refusal = refusalOf(error);
  return <p>{refusal === undefined ? sentenceOf(error) : `${refusal.title} ${refusal.text}`}</p>;
}

function ResultBadge({ result, review_action }: { result: Result; review_action: Verdict }) {
  if (result.state === 'done') return <StateBadge state={review_action === 'ALLOW' ? 'ALLOWED' : 'DENIED'} />;
  if (result.state === 'failed') return <Badge tone="deny">Refused</Badge>;
  return <span>{result.state === 'skipped' ? 'Left out' : '…'}</span>;
}
