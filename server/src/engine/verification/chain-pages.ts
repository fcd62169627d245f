import type { Decision } from '@purser/contract/decisions';
import type { Mode } from '@purser/rules/domain/agents';
import { DOCUMENT_MARKS, decodeDecision } from '@purser/rules/domain/decision-document';
import type { DecisionKind, StoredCore } from '@purser/rules/domain/decisions';
import type { LedgerEvent } from '@purser/rules/domain/ledger';
import type { Queryable } from '../storage/database.ts';

/** An event of the chain with the columns of the decision that it is about. */
export interface ChainRow extends LedgerEvent {
  /**
   * True if the rows of the decision and its idempotency key hash to what was sealed. Null or false means that the event
   * is not about a decision, or that the rows differ, or that the database cannot tell; the rows must then be checked.
   */
  is_as_sealed: boolean | null;
  agent_id: string | null;
  decision: DecisionKind | null;
  mode: Mode | null;
  currency: string | null;
  /** The length of its document. */
  bytes: number | null;
  requested_amount_minor: number | null;
  /** The time that the decision counts by. */
  made_at: string | null;
  /** The columns with the core of a spend that may hold something else than the requested amount, or count in limits over time. */
  held: StoredCore | null;
  /** True if the decision's document may ask questions. */
  asks: boolean | null;
  /** The part of the document that names its allowance, where it may have one; else null. */
  under: string | null;
}

/**
 * Returns the events after `after`, in the order of the chain. PostgreSQL hashes the decisions, because transferring
 * their 3 KB would cost more than everything else together (measured over 120,000 decisions of 3.5 KB on a busy machine:
 * 14 µs of PostgreSQL and 6 of Node an event; 9 and 29 when the documents are transferred). The hashed text is that of
 * `decisionDataHash`: `to_json` of a text, and of an array of texts, is what RFC 8785 says. A decision whose hash
 * differs is checked again with `decisionDataHash` itself before it is reported.
 */
