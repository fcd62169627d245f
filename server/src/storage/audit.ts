import type { AuditRecord } from '../domain/audit.ts';
import type { Client, Queryable } from './database.ts';
import { type PageRows, pageRows, type SizedRow, withinBytes } from './pages.ts';
import { makeInsert, mapParts, type WorkspaceRows } from './rows.ts';

/** `state` is not among them: the list does not show it, and it may hold a whole authority. */
const LISTED_COLUMNS =
  'seq, audit_id, action, actor, target_type, target_id, changes, request_id, client_address, created_at';

const insert = makeInsert<Omit<AuditRecord, 'actor' | 'changes'> & { actor: string; changes: string }>(
  'audit_records',
  {
    seq: 'bigint',
    audit_id: 'text',
    action: 'text',
    actor: 'json',
    target_type: 'text',
    target_id: 'text',
    changes: 'json',
    state: 'text',
    request_id: 'text',
    client_address: 'text',
    created_at: 'timestamptz',
  },
);

/** Appends audit records. Their `seq` in the chain has been assigned already. */
export function insertAuditRecords(
  client: Client,
  parts: readonly WorkspaceRows<AuditRecord>[],
): Promise<unknown> {
  return insert(
    client,
    mapParts(parts, (record) => ({
      ...record,
      actor: JSON.stringify(record.actor),
      changes: JSON.stringify(record.changes),
    })),
  );
}

/** An audit record as the list shows it. */
export type ListedAuditRecord = Omit<AuditRecord, 'state'>;

/**
 * Returns a page of the audit list, newest first, older than `after`: `limit` records, or fewer if they add up to
 * about a megabyte.
 */
export async function listAuditRecords(
  db: Queryable,
  workspace_id: string,
  page: { after: number | null; limit: number },
): Promise<PageRows<ListedAuditRecord>> {
  const result = await db.query<ListedAuditRecord & SizedRow>({
    name: 'list_audit_records',
    text: withinBytes(
      `select ${LISTED_COLUMNS} from audit_records where workspace_id = $1 and ($2::bigint is null or seq < $2)
        order by seq desc limit $3`,
      { size: 'octet_length(changes::text)', order: 'seq desc' },
    ),
    values: [workspace_id, page.after, page.limit + 1],
  });
  return pageRows(result.rows, page.limit, ({ found, bytes_before, ...record }) => record);
}

/** Returns the audit records with these `seq`. */
export async function loadAuditRecords(
  db: Queryable,
  workspace_id: string,
  seqs: readonly number[],
): Promise<AuditRecord[]> {
  const result = await db.query<
    Omit<AuditRecord, 'actor' | 'changes'> & { actor: string; changes: string; workspace_id: string }
  >({
    name: 'load_audit_records',
    text: `select seq, audit_id, action, actor::text, target_type, target_id, changes::text, state, request_id,
        client_address, created_at
      from audit_records where workspace_id = $1 and seq = any($2) order by seq`,
    values: [workspace_id, seqs],
  });
  return result.rows.map((row) => ({
    ...row,
    actor: parseExactly(row.actor) as AuditRecord['actor'],
    changes: parseExactly(row.changes) as AuditRecord['changes'],
  }));
}

/** Parses a JSON text that is formatted as the service writes it; any other text is not what was sealed and stays text. */
function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return JSON.stringify(value) === text ? value : text;
}
