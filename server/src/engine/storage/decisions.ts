import type { Decision } from '@purser/contract/decisions';
import type { JoiningAuthority } from '@purser/rules/domain/authorities';
import {
  DOCUMENT_MARKS,
  decodeCore,
  decodeDecision,
  lengthOfCore,
} from '@purser/rules/domain/decision-document';
import type { DecisionState } from '@purser/rules/domain/decision-states';
import type {
  DecisionCore,
  DecisionRow,
  DecisionText,
  EarlierDecision,
  NewDecisionRow,
} from '@purser/rules/domain/decisions';
import { firstIdAt } from '@purser/rules/values/ids';
import { JOINING_AFTER, type JoiningRow, joiningOf } from './authorities.ts';
import type { Client, Queryable } from './database.ts';
import { STATE_COLUMNS } from './decision-states.ts';
import { withinBytes } from './pages.ts';
import { type InWorkspace, makeInsert, type WorkspaceRows } from './rows.ts';

const { assessment, action, task, trace } = DOCUMENT_MARKS;
/** The longest assessment with its mark. */
const ASSESSMENT_LENGTH = 60;

/** SQL that cuts the action out of a decision's document; `actionIn` reads it. */
export const actionOf = (document: string) =>
  `split_part(split_part(${document}, '${action}', 2), '${task}', 1)`;

/** SQL that cuts the task out of a decision's document, as JSON text. */
export const taskOf = (document: string) =>
  `split_part(split_part(${document}, '${task}', 2), '${trace}', 1)`;

/** SQL that cuts the assessment of the purpose out of a decision's document; `assessmentIn` reads it. */
export const assessmentOf = (document: string) =>
  `substr(${document}, strpos(${document}, '${assessment}'), ${ASSESSMENT_LENGTH})`;

/** SQL that cuts the amount out of a decision's document that it held when it was made; null where it held none. */
export const heldAmountOf = (document: string) =>
  `substring(split_part(${document}, '"reservation":{', 2) from '^"reservation_id":"[^"]*","status":"HELD","amount_minor":([0-9]+),')::bigint`;

const insertRows = makeInsert<Omit<NewDecisionRow, 'request_hash' | 'core'>>('decisions', {
  decision_id: 'text',
  agent_id: 'text',
  idempotency_key: 'text',
  decision: 'text',
  mode: 'text',
  reason_codes: 'words',
  merchant: 'text',
  requested_amount_minor: 'bigint',
  currency: 'text',
  created_at: 'timestamptz',
  document: 'document',
  live_at: 'integers',
});

const insertIdempotencyKeys = makeInsert<
  Pick<DecisionRow, 'agent_id' | 'idempotency_key' | 'request_hash' | 'decision_id'>
>('idempotency_keys', {
  agent_id: 'text',
  idempotency_key: 'text',
  request_hash: 'bytea',
  decision_id: 'text',
});

/** Inserts decisions and their idempotency keys. */
export function insertDecisions(
  client: Client,
  parts: readonly WorkspaceRows<NewDecisionRow>[],
): Promise<unknown> {
  return Promise.all([insertRows(client, parts), insertIdempotencyKeys(client, parts)]);
}

/** As JSON, which is parsed natively: the client's parser of arrays takes a text apart by characters, 1 MB of garbage for a page of 200. */
const LIVE_AT = 'to_json(d.live_at) as live_at';

/** Returns the decisions made with these agents' idempotency keys, one for each time that its key is named; unused keys are left out. */
export async function loadEarlierDecisions(
  db: Queryable,
  wanted: readonly InWorkspace<{ agent_id: string; idempotency_key: string }>[],
): Promise<InWorkspace<EarlierDecision>[]> {
  const result = await db.query<InWorkspace<EarlierDecision>>({
    name: 'load_earlier_decisions',
    // The lateral joins fix the join order: a plan made while the tables were empty may otherwise read all keys of
    // the workspace and search for each of them among the wanted ones (measured: 1,400 decisions a second instead of
    // 4,300 over the first 7,000, and falling).
    text: `select w.workspace_id, w.agent_id, w.idempotency_key, k.request_hash, d.document, ${LIVE_AT}
      from unnest($1::text[], $2::text[], $3::text[]) as w(workspace_id, agent_id, idempotency_key)
      cross join lateral (
        select * from idempotency_keys k where k.workspace_id = w.workspace_id and k.agent_id = w.agent_id
          and k.idempotency_key = w.idempotency_key limit 1) as k
      cross join lateral (
        select * from decisions d where d.workspace_id = w.workspace_id and d.decision_id = k.decision_id limit 1) as d`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.agent_id),
      wanted.map((each) => each.idempotency_key),
    ],
  });
  return result.rows;
}

/** The core of an original decision with its state. */
export interface DecisionCoreRecord {
  decision: DecisionCore;
  /** Null: the decision stands as it was made. */
  state: DecisionState | null;
}

/** An original decision with its state; the two together give the current view. */
export interface DecisionRecord extends DecisionCoreRecord {
  decision: Decision;
}

