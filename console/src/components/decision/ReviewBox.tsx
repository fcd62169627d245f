import type { Decision, RecordedReview } from '@purser/sdk';
import { useEffect, useRef, useState } from 'react';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { deniedByDefault, doubtsOf } from '../../lib/questions.ts';
import { REVIEW_REASONS } from '../../lib/review-reasons.ts';
import { needsSignature, shownOfReview, signStatement } from '../../lib/signing/statements.ts';
import { words } from '../../lib/words.ts';
import { Author, RecordedAs } from '../Author.tsx';
import { Button } from '../Button.tsx';
import { AreaField, SelectField } from '../Field.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { ErrorNotice, Notice } from '../Notice.tsx';
import { DeniedQuestions } from '../questions/DeniedQuestions.tsx';
import { ReviewSettles } from '../questions/Settles.tsx';
import { Time } from '../Value.tsx';
import styles from './ReviewBox.module.css';
import { refusalOf } from './refusals.ts';
import { draftOf, dropDraft, keepDraft, keepRefusal, useRefusedReviews } from './review-drafts.ts';
import { SignedFacts } from './SignedFacts.tsx';

type Verdict = 'ALLOW' | 'DENY';

/** The reason why this person may not review this decision. Undefined if they may. */
export function useWhyNot(decision: Decision): string | undefined {
  const me = useMe();
  const may = useMay('review');
  if (!may) return WHY_NOT.review;
  if (decision.requested_by.principal_id === me.principal_id) {
    return `This is your own request (${me.principal_id}), so somebody else must review it.`;
  }
  return undefined;
}

/**
 * The buttons of a pending review, then its reason and comment. Works entirely by keyboard. The opened form belongs to the
 * decision as it was then: later changes are announced and no input is lost. A refused review reopens with its refusal,
 * even if the reviewer had moved on.
 */
export function ReviewBox({
  decision,
  onDone,
  onOpen = () => {},
}: {
  decision: Decision;
  onDone: (review: RecordedReview) => void;
  /** Called when the form opens or closes, so that the box can stay until the reviewer is done. */
  onOpen?: (is_open: boolean) => void;
}) {
  const { decision_id } = decision;
  const refused = useRefusedReviews().get(decision_id);
  const [chosen, setOpened] = useState<{ verdict: Verdict; decision: Decision } | null>(null);
  const opened = chosen ?? refused ?? null;
  const why = useWhyNot(decision);
  const open = (verdict: Verdict) => {
    setOpened({ verdict, decision });
    onOpen(true);
  };
  const close = () => {
    keepRefusal(decision_id, null);
    setOpened(null);
    onOpen(false);
  };
  useKeys({ a: () => open('ALLOW'), d: () => open('DENY') }, why === undefined && opened === null);
  if (opened === null) {
    return (
      <div className={styles.buttons}>
        <Button
          className={styles.allow}
          why={why}
          shortcut="a"
          onClick={() => open('ALLOW')}
          aria-keyshortcuts="a"
        >
          Allow
        </Button>
        <Button kind="danger" why={why} shortcut="d" onClick={() => open('DENY')} aria-keyshortcuts="d">
          Deny
        </Button>
        {why === undefined ? <RecordedAs className={styles.as} /> : <span className={styles.as}>{why}</span>}
      </div>
    );
  }
  const { verdict } = opened;
  const other = verdict === 'ALLOW' ? 'DENY' : 'ALLOW';
  return (
    <div className={styles.box}>
      <Meanwhile before={opened.decision} now={decision} />
      <Verdict
        key={verdict}
        decision={opened.decision}
        verdict={verdict}
        onCancel={close}
        refused={refused?.verdict === verdict ? refused.error : null}
        onOther={() => {
          setOpened({ verdict: other, decision: opened.decision });
          keepRefusal(decision_id, null);
        }}
        onDone={(review) => {
          close();
          onDone(review);
        }}
      />
    </div>
  );
}

/** Announces that the decision changed while the form was open. */
function Meanwhile({ before, now }: { before: Decision; now: Decision }) {
  const { review, review_state } = now;
  if (review_state === before.review_state && review?.review_id === before.review?.review_id) return null;
  return (
    <Notice tone="bad" title="This was decided in the meantime.">
      {review === null || review_state === 'EXPIRED' ? (
        'The review expired.'
      ) : (
        <>
          {review.action === 'ALLOW' ? 'Allowed' : 'Denied'} by{' '}
          <Author principal_id={review.principal_id} key_id={review.key_id} />,{' '}
          <Time at={review.created_at} />.
        </>
      )}{' '}
      Your review was not recorded.
    </Notice>
  );
}

