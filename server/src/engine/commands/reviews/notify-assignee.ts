import type { Note } from '@purser/contract/reviews/note';
import type { WorkingSet } from '../../lane/working-set.ts';

/** Mails the person to whom a note assigned a review, unless they assigned it themselves. */
export function notifyAssignee(
  set: WorkingSet,
  { decision_id, assign_to, principal_id }: Note,
  expires_at: string | null,
): void {
  if (assign_to === null || assign_to === principal_id) return;
  const expires_ms = expires_at === null ? null : Date.parse(expires_at);
  set.outbox.notices.assigned(decision_id, assign_to, expires_ms);
}
