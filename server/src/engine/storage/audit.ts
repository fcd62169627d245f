import type { AuditRecord } from '@purser/rules/domain/audit';
import type { Client, Queryable } from './database.ts';
import { firstSeqAt } from './ledger.ts';
import { pageRows, type SizedRow, withinBytes } from './pages.ts';
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

/** Filters of the audit list; all must match. */
export interface AuditFilters {
  action?: readonly string[];
  /** Ids of keys, sessions or users, or principals. */
  actor?: readonly string[];
  /** Ids of what was changed. */
  target?: readonly string[];
  /** Inclusive, ISO 8601 UTC. */
  from?: string;
  /** Exclusive, ISO 8601 UTC. */
  to?: string;
}

/** A page ends after so many records that were looked at: of who made a change there is no index. */
const MAX_RECORDS_LOOKED_AT = 20_000;

/**
 * Matches the actor of a change. A user is identified by the principal of their membership. Ids and principals in the
 * JSON contain only visible ASCII characters.
 */
const IS_ACTOR = (
  parameter: string,
) => `(actor ->> 'key_id' = any(${parameter}) or actor ->> 'session_id' = any(${parameter})
  or actor ->> 'principal_id' = any(${parameter}) or actor ->> 'principal_id' in (
    select principal_id from members where workspace_id = $1 and user_id = any(${parameter})))`;

/**
 * Returns a page of the audit list, newest first, older than `after`: `limit` records, or fewer if they add up to
 * about a megabyte or if so many were looked at that a page ends. Only when `next` is null nothing follows.
 */
export async function listAuditRecords(
  db: Queryable,
  workspace_id: string,
  filters: AuditFilters,
  page: { after: number | null; limit: number },
): Promise<{ rows: ListedAuditRecord[]; next: number | null }> {
  const { action, actor, target, from, to } = filters;
  const values: unknown[] = [workspace_id];
  const spans = ['workspace_id = $1'];
  const add = (value: unknown) => `$${values.push(value)}`;
  if (page.after !== null) spans.push(`seq < ${add(page.after)}`);
  if (from !== undefined) spans.push(`seq >= ${add(await firstSeqAt(db, workspace_id, from))}`);
  if (to !== undefined) spans.push(`seq < ${add(await firstSeqAt(db, workspace_id, to))}`);
  const select = (...where: string[]) =>
    `(select ${LISTED_COLUMNS} from audit_records where ${[...spans, ...where].join(' and ')}
      order by seq desc limit ${MAX_RECORDS_LOOKED_AT})`;
  // Each along one index: what was changed narrows more than how.
  const selects = target?.map((id) => select(`target_id = ${add(id)}`, `target_id <> ''`)) ??
    action?.map((name) => select(`action = ${add(name)}`, `action <> ''`)) ?? [select()];
  const candidates = `select * from (${selects.join(' union all ')}) as found
    order by seq desc limit ${MAX_RECORDS_LOOKED_AT}`;
  const of_candidates = [...values];
  const conditions = ['true'];
  if (action !== undefined) conditions.push(`action = any(${add(action)}::text[])`);
  if (actor !== undefined) conditions.push(IS_ACTOR(`${add(actor)}::text[]`));
  const result = await db.query<ListedAuditRecord & SizedRow>({
    text: withinBytes(
      `select * from (${candidates}) as c where ${conditions.join(' and ')} order by seq desc limit ${page.limit + 1}`,
      { size: 'octet_length(changes::text)', order: 'seq desc' },
    ),
    values,
  });
  const { rows, has_more } = pageRows(
    result.rows,
    page.limit,
    ({ found, bytes_before, ...record }) => record,
  );
  if (has_more) return { rows, next: rows.at(-1)?.seq ?? null };
  const last = await db.query<{ seq: number }>({
    text: `select seq from (${candidates}) as c order by seq desc offset ${MAX_RECORDS_LOOKED_AT - 1} limit 1`,
    values: of_candidates,
  });
  return { rows, next: last.rows[0]?.seq ?? null };
}

/** Returns who made each of these keys; those without a record of it are left out. */
export async function loadKeyCreators(
  db: Queryable,
  workspace_id: string,
  key_ids: readonly string[],
): Promise<Map<string, AuditRecord['actor']>> {
  const result = await db.query<{ target_id: string; actor: AuditRecord['actor']; workspace_id: string }>({
    name: 'load_key_makers',
    text: `select target_id, actor from audit_records
      where workspace_id = $1 and target_id = any($2) and target_id <> '' and action = 'api_key.created'`,
    values: [workspace_id, key_ids],
  });
  return new Map(result.rows.map(({ target_id, actor }) => [target_id, actor]));
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