/** A row of a join of decisions and states: the columns of the state are null where there is no state. */
export type RecordRow = DecisionState & { document: string; kept_id: string | null };

/** The record of a row. */
export function recordOf({ document, kept_id, ...state }: RecordRow): DecisionRecord {
  return { decision: decodeDecision(document), state: kept_id === null ? null : state };
}

/** A decision for a list: as a record, and its texts, into which the view is written; null in rows older than those. */
export type ListedDecision =
  | (DecisionRecord & { text: null })
  | (DecisionCoreRecord & { text: DecisionText });

export type ListedRow = RecordRow & { core: string | null; live_at: number[] | null };

function listedOf(row: ListedRow): ListedDecision {
  const { document, live_at, kept_id } = row;
  // Not copied: a row is the state and more.
  const state = kept_id === null ? null : row;
  const decision = live_at === null ? null : decodeCore(row);
  return decision === null || live_at === null
    ? { decision: decodeDecision(document), state, text: null }
    : { decision, state, text: { document, live_at } };
}

/** How the rows of `decisions d` and its states are read: the columns besides the state's, and what a row becomes. */
export interface ReadAs<Found> {
  columns: string;
  of: (row: ListedRow) => Found;
  /** How many characters `of` parses. */
  sizeOf: (row: ListedRow) => number;
}

/** Whole, for whom every field counts. */
export const AS_RECORDS: ReadAs<DecisionRecord> = {
  columns: 'd.document',
  of: recordOf,
  sizeOf: ({ document }) => document.length,
};

/** For a list that shows decisions as they are now: 0.36 of the work of reading them whole and writing them again. */
export const AS_LISTED: ReadAs<ListedDecision> = {
  columns: `d.document, d.core, ${LIVE_AT}`,
  of: listedOf,
  sizeOf: lengthOfCore,
};

/** A decision with its state, and with the versions of its agent's authority that limits joined with after it. */
export interface JoinedDecisionRecord extends DecisionRecord {
  joining: readonly JoiningAuthority[];
}

