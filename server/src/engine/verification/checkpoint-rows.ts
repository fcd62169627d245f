import type { Checkpoint } from '@purser/rules/domain/checkpoints';
import type { LedgerHead } from '@purser/rules/domain/ledger';
import { findEverywhere } from '../citus/find-everywhere.ts';
import type { Queryable } from '../storage/database.ts';

/** Inserts a checkpoint, unless there is already one for the same event. */
export async function insertCheckpoint(db: Queryable, checkpoint: Checkpoint): Promise<void> {
  const { workspace_id, seq, hash, signed_at, key_id, note } = checkpoint;
  await db.query({
    name: 'insert_checkpoint',
    text: `insert into checkpoints (workspace_id, seq, hash, signed_at, key_id, note)
      values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    values: [workspace_id, seq, hash, signed_at, key_id, note],
  });
}

/** Returns a workspace's newest stored checkpoints before `before`, newest first, without verifying them. */
export async function loadCheckpoints(
  db: Queryable,
  workspace_id: string,
  limit: number,
  before: number | null = null,
): Promise<Checkpoint[]> {
  const result = await db.query<Checkpoint>({
    name: 'load_checkpoints',
    text: `select workspace_id, seq, hash, signed_at, key_id, note from checkpoints
      where workspace_id = $1 and ($3::bigint is null or seq < $3) order by seq desc limit $2`,
    values: [workspace_id, limit, before],
  });
  return result.rows;
}

/** Deletes pruned checkpoints. */
export async function deleteCheckpoints(
  db: Queryable,
  workspace_id: string,
  seqs: readonly number[],
): Promise<void> {
  await db.query({
    name: 'delete_checkpoints',
    text: 'delete from checkpoints where workspace_id = $1 and seq = any($2)',
    values: [workspace_id, seqs],
  });
}

/** Returns the workspaces that have checkpoints, even if nothing else of them is left; for the operator. */
export async function listCheckpointedWorkspaces(db: Queryable): Promise<string[]> {
  const result = await db.query<{ workspace_id: string }>({
    text: 'select distinct workspace_id from checkpoints order by workspace_id',
  });
  return result.rows.map((row) => row.workspace_id);
}

/** The head of a chain, the timestamp of its last batch (ms), and the `seq` of its newest stored checkpoint. */
export type MovedHead = LedgerHead & { workspace_id: string; time_ms: number; signed_seq: number | null };

/** Returns a page of the heads with a last batch after `moved_after_ms`, of workspaces after `after`, in order. */
export async function listMovedHeads(
  db: Queryable,
  page: { moved_after_ms: number; after: string; limit: number },
): Promise<MovedHead[]> {
  return findEverywhere<MovedHead>(db, {
    name: 'list_moved_heads',
    text: `select h.workspace_id, h.seq, h.hash, h.time_ms,
        (select max(c.seq) from checkpoints c where c.workspace_id = h.workspace_id) as signed_seq
      from ledger_heads h where h.workspace_id > $1 and h.time_ms > $2 order by h.workspace_id limit $3`,
    values: [page.after, page.moved_after_ms, page.limit],
    limit: page.limit,
    order: (a, b) => (a.workspace_id < b.workspace_id ? -1 : 1),
    read: (head) => ({ ...head, hash: Buffer.from(String(head.hash).slice(2), 'hex') }),
  });
}