export async function loadChain(
  db: Queryable,
  workspace_id: string,
  page: { after: number; limit: number },
): Promise<ChainRow[]> {
  const result = await db.query<ChainRow & { workspace_id: string }>({
    name: 'load_chain',
    text: `select e.seq, e.id, e.type, e.subject_type, e.subject_id, e.occurred_at, e.data_hash, e.prev_hash, e.hash,
        d.agent_id, d.decision, d.mode, d.currency, d.requested_amount_minor, d.created_at as made_at,
        octet_length(d.document) as bytes,
        case when 'AMOUNT_LIMITED' = any(d.reason_codes) or strpos(coalesce(d.core, d.document), ',"limits":[') > 0
          then json_build_object('document', d.document, 'core', d.core, 'live_at', d.live_at) end as held,
        strpos(d.document, '"answered":null}') > 0 as asks,
        case when strpos(d.document, '":{"id":"alw_') > 0
          then substr(d.document, strpos(d.document, ',"min_amount_minor":'), 400) end as under,
        case when d.created_at <= e.occurred_at then sha256(convert_to(
          '{"agent_id":"' || d.agent_id
          || coalesce('","core":"sha256:' || encode(sha256(convert_to(d.core, 'UTF8')), 'hex'), '')
          || '","created_at":"' || to_char(d.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          || '","currency":"' || d.currency
          || '","decision":"' || d.decision
          || '","decision_id":"' || d.decision_id
          || '","document":"sha256:' || encode(sha256(convert_to(d.document, 'UTF8')), 'hex')
          || '","idempotency_key":' || to_json(d.idempotency_key)
          || coalesce(',"live_at":' || to_json(d.live_at), '')
          || ',"merchant":' || to_json(d.merchant)
          || ',"mode":"' || d.mode
          || '","reason_codes":' || to_json(d.reason_codes)
          || ',"request_hash":"sha256:' || encode(k.request_hash, 'hex')
          || '","requested_amount_minor":' || d.requested_amount_minor || '}', 'UTF8')) = e.data_hash end as is_as_sealed
      from (select * from ledger_events where workspace_id = $1 and seq > $2 order by seq limit $3) as e
      left join lateral (
        select * from decisions d where d.workspace_id = $1 and d.decision_id = e.subject_id
          and e.type = 'decision.created' limit 1) as d on true
      left join lateral (
        select * from idempotency_keys k where k.workspace_id = $1 and k.agent_id = d.agent_id
          and k.idempotency_key = d.idempotency_key and k.decision_id = d.decision_id limit 1) as k on true
      order by e.seq`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

const { task, created_at } = DOCUMENT_MARKS;

/** The parts of a document before the request's long texts and behind its context. */
type OutlinedDecision = Omit<
  Decision,
  | 'task'
  | 'trace'
  | 'limitable'
  | 'min_amount_minor'
  | 'standing_approval'
  | 'allowance'
  | 'context'
  | 'review'
  | 'label'
  | 'outcome_state'
  | 'verified'
>;

/**
 * Returns these decisions without the long texts of their requests and without what changes later, in no order. Those that are
 * older than `live_at`, whose fields may have another order, are read whole.
 */
export async function loadOutlinedDecisions(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<OutlinedDecision[]> {
  const result = await db.query<{ outline: string }>({
    name: 'load_outlined_decisions',
    text: `select case when d.live_at is null then d.document else split_part(d.document, '${task}', 1)
        || '${created_at}' || split_part(d.document, '${created_at}', -1) end as outline
      from unnest($2::text[]) as w(decision_id)
      cross join lateral (
        select * from decisions d where d.workspace_id = $1 and d.decision_id = w.decision_id limit 1) as d`,
    values: [workspace_id, decision_ids],
  });
  return result.rows.map(({ outline }) => decodeDecision(outline));
}

/** Tables whose ids ascend along the chain, with their id columns: events come in the order of the ids of their rows. */
const WALKED = {
  decisions: 'decision_id',
  reviews: 'review_id',
  labels: 'label_id',
  notes: 'note_id',
  outcomes: 'outcome_id',
} as const;
export type WalkedTable = keyof typeof WALKED;
export const WALKED_TABLES = Object.keys(WALKED) as WalkedTable[];

/** The ids after `after`, up to and including `upto`. */
export interface Span {
  after: string;
  upto: string;
}

/** The number of rows within the spans of ids, whether or not events speak of them. */
export interface SpanCounts extends Record<WalkedTable, number> {
  /** The decisions within their span that have a stored state. */
  kept: string[];
  /** The decisions within their span that have records. */
  recorded: string[];
}

/** Counts the rows of a part of the chain. */
export async function countSpans(
  db: Queryable,
  workspace_id: string,
  spans: Record<WalkedTable, Span>,
): Promise<SpanCounts> {
  const { decisions, reviews, labels, outcomes, notes } = spans;
  const within = (id: string) => `workspace_id = $1 and ${id} > $2 and ${id} <= $3`;
  const sameSpan = (prefix: string, id: string) =>
    `workspace_id = $1 and ${id} > '${prefix}' || substr($2, 5) and ${id} <= '${prefix}' || substr($3, 5)`;
  const result = await db.query<SpanCounts & { workspace_id: string }>({
    name: 'count_spans',
    text: `select
      (select count(*) from decisions where workspace_id = $1 and decision_id > $2 and decision_id <= $3) as decisions,
      (select count(*) from reviews where workspace_id = $1 and review_id > $4 and review_id <= $5) as reviews,
      (select count(*) from labels where workspace_id = $1 and label_id > $6 and label_id <= $7) as labels,
      (select count(*) from outcomes where workspace_id = $1 and outcome_id > $8 and outcome_id <= $9) as outcomes,
      (select count(*) from notes where workspace_id = $1 and note_id > $10 and note_id <= $11) as notes,
      array(select decision_id from decision_states where ${within('decision_id')}) as kept,
      array(
        select decision_id from reviews where ${within('decision_id')} and decision_id <> ''
        union select decision_id from labels where ${within('decision_id')} and decision_id <> ''
        union select decision_id from outcomes where ${within('decision_id')} and decision_id <> ''
        union select 'dec_' || substr(capability_id, 5) from consumptions where ${sameSpan('cap_', 'capability_id')}
        union select 'dec_' || substr(reservation_id, 5) from expired_reservations where ${sameSpan('rsv_', 'reservation_id')}
      ) as recorded`,
    values: [
      workspace_id,
      decisions.after,
      decisions.upto,
      reviews.after,
      reviews.upto,
      labels.after,
      labels.upto,
      outcomes.after,
      outcomes.upto,
      notes.after,
      notes.upto,
    ],
  });
  return result.rows[0] as SpanCounts;
}

/** Returns at most `limit` ids of a table within a span; `upto` null means without an upper end. */
export async function listIds(
  db: Queryable,
  workspace_id: string,
  table: WalkedTable,
  span: { after: string; upto: string | null },
  limit: number,
): Promise<string[]> {
  const id = WALKED[table];
  const result = await db.query<{ id: string }>({
    text: `select ${id} as id from ${table} where workspace_id = $1 and ${id} > $2
      and ($3::text is null or ${id} <= $3) order by ${id} limit $4`,
    values: [workspace_id, span.after, span.upto, limit],
  });
  return result.rows.map((row) => row.id);
}

/**
 * For each table that the walk along the chain does not read: a select of the names of its orphans. It is run only if
 * the table has more rows than the walk has accounted for.
 */
const ORPHANS: Record<OrphanTable, string> = {
  idempotency_keys: `select agent_id || ' ' || idempotency_key as name from idempotency_keys k where workspace_id = $1
    and not exists (select 1 from decisions d where d.workspace_id = $1 and d.decision_id = k.decision_id
      and d.agent_id = k.agent_id and d.idempotency_key = k.idempotency_key)`,
  consumptions: `select capability_id as name from consumptions c where workspace_id = $1
    and not exists (select 1 from ledger_events e where e.workspace_id = $1 and e.type = 'capability.consumed'
      and e.subject_id = c.capability_id)`,
  consumption_keys: `select idempotency_key as name from consumption_keys k where workspace_id = $1
    and not exists (select 1 from consumptions c where c.workspace_id = $1 and c.capability_id = k.capability_id
      and c.idempotency_key = k.idempotency_key)`,
  expired_reservations: `select reservation_id as name from expired_reservations h where workspace_id = $1
    and not exists (select 1 from ledger_events e where e.workspace_id = $1 and e.type = 'reservation.expired'
      and e.subject_id = h.reservation_id)`,
  expiring_holds: `select decision_id as name from expiring_holds h where workspace_id = $1
    and not exists (select 1 from decision_states s where s.workspace_id = $1 and s.decision_id = h.decision_id
      and s.agent_id = h.agent_id and s.expires_at = h.expires_at and s.period = h.period
      and s.reservation_status = 'HELD')`,
  decision_states: `select decision_id as name from decision_states s where workspace_id = $1
    and not exists (select 1 from decisions d where d.workspace_id = $1 and d.decision_id = s.decision_id)`,
  audit_records: `select audit_id as name from audit_records a where workspace_id = $1
    and not exists (select 1 from ledger_events e where e.workspace_id = $1 and e.seq = a.seq
      and e.type !~ '^(decision|capability|reservation|lines?|rail_authorization)[.]')`,
  decision_lessons: `select decision_id as name from decision_lessons c where workspace_id = $1
    and not exists (select 1 from decisions d where d.workspace_id = $1 and d.decision_id = c.decision_id)`,
  known_merchants: `select agent_id || ' ' || key as name from known_merchants m where workspace_id = $1
    and not exists (select 1 from decisions d where d.workspace_id = $1 and d.decision_id = m.decision_id
      and d.agent_id = m.agent_id)`,
  question_events: `select agent_id || ' ' || question_id as name from question_events q where workspace_id = $1
    and not exists (select 1 from ledger_events e where e.workspace_id = $1 and e.seq = q.seq)`,
  rail_authorizations: `select rail_authorization_id as name from rail_authorizations a where workspace_id = $1
    and not exists (select 1 from ledger_events e where e.workspace_id = $1 and e.type = 'rail_authorization.recorded'
      and e.subject_id = a.rail_authorization_id)`,
  lines: `select line_id as name from lines l where workspace_id = $1
    and not exists (select 1 from ledger_events e where e.workspace_id = $1 and e.seq = l.seq
      and e.type = 'lines.recorded')`,
  line_resolutions: `select resolution_id as name from line_resolutions r where workspace_id = $1
    and not exists (select 1 from ledger_events e where e.workspace_id = $1 and e.type = 'line.resolution.recorded'
      and e.subject_id = r.resolution_id)`,
  unmatched_lines: `select line_id as name from unmatched_lines u where workspace_id = $1
    and not exists (select 1 from ledger_events e where e.workspace_id = $1 and e.type = 'line.unmatched'
      and e.subject_id = u.line_id)`,
  allowance_labels: `select allowance_id || ' ' || key as name from allowance_labels l where workspace_id = $1
    and not exists (select 1 from allowances a where a.workspace_id = $1 and a.allowance_id = l.allowance_id
      and strpos(a.terms, to_json(l.key)::text || ':' || to_json(l.value)::text) > 0)`,
  allowance_decisions: `select allowance_id || ' ' || decision_id as name from allowance_decisions u where workspace_id = $1
    and not exists (select 1 from decisions d where d.workspace_id = $1 and d.decision_id = u.decision_id
      and strpos(d.document, '"' || u.allowance_id || '"') > 0)`,
  api_key_digests: `select g.key_id as name from unnest($2::text[], $3::bytea[]) as g(key_id, digest)
    where not exists (select 1 from api_keys k where k.workspace_id = $1 and k.key_id = g.key_id
      and k.digest = g.digest)`,
};
/** The word for a row of each of these tables. */
export const NAME_OF_ORPHAN = {
  idempotency_keys: 'idempotency key',
  consumptions: 'consumption',
  consumption_keys: 'idempotency key of a consumption',
  expired_reservations: 'hold that ran out',
  expiring_holds: 'hold that will run out',
  decision_states: 'state of decision',
  audit_records: 'audit record',
  decision_lessons: 'what was learnt of decision',
  known_merchants: 'known merchant',
  question_events: 'record of question',
  rail_authorizations: 'fact of authorization',
  lines: 'line',
  line_resolutions: 'resolution of a line',
  unmatched_lines: 'report of an unmatched line',
  allowance_labels: 'label of allowance',
  allowance_decisions: 'use of allowance',
  api_key_digests: 'digest of api_key',
} as const;
export type OrphanTable = keyof typeof NAME_OF_ORPHAN;
export const ORPHAN_TABLES = Object.keys(NAME_OF_ORPHAN) as OrphanTable[];
/** No rows of any of these tables. */
export const noneFound = () =>
  Object.fromEntries(ORPHAN_TABLES.map((table) => [table, 0])) as Record<OrphanTable, number>;

/** Counts the rows with an empty id, which sorts before the start of every walk. */
export async function countWithoutId(db: Queryable, workspace_id: string): Promise<number> {
  const counts = WALKED_TABLES.map(
    (table) => `(select count(*) from ${table} where workspace_id = $1 and ${WALKED[table]} = '')`,
  );
  const result = await db.query<{ count: number }>({
    text: `select ${counts.join(' + ')} as count`,
    values: [workspace_id],
  });
  return result.rows[0]?.count as number;
}

/** Counts the events with a `seq` below that of the first event of a chain. */
export async function countBeforeFirst(db: Queryable, workspace_id: string): Promise<number> {
  const result = await db.query<{ count: number }>({
    text: 'select count(*) from ledger_events where workspace_id = $1 and seq < 1',
    values: [workspace_id],
  });
  return result.rows[0]?.count as number;
}

/** Counts the rows of a workspace in a table. */
export async function countRows(db: Queryable, workspace_id: string, table: OrphanTable): Promise<number> {
  const result = await db.query<{ count: number }>({
    name: `count_${table}`,
    text: `select count(*) from ${table} where workspace_id = $1`,
    values: [workspace_id],
  });
  return result.rows[0]?.count as number;
}

/** Returns the names of orphans. Must run within a transaction, in which it allows plans that join whole tables. */
export async function findOrphans(
  db: Queryable,
  workspace_id: string,
  table: OrphanTable,
  limit: number,
): Promise<string[]> {
  for (const plan of ['hashjoin', 'mergejoin', 'seqscan']) {
    await db.query({ text: `set local enable_${plan} = on` });
  }
  const beside = table === 'api_key_digests' ? await digestsOf(db, workspace_id) : [];
  const result = await db.query<{ name: string }>({
    text: `${ORPHANS[table]} order by 1 limit ${limit}`,
    values: [workspace_id, ...beside],
  });
  return result.rows.map((row) => row.name);
}

/** The ids of keys and the digests that these are found by, each in an array: on Citus they lie on another node than the keys. */
async function digestsOf(db: Queryable, workspace_id: string): Promise<[string[], Buffer[]]> {
  const { rows } = await db.query<{ key_id: string; digest: Buffer }>({
    text: 'select key_id, digest from api_key_digests where workspace_id = $1',
    values: [workspace_id],
  });
  return [rows.map(({ key_id }) => key_id), rows.map(({ digest }) => digest)];
}
