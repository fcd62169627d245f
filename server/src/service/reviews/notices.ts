import type { SheetNotice } from '@purser/contract/reviews/sheet';
import type { Queryable } from '../../engine/storage/database.ts';

/** Returns the notices about a decision, oldest first. Nobody is notified of a review yet, so there are none. */
export async function noticesOfDecision(
  _db: Queryable,
  _workspace_id: string,
  _decision_id: string,
): Promise<SheetNotice[]> {
  return [];
}
