import type { Decision, RecordedReview } from '@purser/sdk';
import { useRef, useState } from 'react';
import { codeOfError, purser } from '../../api/client.ts';
import { makeOld } from '../../api/live.ts';
import { useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { REVIEW_REASONS } from '../../lib/review-reasons.ts';
import { useForm } from '../../lib/use-form.ts';
import { useKeys } from '../../lib/use-keys.ts';
import { words } from '../../lib/words.ts';
import { Button } from '../Button.tsx';
import { AreaField, SelectField } from '../Field.tsx';
import { ErrorNotice, Notice } from '../Notice.tsx';
import styles from './ReviewBox.module.css';

type Verdict = 'ALLOW' | 'DENY';

/** Why this person may not review this decision; nothing where they may. */
export function useWhyNot(decision: Decision): string | undefined {
  const me = useMe();
  const may = useMay('review');
  if (!may) return WHY_NOT.review;
  if (decision.requested_by.principal_id === me.principal_id) {
    return `You asked for this spend yourself (${me.principal_id}), so somebody else has to review it.`;
  }
  return undefined;
}

/** The two buttons of a pending review, and the reason and comment that follow. Works by keyboard from end to end. */
export function ReviewBox({
  decision,
  onDone,
}: {
  decision: Decision;
  onDone: (review: RecordedReview) => void;
}) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const why = useWhyNot(decision);
  useKeys(
    { a: () => setVerdict('ALLOW'), d: () => setVerdict('DENY') },
    why === undefined && verdict === null,
  );
  return (
    <div className={styles.box}>
      {verdict === null ? (
        <div className={styles.buttons}>
          <Button
            className={styles.allow}
            why={why}
            shortcut="a"
            onClick={() => setVerdict('ALLOW')}
            aria-keyshortcuts="a"
          >
            Allow
          </Button>
          <Button
            kind="danger"
            why={why}
            shortcut="d"
            onClick={() => setVerdict('DENY')}
            aria-keyshortcuts="d"
          >
            Deny
          </Button>
          {why !== undefined && <span className={styles.as}>{why}</span>}
        </div>
      ) : (
        <Verdict
          key={verdict}
          decision={decision}
          verdict={verdict}
          onCancel={() => setVerdict(null)}
          onOther={() => setVerdict(verdict === 'ALLOW' ? 'DENY' : 'ALLOW')}
          onDone={onDone}
        />
      )}
    </div>
  );
}

function Verdict({
  decision,
  verdict,
  onCancel,
  onOther,
  onDone,
}: {
  decision: Decision;
  verdict: Verdict;
  onCancel: () => void;
  onOther: () => void;
  onDone: (review: RecordedReview) => void;
}) {
  const me = useMe();
  const reasons = REVIEW_REASONS[verdict];
  const form = useForm(
    { reason_code: verdict === 'ALLOW' ? (reasons[0]?.[0] ?? '') : '', comment: '' },
    async ({ reason_code, comment }) => {
      const review = await purser.decisions.review(decision.decision_id, {
        action: verdict,
        reason_code,
        ...(comment.trim() === '' ? {} : { comment }),
        // In SHADOW a second review corrects the first.
        ...(decision.review === null ? {} : { supersedes: decision.review.review_id }),
      });
      onDone(review);
    },
    {
      check: ({ reason_code }): { reason_code?: string } =>
        reason_code === '' ? { reason_code: 'choose one, so that the next person knows why' } : {},
    },
  );
  const box = useRef<HTMLFormElement>(null);
  const digits = Object.fromEntries(
    reasons.map(([code], i) => [String(i + 1), () => form.set('reason_code', code)]),
  );
  useKeys({
    ...digits,
    'Ctrl+Enter': () => void form.onSubmit(),
    Escape: onCancel,
    c: () => box.current?.querySelector('textarea')?.focus(),
    [verdict === 'ALLOW' ? 'd' : 'a']: onOther,
  });
  return (
    <form
      ref={box}
      className={styles.form}
      onSubmit={form.onSubmit}
      aria-label={`${words(verdict)} this spend`}
    >
      <SelectField
        label="Reason"
        // The keys go on where the eye is: digits choose here too.
        autoFocus
        {...form.field('reason_code')}
        onKeyDown={(event) => {
          const choose = digits[event.key];
          if (choose === undefined || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          choose();
        }}
        options={[
          ...(verdict === 'DENY' ? [['', 'Choose a reason…'] as const] : []),
          ...reasons.map(([code, text], i) => [code, `${i + 1}  ${text}`] as const),
        ]}
      />
      <AreaField label="Comment" optional rows={1} maxLength={2000} {...form.field('comment')} />
      <div className={styles.foot}>
        <Button
          kind={verdict === 'ALLOW' ? undefined : 'danger-primary'}
          className={verdict === 'ALLOW' ? styles.allow : undefined}
          type="submit"
          busy={form.busy}
          shortcut="Ctrl ↵"
        >
          Confirm
        </Button>
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <span className={styles.as}>
          {words(verdict)}, as {me.user.name} ({me.principal_id})
        </span>
      </div>
      {form.error !== null && <Refused error={form.error} decision={decision} />}
    </form>
  );
}

/** A refusal of a review, with what it means here and what can be done. */
function Refused({ error, decision }: { error: unknown; decision: Decision }) {
  const again = (
    <Button
      small
      onClick={() => {
        void makeOld('decision', decision.decision_id);
        void makeOld('decisions');
      }}
    >
      Show how it stands
    </Button>
  );
  switch (codeOfError(error)) {
    case 'review_final':
      return (
        <Notice tone="bad" title="This is decided already." actions={again}>
          Somebody else reviewed it, or its time ran out. Your review was not recorded.
        </Notice>
      );
    case 'authority_changed':
      return (
        <Notice tone="bad" title="The agent’s authority has changed since." actions={again}>
          It can no longer be allowed under the rules of that time. Deny it, and the agent may ask again under
          the new ones.
        </Notice>
      );
    case 'self_review_forbidden':
      return (
        <Notice tone="bad" title="This is your own request.">
          Whoever asked for a spend cannot review it. Leave it to somebody else.
        </Notice>
      );
    case 'not_reviewable':
      return (
        <Notice tone="bad" title="There is nothing to review." actions={again}>
          Only a spend that was sent to a person can be reviewed.
        </Notice>
      );
    default:
      return <ErrorNotice error={error} title="Your review was not recorded." />;
  }
}
