import type { SheetNotice } from '@purser/contract/reviews/sheet';
import type { Queryable } from '../../engine/storage/database.ts';
import { listNotices } from '../../engine/storage/notices/notices.ts';

/** The newest notices of a decision that a sheet shows. */
const MAX_NOTICES = 200;

/** Returns the newest notices about a decision, oldest first, each with its status at this moment. */
export async function noticesOfDecision(
  db: Queryable,
  workspace_id: string,
  decision_id: string,
): Promise<SheetNotice[]> {
  const page = { after: null, limit: MAX_NOTICES };
  const found = await listNotices(db, workspace_id, { decision: decision_id }, page);
  return found.reverse().map(({ notice_id, kind, recipient, status, due_at }) => ({
    id: notice_id,
    kind,
    recipient,
    status,
    due_at,
  }));
}
