import { shownHash } from '@purser/rules/domain/ledger';
import type { Queryable } from '../storage/database.ts';
import type { LedgerVerification } from './verify-ledger.ts';

/** The result of the last verification of a whole history. */
export type LastVerification = Pick<
  LedgerVerification,
  'checked_at' | 'valid' | 'events_checked' | 'first_break_seq'
>;

/** Keeps what a verification of the whole history found, unless a later one is kept already. */
export async function saveVerification(
  db: Queryable,
  workspace_id: string,
  { checked_at, valid, events_checked, first_break_seq }: LastVerification,
): Promise<void> {
  await db.query({
    name: 'keep_verification',
    text: `insert into last_verifications as kept (workspace_id, checked_at, valid, events_checked, first_break_seq)
      values ($1, $2, $3, $4, $5)
      on conflict (workspace_id) do update set checked_at = excluded.checked_at, valid = excluded.valid,
        events_checked = excluded.events_checked, first_break_seq = excluded.first_break_seq
      where kept.checked_at < excluded.checked_at`,
    values: [workspace_id, checked_at, valid, events_checked, first_break_seq],
  });
}

/** Counts the workspaces whose last verification found that the history does not verify. */
export async function countInvalidHistories(db: Queryable): Promise<number> {
  const result = await db.query<{ count: number }>({
    name: 'count_invalid_histories',
    text: 'select count(workspace_id) as count from last_verifications where not valid',
  });
  return result.rows[0]?.count ?? 0;
}

/** Returns the result of the last verification of the whole history; null if there was none. */
export async function getLastVerification(
  db: Queryable,
  workspace_id: string,
): Promise<LastVerification | null> {
  const result = await db.query<LastVerification>({
    name: 'get_last_verification',
    text: `select checked_at, valid, events_checked, first_break_seq from last_verifications where workspace_id = $1`,
    values: [workspace_id],
  });
  return result.rows[0] ?? null;
}

/** Returns a verification as the API and the command line show it. */
export function verificationBody(found: LedgerVerification) {
  const { valid, checked_at, events_checked, head, checkpoint, breaks, first_break_seq } = found;
  const { approvals, signer_roots, roots_pinned } = found;
  return {
    valid,
    checked_at,
    events_checked,
    head: { seq: head.seq, hash: shownHash(head.hash) },
    checkpoint:
      checkpoint === null
        ? null
        : {
            seq: checkpoint.seq,
            hash: shownHash(checkpoint.hash),
            signed_at: checkpoint.signed_at,
            key_id: checkpoint.key_id,
            note: checkpoint.note,
            checked: checkpoint.checked,
          },
    approvals,
    signer_roots,
    roots_pinned,
    breaks,
    first_break_seq,
  };
}
