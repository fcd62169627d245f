import type { Decision, ReviewRequest } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { deniedByDefault, doubtsOf } from '../../lib/questions.ts';
import { choicesFor, REVIEW_REASONS } from '../../lib/review-reasons.ts';
import { needsSignature, shownOfReview, signStatement } from '../../lib/signing/statements.ts';
import { words } from '../../lib/words.ts';
import { Author, RecordedAs } from '../Author.tsx';
import { Button } from '../Button.tsx';
import { AreaField, SelectField } from '../Field.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { ErrorNotice, Notice } from '../Notice.tsx';
import { DeniedQuestions } from '../questions/DeniedQuestions.tsx';
import { Time } from '../Value.tsx';
import { AssignButton } from './Assign.tsx';
import { type HeldReview, holdReview, reviewRecorded, undoReview, useHeldReviews } from './held-reviews.ts';
import { OneChoice, offerOf, type Reach } from './OneChoice.tsx';
import styles from './ReviewBox.module.css';
import { refusalOf } from './refusals.ts';
import { draftOf, keepDraft, keepRefusal, useRefusedReviews } from './review-drafts.ts';
import { sheetQuery } from './Sheet.tsx';
import { SignedFacts } from './SignedFacts.tsx';
import { newStanding, standingOf, standingProblems } from './StandingFields.tsx';

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
  /** Called when the review is confirmed, which is before it is recorded. */
  onDone: () => void;
  /** Called when the form opens or closes, so that the box can stay until the reviewer is done. */
  onOpen?: (is_open: boolean) => void;
}) {
  const { decision_id } = decision;
  const refused = useRefusedReviews().get(decision_id);
  const held = useHeldReviews().get(decision_id);
  const [chosen, setOpened] = useState<{ verdict: Verdict; decision: Decision; reach: Reach } | null>(null);
  const opened = chosen ?? (refused === undefined ? null : { ...refused, reach: 'ONCE' as const });
  const why = useWhyNot(decision);
  const sheet = useQuery({ ...sheetQuery(decision_id), enabled: why === undefined }).data;
  const open = (verdict: Verdict, reach: Reach = 'ONCE') => {
    if (reach !== 'ONCE' && offerOf(sheet, reach)?.offered !== true) return false;
    setOpened({ verdict, decision, reach });
    onOpen(true);
    return true;
  };
  const close = () => {
    keepRefusal(decision_id, null);
    setOpened(null);
    onOpen(false);
  };
  useKeys(
    {
      a: () => open('ALLOW'),
      d: () => open('DENY'),
      w: () => open('ALLOW', 'ALWAYS'),
      'Shift+W': () => open('DENY', 'NEVER'),
    },
    why === undefined && opened === null && held === undefined,
  );
  if (held !== undefined) return <Held review={held} />;
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
        {why === undefined && sheet?.remember.ALWAYS.offered === true && (
          <Button shortcut="w" aria-keyshortcuts="w" onClick={() => open('ALLOW', 'ALWAYS')}>
            Always allow
          </Button>
        )}
        {why === undefined && sheet?.remember.NEVER.offered === true && (
          <Button
            kind="danger"
            shortcut="⇧W"
            aria-keyshortcuts="Shift+W"
            onClick={() => open('DENY', 'NEVER')}
          >
            Never
          </Button>
        )}
        <AssignButton decision_id={decision_id} />
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
        reach={opened.reach}
        onCancel={close}
        refused={refused?.verdict === verdict ? refused.error : null}
        onOther={() => {
          setOpened({ verdict: other, decision: opened.decision, reach: 'ONCE' });
          keepRefusal(decision_id, null);
        }}
        onDone={() => {
          close();
          onDone();
        }}
      />
    </div>
  );
}

