import type { Decision } from '@purser/sdk';
import { useRef, useState } from 'react';
import { purser, sentenceOf } from '../../api/client.ts';
import { makeOld } from '../../api/live.ts';
import { useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { AreaField, SelectField } from '../../components/Field.tsx';
import { Money } from '../../components/Value.tsx';
import { REVIEW_REASONS } from '../../lib/review-reasons.ts';
import { words } from '../../lib/words.ts';
import styles from './Inbox.module.css';

type Verdict = 'ALLOW' | 'DENY';
type Result = { state: 'waiting' | 'done' | 'skipped' } | { state: 'failed'; sentence: string };

/** One word on several spends: one call after the other, each with its own result. */
export function BulkBar({
  decisions,
  onClear,
  onReviewed,
}: {
  decisions: readonly Decision[];
  onClear: () => void;
  onReviewed: (ids: ReadonlySet<string>) => void;
}) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const may = useMay('review');
  const why = !may && WHY_NOT.review;
  return (
    <div className={styles.bulk}>
      <strong>{decisions.length} selected</strong>
      <Button small why={why} onClick={() => setVerdict('ALLOW')}>
        Allow selected
      </Button>
      <Button small kind="danger" why={why} onClick={() => setVerdict('DENY')}>
        Deny selected
      </Button>
      <Button small kind="quiet" onClick={onClear}>
        Clear
      </Button>
      {verdict !== null && (
        <Bulk
          decisions={decisions}
          verdict={verdict}
          onClose={(reviewed) => {
            setVerdict(null);
            if (reviewed === null) return;
            onClear();
            onReviewed(reviewed);
            void makeOld('decisions');
            void makeOld('decision');
          }}
        />
      )}
    </div>
  );
}

function Bulk({
  decisions: given,
  verdict,
  onClose,
}: {
  decisions: readonly Decision[];
  verdict: Verdict;
  /** With the ids of what was reviewed; null when nothing was tried. */
  onClose: (reviewed: ReadonlySet<string> | null) => void;
}) {
  const me = useMe();
  // What was selected when the dialog opened; the list below it goes on changing.
  const [decisions] = useState(given);
  const [reason_code, setReason] = useState(verdict === 'ALLOW' ? 'WITHIN_PURPOSE' : '');
  const [comment, setComment] = useState('');
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [state, setState] = useState<'asking' | 'running' | 'over'>('asking');
  const stopped = useRef(false);
  const note = (id: string, result: Result) => setResults((before) => new Map(before).set(id, result));
  const run = async () => {
    setState('running');
    for (const { decision_id, requested_by } of decisions) {
      if (stopped.current || requested_by.principal_id === me.principal_id) {
        note(decision_id, { state: 'skipped' });
        continue;
      }
      note(decision_id, { state: 'waiting' });
      try {
        const words = comment.trim() === '' ? {} : { comment };
        await purser.decisions.review(decision_id, { action: verdict, reason_code, ...words });
        note(decision_id, { state: 'done' });
      } catch (error) {
        note(decision_id, { state: 'failed', sentence: sentenceOf(error) });
      }
    }
    setState('over');
  };
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
      title={`${words(verdict)} ${decisions.length} ${decisions.length === 1 ? 'spend' : 'spends'}`}
      onClose={() => {
        if (state === 'running') stopped.current = true;
        else close();
      }}
    >
      {state === 'asking' && (
        <>
          <SelectField
            label="Reason"
            value={reason_code}
            onValue={setReason}
            options={[
              ...(verdict === 'DENY' ? [['', 'Choose a reason…'] as const] : []),
              ...REVIEW_REASONS[verdict],
            ]}
          />
          <AreaField label="Comment" optional maxLength={2000} value={comment} onValue={setComment} />
        </>
      )}
      {state !== 'asking' && (
        <p role="status">
          {count('done')} of {decisions.length} recorded
          {count('failed') > 0 && `, ${count('failed')} refused`}
          {count('skipped') > 0 && `, ${count('skipped')} left out`}.
        </p>
      )}
      <ul className={styles.results}>
        {decisions.map(({ decision_id, action, requested_amount_minor, currency, requested_by }) => {
          const result = results.get(decision_id);
          const is_own = requested_by.principal_id === me.principal_id;
          return (
            <li key={decision_id}>
              <span className={styles.merchant}>{action.merchant}</span>
              {result === undefined ? (
                <Money amount_minor={requested_amount_minor} currency={currency} />
              ) : (
                <ResultBadge result={result} verdict={verdict} />
              )}
              {is_own && <p>Your own request: it is left out.</p>}
              {result?.state === 'failed' && <p>{result.sentence}</p>}
            </li>
          );
        })}
      </ul>
      <Actions>
        {state === 'asking' && (
          <>
            <Button onClick={() => onClose(null)}>Cancel</Button>
            <Button
              kind={verdict === 'DENY' ? 'danger-primary' : 'primary'}
              why={reason_code === '' && 'Choose a reason first.'}
              onClick={run}
            >
              Confirm
            </Button>
          </>
        )}
        {state === 'running' && <Button onClick={() => (stopped.current = true)}>Stop after this one</Button>}
        {state === 'over' && (
          <Button kind="primary" onClick={close}>
            Done
          </Button>
        )}
      </Actions>
    </Dialog>
  );
}

function ResultBadge({ result, verdict }: { result: Result; verdict: Verdict }) {
  if (result.state === 'done') return <StateBadge state={verdict === 'ALLOW' ? 'ALLOWED' : 'DENIED'} />;
  if (result.state === 'failed') return <StateBadge state="FAILED" />;
  return <span>{result.state === 'skipped' ? 'Left out' : '…'}</span>;
}
