import type { Note } from '@purser/contract/reviews/note';
import type { WorkingSet } from '../../lane/working-set.ts';

/** Notifies the principal to whom a note assigned a review. Without channels there is nothing to send. */
export function notifyAssignee(_set: WorkingSet, _note: Note): void {}