/** A confirmed review in place of its form. */
function Held({ review: { decision, body, is_sent } }: { review: HeldReview }) {
  return (
    <div className={styles.buttons}>
      <span className={styles.as}>
        {is_sent ? 'Your review is being recorded…' : `${words(body.action)} is recorded in a few seconds.`}
      </span>
      {!is_sent && <Button onClick={() => undoReview(decision.decision_id)}>Undo</Button>}
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
  reach: given_reach,
  refused,
  onCancel,
  onOther,
  onDone,
}: {
  /** The decision when the form was opened. */
  decision: Decision;
  verdict: Verdict;
  /** The reviewer's choice by a button. */
  reach: Reach;
  /** The error of an earlier attempt. Null if there is none. */
  refused: unknown;
  onCancel: () => void;
  onOther: () => void;
  onDone: () => void;
}) {
  const { decision_id, currency } = decision;
  const most_minor = useQuery(sheetQuery(decision_id)).data?.standing_approval.most_minor ?? null;
  const reasons = REVIEW_REASONS[verdict];
  const default_reason = choicesFor(decision).defaults[verdict];
  const [draft] = useState(() => draftOf(decision_id));
  const drafted_reason = draft.reasons[verdict];
  const [is_sent_here, setSentHere] = useState(false);
  const me = useMe();
  const is_signed = verdict === 'ALLOW' && needsSignature(decision);
  const doubts = doubtsOf(decision);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(draft.questions ?? deniedByDefault(decision)),
  );
  const denied = verdict === 'DENY' && doubts.length > 1 ? { questions: [...chosen] } : {};
  // The draft is of the same action: a permission is never remembered as a denial.
  const [reach, setReach] = useState<Reach>(
    given_reach !== 'ONCE' ? given_reach : (draft.reach?.[verdict] ?? 'ONCE'),
  );
  const form = useForm(
    {
      reason_code: drafted_reason ?? default_reason,
      comment: draft.comment,
      ...(draft.standing ?? newStanding()),
    },
    async ({ reason_code, comment, ...standing }) => {
      setSentHere(true);
      const signed = {
        action: verdict,
        reason_code,
        ...(comment.trim() === '' ? {} : { comment }),
        ...(reach === 'ALWAYS' || reach === 'NEVER' ? { remember: reach } : {}),
      };
      const body: ReviewRequest = {
        ...signed,
        ...denied,
        ...(reach === 'UP_TO' ? { standing_approval: standingOf(standing, currency) } : {}),
        // In Shadow a second review corrects the first.
        ...(decision.review === null ? {} : { supersedes: decision.review.review_id }),
      };
      if (!is_signed) holdReview(decision, body);
      else await recordSigned(decision, me, signed, body);
      onDone();
    },
    {
      check: ({ reason_code, ...standing }) => ({
        ...(reason_code === '' ? { reason_code: 'choose a reason for the record' } : {}),
        ...(reach === 'UP_TO' ? standingProblems(standing, currency, most_minor) : {}),
      }),
    },
  );
  const { comment, reason_code, amount, period, until } = form.values;
  useEffect(() => {
    const reasons = { ...draftOf(decision_id).reasons, [verdict]: reason_code };
    const reaches = { ...draftOf(decision_id).reach, [verdict]: reach };
    const standing = { amount, period, until };
    keepDraft(decision_id, { comment, reasons, questions: [...chosen], reach: reaches, standing });
  }, [decision_id, verdict, comment, reason_code, chosen, reach, amount, period, until]);
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
      noValidate
      aria-label={`${words(verdict)} this request`}
    >
      <SelectField
        label="Reason"
        // Shortcuts stay active: digits choose a reason, letters belong to the screen.
        data-keys
        {...form.field('reason_code')}
        options={[
          ...(default_reason === '' ? [['', 'Choose a reason…'] as const] : []),
          ...reasons.map(([code, text], i) => [code, `${i + 1}  ${text}`] as const),
        ]}
      />
      <AreaField label="Comment" optional rows={1} maxLength={2000} {...form.field('comment')} />
      {verdict === 'DENY' && <DeniedQuestions questions={doubts} chosen={chosen} onChosen={setChosen} />}
      <OneChoice
        decision={decision}
        action={verdict}
        named={denied.questions}
        reach={reach}
        onReach={setReach}
        form={form}
        className={styles.settles}
      />
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

/** Records an approval that the reviewer's passkey signs. It is not held: the passkey was the second look. */
async function recordSigned(
  decision: Decision,
  me: ReturnType<typeof useMe>,
  signed: Pick<ReviewRequest, 'action' | 'reason_code' | 'comment' | 'remember'>,
  body: ReviewRequest,
): Promise<void> {
  const { decision_id } = decision;
  const signature = await signStatement(
    await purser.decisions.beginSignedReview(decision_id, signed),
    shownOfReview(decision, me, signed),
  );
  const sent = purser.decisions.review(decision_id, { ...body, signature });
  const review = await sent.catch((error: unknown) => {
    keepRefusal(decision_id, { verdict: body.action, error, decision });
    throw error;
  });
  reviewRecorded(decision, review);
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
