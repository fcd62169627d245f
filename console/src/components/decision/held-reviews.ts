import type { Decision, RecordedReview, ReviewRequest } from '@purser/sdk';
import { useSyncExternalStore } from 'react';
import { purser } from '../../api/client.ts';
import { invalidate, pollNow } from '../../api/live.ts';
import { dropDraft, keepRefusal } from './review-drafts.ts';

/** How long a confirmed review can be taken back. Milliseconds. */
export const HELD_MS = 5_000;

/** A review that was confirmed and is not recorded yet. */
export interface HeldReview {
  decision: Decision;
  body: ReviewRequest;
  /** True once it was sent: it can no longer be taken back. */
  is_sent: boolean;
}

/** A review that was recorded in this page. */
export interface DoneReview {
  decision: Decision;
  review: RecordedReview;
}

/** By decision ID, oldest first. Replaced on each change, so that subscribers notice it. */
let held: ReadonlyMap<string, HeldReview> = new Map();
let last: DoneReview | null = null;
const timers = new Map<string, ReturnType<typeof setTimeout>>();
const listeners = new Set<() => void>();

function change(decision_id: string, now: HeldReview | null): void {
  const after = new Map(held);
  if (now === null) after.delete(decision_id);
  else after.set(decision_id, now);
  held = after;
  for (const each of listeners) each();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The reviews that are held or on their way, by decision ID. */
export const useHeldReviews = (): ReadonlyMap<string, HeldReview> =>
  useSyncExternalStore(subscribe, () => held);

/** The review that this page recorded last; null if there is none. */
export const useLastReview = (): DoneReview | null => useSyncExternalStore(subscribe, () => last);

/** Notes a review as recorded, and refreshes what depends on it. */
export function reviewRecorded(decision: Decision, review: RecordedReview): void {
  const { decision_id } = decision;
  dropDraft(decision_id);
  keepRefusal(decision_id, null);
  last = { decision, review };
  change(decision_id, null);
  void invalidate('decision', decision_id);
  void invalidate('decisions');
  void invalidate('questions');
  pollNow();
}

/** Holds a confirmed review for five seconds, then sends it. A refusal brings it back with its draft. */
export function holdReview(decision: Decision, body: ReviewRequest): void {
  const { decision_id } = decision;
  change(decision_id, { decision, body, is_sent: false });
  timers.set(
    decision_id,
    setTimeout(() => void send(decision_id), HELD_MS),
  );
}

/** Takes back a review that was not sent yet: its form opens again with its draft. Returns whether it could. */
export function undoReview(decision_id: string): boolean {
  const found = held.get(decision_id);
  if (found === undefined || found.is_sent) return false;
  clearTimeout(timers.get(decision_id));
  keepRefusal(decision_id, { verdict: found.body.action, error: null, decision: found.decision });
  change(decision_id, null);
  return true;
}

/** Sends every held review now. */
export function sendHeldReviews(): void {
  for (const [decision_id, { is_sent }] of held) if (!is_sent) void send(decision_id);
}

async function send(decision_id: string): Promise<void> {
  clearTimeout(timers.get(decision_id));
  timers.delete(decision_id);
  const found = held.get(decision_id);
  if (found === undefined || found.is_sent) return;
  const { decision, body } = found;
  change(decision_id, { ...found, is_sent: true });
  try {
    reviewRecorded(decision, await purser.decisions.review(decision_id, body));
  } catch (error) {
    keepRefusal(decision_id, { verdict: body.action, error, decision });
    change(decision_id, null);
    void invalidate('decision', decision_id);
    void invalidate('decisions');
  }
}

// A page that is left would lose what it holds.
window.addEventListener('pagehide', sendHeldReviews);
document.addEventListener('visibilitychange', () => {
  if (document.hidden) sendHeldReviews();
});
