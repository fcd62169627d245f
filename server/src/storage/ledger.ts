import type { LedgerEvent, LedgerHead } from '../domain/ledger.ts';
import type { Queryable } from './database.ts';
import { makeInsert } from './rows.ts';

const COLUMNS = 'seq, id, type, subject_type, subject_id, occurred_at, data_hash, prev_hash, hash';

export const appendLedgerEvents = makeInsert<LedgerEvent>('ledger_events', {
  seq: 'bigint',
  id: 'text',
  type: 'text',
  subject_type: 'text',
  subject_id: 'text',
  occurred_at: 'timestamptz',
  data_hash: 'bytea',
  prev_hash: 'bytea',
  hash: 'bytea',
});

/** A page of the chain, newest first (`before`) or oldest first (`after`). */
export async function listLedgerEvents(
  db: Queryable,
  workspace_id: string,
  page: { before: number | null; limit: number },
): Promise<LedgerEvent[]> {
  const result = await db.query<LedgerEvent & { workspace_id: string }>({
    name: 'list_ledger_events',
    text: `select ${COLUMNS} from ledger_events where workspace_id = $1 and ($2::bigint is null or seq < $2)
      order by seq desc limit $3`,
    values: [workspace_id, page.before, page.limit],
  });
  return result.rows;
}

/** The links that follow `after`, in the order of the chain. */
export async function loadLedgerEvents(
  db: Queryable,
  workspace_id: string,
  page: { after: number; limit: number },
): Promise<LedgerEvent[]> {
  const result = await db.query<LedgerEvent & { workspace_id: string }>({
    name: 'load_ledger_events',
    text: `select ${COLUMNS} from ledger_events where workspace_id = $1 and seq > $2 order by seq limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Where the chain ends according to its head, and what the head's row says besides. */
export interface KeptHead extends LedgerHead {
  /** The last moment used in this workspace, ms. */
  time_ms: number;
  has_webhooks: boolean;
}

/** The row of the chain's head; undefined when even that is gone. */
export async function getHead(db: Queryable, workspace_id: string): Promise<KeptHead | undefined> {
  const result = await db.query<KeptHead & { workspace_id: string }>({
    name: 'get_head',
    text: 'select seq, hash, time_ms, has_webhooks from ledger_heads where workspace_id = $1',
    values: [workspace_id],
  });
  return result.rows[0];
}