function Verdict({
  decision,
  verdict,
  refused,
  onCancel,
  onOther,
  onDone,
}: {
  /** The decision when the form was opened. */
  decision: Decision;
  verdict: Verdict;
  /** The error of an earlier attempt. Null if there is none. */
  refused: unknown;
  onCancel: () => void;
  onOther: () => void;
  onDone: (review: RecordedReview) => void;
}) {
  const { decision_id } = decision;
  const reasons = REVIEW_REASONS[verdict];
  const [draft] = useState(() => draftOf(decision_id));
  const [is_sent_here, setSentHere] = useState(false);
  const me = useMe();
  const is_signed = verdict === 'ALLOW' && needsSignature(decision);
  const doubts = doubtsOf(decision);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(draft.questions ?? deniedByDefault(decision)),
  );
  const denied = verdict === 'DENY' && doubts.length > 1 ? { questions: [...chosen] } : {};
  const form = useForm(
    {
      reason_code: draft.reasons[verdict] ?? (verdict === 'ALLOW' ? (reasons[0]?.[0] ?? '') : ''),
      comment: draft.comment,
    },
    async ({ reason_code, comment }) => {
      setSentHere(true);
      const signed = {
        action: verdict,
        reason_code,
        ...(comment.trim() === '' ? {} : { comment }),
      };
      const signature = is_signed
        ? await signStatement(
            await purser.decisions.beginSignedReview(decision_id, signed),
            shownOfReview(decision, me, signed),
          )
        : undefined;
      const sent = purser.decisions.review(decision_id, {
        ...signed,
        ...(signature === undefined ? {} : { signature }),
        ...denied,
        // In Shadow a second review corrects the first.
        ...(decision.review === null ? {} : { supersedes: decision.review.review_id }),
      });
      const review = await sent.catch((error: unknown) => {
        keepRefusal(decision_id, { verdict, error, decision });
        throw error;
      });
      dropDraft(decision_id);
      onDone(review);
    },
    {
      check: ({ reason_code }): { reason_code?: string } =>
        reason_code === '' ? { reason_code: 'choose a reason for the record' } : {},
    },
  );
  const { comment, reason_code } = form.values;
  useEffect(() => {
    const reasons = { ...draftOf(decision_id).reasons, [verdict]: reason_code };
    keepDraft(decision_id, { comment, reasons, questions: [...chosen] });
  }, [decision_id, verdict, comment, reason_code, chosen]);
  // The form shows errors of its own fields beside them.
  const error = is_sent_here ? form.error : refused;
  const box = useRef<HTMLFormElement>(null);
  // The page does not scroll.
  useEffect(() => box.current?.querySelector('select')?.focus({ preventScroll: true }), []);
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
      aria-label={`${words(verdict)} this request`}
    >
      <SelectField
        label="Reason"
        // Shortcuts stay active: digits choose a reason, letters belong to the screen.
        data-keys
        {...form.field('reason_code')}
        options={[
          ...(verdict === 'DENY' ? [['', 'Choose a reason…'] as const] : []),
          ...reasons.map(([code, text], i) => [code, `${i + 1}  ${text}`] as const),
        ]}
      />
      <AreaField label="Comment" optional rows={1} maxLength={2000} {...form.field('comment')} />
      {verdict === 'DENY' && <DeniedQuestions questions={doubts} chosen={chosen} onChosen={setChosen} />}
      <div className={styles.settles}>
        <ReviewSettles review_action={verdict} decisions={[decision]} named={denied.questions} />
      </div>
      <div className={styles.settles}>{is_signed && <SignedFacts decision={decision} />}</div>
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
        <RecordedAs className={styles.as} />
      </div>
      {error !== null && (
        <Refused
          error={error}
          onDeny={verdict === 'ALLOW' ? onOther : undefined}
          onLook={() => {
            onCancel();
            void invalidate('decision', decision_id);
            void invalidate('decisions');
          }}
        />
      )}
    </form>
  );
}

/** A refused review with its meaning and next steps. Input is kept. */
function Refused({
  error,
  onDeny,
  onLook,
}: {
  error: unknown;
  onDeny: (() => void) | undefined;
  onLook: () => void;
}) {
  const refusal = refusalOf(error);
  if (refusal === undefined) return <ErrorNotice error={error} title="Your review was not recorded." />;
  return (
    <Notice
      tone="bad"
      title={refusal.title}
      actions={
        <>
          {refusal.may_deny === true && onDeny !== undefined && (
            <Button small onClick={onDeny}>
              Deny it instead
            </Button>
          )}
          <Button small onClick={onLook}>
            Show current state
          </Button>
        </>
      }
    >
      {refusal.text}
    </Notice>
  );
}
