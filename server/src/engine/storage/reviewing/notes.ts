import type { Note } from '@purser/contract/reviews/note';
import type { Queryable } from '../database.ts';
import { makeInsert } from '../rows.ts';

const COLUMNS = 'note_id, decision_id, text, assign_to, principal_id, key_id, created_at';

export const insertNotes = makeInsert<Note>('notes', {
  note_id: 'text',
  decision_id: 'text',
  text: 'text',
  assign_to: 'text',
  principal_id: 'text',
  key_id: 'text',
  created_at: 'timestamptz',
});

/** Returns the notes with these ids. */
export async function loadNotes(
  db: Queryable,
  workspace_id: string,
  note_ids: readonly string[],
): Promise<Note[]> {
  const result = await db.query<Note & { workspace_id: string }>({
    name: 'load_notes',
    text: `select ${COLUMNS} from notes where workspace_id = $1 and note_id = any($2)`,
    values: [workspace_id, note_ids],
  });
  return result.rows;
}

/** Returns the newest `limit` notes on a decision, oldest first. */
export async function listNotes(
  db: Queryable,
  workspace_id: string,
  decision_id: string,
  limit: number,
): Promise<Note[]> {
  const result = await db.query<Note & { workspace_id: string }>({
    name: 'list_notes',
    text: `select ${COLUMNS} from notes where workspace_id = $1 and decision_id = $2 and decision_id <> ''
      order by note_id desc limit $3`,
    values: [workspace_id, decision_id, limit],
  });
  return result.rows.reverse();
}

/** Returns to whom the review of each of these decisions was assigned last; one that never was is left out. */
export async function loadAssignees(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<Map<string, string>> {
  const result = await db.query<{ decision_id: string; assign_to: string }>({
    name: 'load_assignees',
    text: `select w.decision_id, n.assign_to from unnest($2::text[]) as w(decision_id)
      cross join lateral (
        select assign_to from notes where workspace_id = $1 and decision_id = w.decision_id and decision_id <> ''
          and assign_to is not null order by note_id desc limit 1) as n`,
    values: [workspace_id, decision_ids],
  });
  return new Map(result.rows.map(({ decision_id, assign_to }) => [decision_id, assign_to]));
}

/** Returns whether a key that is active and may review carries this principal. */
export async function mayKeyReview(
  db: Queryable,
  workspace_id: string,
  principal_id: string,
): Promise<boolean> {
  const result = await db.query({
    name: 'may_key_review',
    text: `select from api_keys where workspace_id = $1 and principal_id = $2 and 'review' = any(scopes)
      and revoked_at is null and (expires_at is null or expires_at > (select clock_timestamp())) limit 1`,
    values: [workspace_id, principal_id],
  });
  return result.rowCount === 1;
}