/** Returns these decisions with their states and the limits that joined after them. */
export async function loadDecisionRecords(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<JoinedDecisionRecord>[]> {
  const result = await db.query<InWorkspace<RecordRow & { joining: JoiningRow[] | null }>>({
    name: 'load_kept_decisions',
    text: `select d.workspace_id, ${STATE_COLUMNS}, s.decision_id as kept_id, d.document, ${JOINING_AFTER} as joining
      from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
      cross join lateral (
        select * from decisions d where d.workspace_id = w.workspace_id and d.decision_id = w.decision_id limit 1) as d
      left join lateral (
        select * from decision_states s
        where s.workspace_id = w.workspace_id and s.decision_id = w.decision_id limit 1) as s on true`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows.map(({ workspace_id, joining, ...row }) => ({
    workspace_id,
    ...recordOf(row),
    joining: joiningOf(joining),
  }));
}

/**
 * Returns the cores of these decisions with their states. The rest of a document, three quarters of it, is not parsed; only
 * decisions that are older than cores are read whole, and those whose text was altered so that its core is no JSON, which their
 * own events report.
 */
export async function loadDecisionCores(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<DecisionCoreRecord[]> {
  const result = await db.query<ListedRow & { workspace_id: string }>({
    name: 'load_kept_cores',
    text: `select ${STATE_COLUMNS}, s.decision_id as kept_id, ${AS_LISTED.columns}
      from unnest($2::text[]) as w(decision_id)
      cross join lateral (
        select * from decisions d where d.workspace_id = $1 and d.decision_id = w.decision_id limit 1) as d
      left join lateral (
        select * from decision_states s where s.workspace_id = $1 and s.decision_id = w.decision_id limit 1) as s on true`,
    values: [workspace_id, decision_ids],
  });
  return result.rows.map(({ document, core, live_at, kept_id, ...state }) => {
    const decision = decodeCore({ document, core, live_at }) ?? decodeDecision(document);
    return { decision, state: kept_id === null ? null : state };
  });
}

/**
 * The lateral join looks up the state of each decision by its key. With a plain join on tables that had not been
 * analyzed yet, each decision read all states of its workspace (measured with 6,000 decisions of which 120 had a state:
 * 305 ms a page).
 */
const SELECT_RECORDS = `select d.decision_id as made_id, ${STATE_COLUMNS}, s.decision_id as kept_id, d.document
  from decisions d
  left join lateral (
    select * from decision_states s where s.workspace_id = $1 and s.decision_id = d.decision_id limit 1) as s on true`;

/** Returns one decision; with `agent_id`, only if it is that agent's. */
export async function getDecision(
  db: Queryable,
  workspace_id: string,
  decision_id: string,
  agent_id: string | null,
): Promise<DecisionRecord | undefined> {
  const result = await db.query<RecordRow & { made_id: string }>({
    name: 'get_decision',
    text: `${SELECT_RECORDS} where d.workspace_id = $1 and d.decision_id = $2 and ($3::text is null or d.agent_id = $3)`,
    values: [workspace_id, decision_id, agent_id],
  });
  return result.rows.map(({ made_id, ...row }) => recordOf(row))[0];
}

/** Returns the original rows of these decisions; a decision whose idempotency key is missing is left out. */
export async function loadDecisionRows(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<DecisionRow[]> {
  const result = await db.query<DecisionRow & { workspace_id: string }>({
    name: 'load_decision_rows',
    text: `select d.decision_id, d.agent_id, d.idempotency_key, k.request_hash, d.decision, d.mode, d.reason_codes,
        d.merchant, d.requested_amount_minor, d.currency, d.created_at, d.document, d.core, ${LIVE_AT}
      from unnest($2::text[]) as w(decision_id)
      cross join lateral (
        select * from decisions d where d.workspace_id = $1 and d.decision_id = w.decision_id limit 1) as d
      cross join lateral (
        select * from idempotency_keys k where k.workspace_id = $1 and k.agent_id = d.agent_id
          and k.idempotency_key = d.idempotency_key and k.decision_id = d.decision_id limit 1) as k`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/**
 * Returns the agents' decisions that were made after an event of their workspace's chain, or that have a later event
 * that counts. Reads at most `limit` events.
 */
export async function loadChangedDecisions(
  db: Queryable,
  wanted: readonly InWorkspace<{ agent_id: string; after_seq: number }>[],
  limit: number,
): Promise<InWorkspace<DecisionRecord>[]> {
  const result = await db.query<InWorkspace<RecordRow>>({
    name: 'load_changed_decisions',
    text: `select d.workspace_id, ${STATE_COLUMNS}, s.decision_id as kept_id, d.document
      from unnest($1::text[], $2::text[], $3::bigint[]) as w(workspace_id, agent_id, after_seq)
      cross join lateral (
        select distinct case e.subject_type
            when 'decision' then e.subject_id
            when 'outcome' then (select decision_id from outcomes o
              where o.workspace_id = w.workspace_id and o.outcome_id = e.subject_id)
            when 'review' then (select decision_id from reviews r
              where r.workspace_id = w.workspace_id and r.review_id = e.subject_id)
            else 'dec_' || substr(e.subject_id, 5) end as decision_id
        from (select subject_type, subject_id from ledger_events
          where workspace_id = w.workspace_id and seq > w.after_seq order by seq limit $4) as e
        where e.subject_type in ('decision', 'outcome', 'review', 'capability', 'reservation')) as e
      cross join lateral (
        select * from decisions d where d.workspace_id = w.workspace_id and d.decision_id = e.decision_id limit 1) as d
      left join lateral (
        select * from decision_states s
        where s.workspace_id = w.workspace_id and s.decision_id = e.decision_id limit 1) as s on true
      where d.agent_id = w.agent_id`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.agent_id),
      wanted.map((each) => each.after_seq),
      limit,
    ],
  });
  return result.rows.map(({ workspace_id, ...row }) => ({ workspace_id, ...recordOf(row) }));
}

/** Returns the ids of an agent's newest decisions made within a span of time (null: without that bound), oldest first. */
export async function listNewestDecisionIds(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  span: { from_ms: number | null; to_ms: number | null; limit: number },
): Promise<string[]> {
  const { from_ms, to_ms, limit } = span;
  const result = await db.query<{ decision_id: string }>({
    name: 'list_newest_decision_ids',
    // Every id begins with "dec_", so it lies between the two texts that stand for no bound.
    text: `select decision_id from decisions where workspace_id = $1 and agent_id = $2 and agent_id <> ''
        and decision_id >= $4 and decision_id < $5
      order by decision_id desc limit $3`,
    values: [
      workspace_id,
      agent_id,
      limit,
      from_ms === null ? 'dec_' : firstIdAt('decision', from_ms),
      to_ms === null ? 'dec~' : firstIdAt('decision', to_ms),
    ],
  });
  return result.rows.map((row) => row.decision_id).reverse();
}

/**
 * Returns whom an agent's newest decisions were to pay, newest first, without those that were denied. The action is text of
 * the document, since only some callers read it; empty where it is in another format than today's.
 */
export async function listRecentPayees(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  limit: number,
): Promise<{ merchant: string; action_part: string }[]> {
  const result = await db.query<{ merchant: string; action_part: string }>({
    name: 'list_newest_partners',
    text: `select d.merchant, ${actionOf('d.document')} as action_part
      from (select decision, merchant, document from decisions
        where workspace_id = $1 and agent_id = $2 and agent_id <> '' order by decision_id desc limit $3) as d
      where d.decision <> 'DENY'`,
    values: [workspace_id, agent_id, limit],
  });
  return result.rows;
}

/** Returns the original documents of these decisions, oldest first, up to about a megabyte. */
export async function loadOriginalDocuments(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<{ decision_id: string; document: string }[]> {
  const result = await db.query<{ decision_id: string; document: string }>({
    name: 'load_made_documents',
    text: withinBytes(
      'select decision_id, document from decisions where workspace_id = $1 and decision_id = any($2)',
      { size: 'octet_length(document)', order: 'decision_id' },
    ),
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}
