import type pg from 'pg';
import { type AuditedState, auditedForm } from '../domain/audit.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { consumptionDataHash } from '../domain/capabilities.ts';
import { decisionDataHash } from '../domain/decisions.ts';
import { labelDataHash } from '../domain/labels.ts';
import {
  checkLink,
  GENESIS,
  type LedgerBreak,
  type LedgerEvent,
  type LedgerHead,
  recordHash,
} from '../domain/ledger.ts';
import { outcomeDataHash } from '../domain/outcomes.ts';
import { runOutDataHash } from '../domain/reservations.ts';
import { reviewDataHash } from '../domain/reviews.ts';
import { listAgents } from './agents.ts';
import { listKeys } from './api-keys.ts';
import { loadAuditRecords } from './audit.ts';
import { listAuthorities } from './authorities.ts';
import { loadConsumptions } from './consumptions.ts';
import type { Queryable } from './database.ts';
import { loadRunOutHolds } from './decision-states.ts';
import { loadDecisionRows } from './decisions.ts';
import { loadLabels } from './labels.ts';
import { getHead, loadLedgerEvents } from './ledger.ts';
import { loadOutcomes } from './outcomes.ts';
import { loadReviews } from './reviews.ts';
import { loadWorkspace, readClock } from './workspaces.ts';

export interface LedgerVerification {
  valid: boolean;
  checked_at: string;
  events_checked: number;
  head: LedgerHead;
  breaks: LedgerBreak[];
  first_break_seq: number | null;
}

/** Links read at a time: memory stays flat however long the chain is. */
const LINKS_AT_ONCE = 1_000;
const ROWS_AT_ONCE = 200;
/** A history that is broken everywhere is reported by its first breaks. */
const MOST_BREAKS = 1_000;

/** What was sealed of each row that may change, by kind and id: the newest record wins. */
type Sealed = Map<string, { seq: number; text: string }>;

/**
 * Rebuilds every hash of a workspace's chain from the live rows, within one snapshot and without holding up any
 * writer. `since`: begins after that event, taking its hash as given.
 */
export async function verifyLedger(
  pool: pg.Pool,
  workspace_id: string,
  options: { since: number },
): Promise<LedgerVerification> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query('begin isolation level repeatable read read only');
    const checked_at = new Date(await readClock(client)).toISOString();
    const head = await getHead(client, workspace_id);
    const breaks: LedgerBreak[] = [];
    const sealed: Sealed = new Map();
    let previous = await startingPoint(client, workspace_id, options.since);
    let events_checked = 0;
    for (;;) {
      const events = await loadLedgerEvents(client, workspace_id, {
        after: previous.seq,
        limit: LINKS_AT_ONCE,
      });
      if (events.length === 0) break;
      const dataHash = await loadDataHashes(client, workspace_id, events, sealed);
      for (const event of events) {
        if (breaks.length < MOST_BREAKS) breaks.push(...checkLink(previous, event, dataHash(event)));
        previous = { seq: event.seq, hash: event.hash };
      }
      events_checked += events.length;
    }
    breaks.push(...checkHead(head, previous));
    if (options.since === 0) {
      // From the first break on, nobody can tell what a row should be: it is not blamed on an earlier event.
      const first = Math.min(...breaks.map((each) => each.seq));
      for (const each of await checkLiveRows(client, workspace_id, sealed, previous.seq)) {
        breaks.push(Number.isFinite(first) ? { ...each, seq: Math.max(each.seq, first) } : each);
      }
    }
    await client.query('commit');
    breaks.sort((a, b) => a.seq - b.seq);
    return {
      valid: breaks.length === 0,
      checked_at,
      events_checked,
      head: head ?? GENESIS,
      breaks: breaks.slice(0, MOST_BREAKS),
      first_break_seq: breaks[0]?.seq ?? null,
    };
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(failure);
  }
}

/** The link that the first checked one must follow. */
async function startingPoint(db: Queryable, workspace_id: string, since: number): Promise<LedgerHead> {
  if (since === 0) return GENESIS;
  const [event] = await loadLedgerEvents(db, workspace_id, { after: since - 1, limit: 1 });
  return event?.seq === since ? { seq: since, hash: event.hash } : { seq: since, hash: GENESIS.hash };
}

/** The hash of what each event is about, from the rows as they are now; null where the row is gone. */
async function loadDataHashes(
  db: Queryable,
  workspace_id: string,
  events: readonly LedgerEvent[],
  sealed: Sealed,
): Promise<(event: LedgerEvent) => Buffer | null> {
  const hashes = new Map<number, Buffer>();
  const about = (type: LedgerEvent['type']) => events.filter((event) => event.type === type);

  const made = about('decision.created');
  for (let i = 0; i < made.length; i += ROWS_AT_ONCE) {
    const part = made.slice(i, i + ROWS_AT_ONCE);
    const rows = await loadDecisionRows(
      db,
      workspace_id,
      part.map((event) => event.subject_id),
    );
    const by_id = new Map(rows.map((row) => [row.decision_id, row]));
    for (const event of part) {
      const row = by_id.get(event.subject_id);
      if (row !== undefined) hashes.set(event.seq, decisionDataHash(row));
    }
  }

  await rebuild(hashes, about('decision.review.recorded'), 'review_id', reviewDataHash, (ids) =>
    loadReviews(db, workspace_id, ids),
  );
  await rebuild(hashes, about('decision.label.recorded'), 'label_id', labelDataHash, (ids) =>
    loadLabels(db, workspace_id, ids),
  );
  await rebuild(hashes, about('decision.outcome.recorded'), 'outcome_id', outcomeDataHash, (ids) =>
    loadOutcomes(db, workspace_id, ids),
  );
  await rebuild(hashes, about('capability.consumed'), 'capability_id', consumptionDataHash, (ids) =>
    loadConsumptions(db, workspace_id, ids),
  );
  await rebuild(hashes, about('reservation.expired'), 'reservation_id', runOutDataHash, (ids) =>
    loadRunOutHolds(db, workspace_id, ids),
  );

  const administrative = events.filter(
    (event) => !/^(decision\.|capability\.|reservation\.)/.test(event.type),
  );
  const records =
    administrative.length === 0
      ? []
      : await loadAuditRecords(
          db,
          workspace_id,
          administrative.map((event) => event.seq),
        );
  const sealed_hash = new Map(administrative.map((event) => [event.seq, event.data_hash]));
  for (const record of records) {
    const hash = recordHash(record);
    hashes.set(record.seq, hash);
    // A record that is not what was sealed is reported as such, and vouches for nothing.
    if (sealed_hash.get(record.seq)?.equals(hash) !== true) continue;
    const state = JSON.parse(record.state) as Record<string, Record<string, unknown>>;
    for (const [kind, row] of Object.entries(state)) {
      sealed.set(rowName(kind, row), { seq: record.seq, text: canonicalJson(row) });
    }
  }
  return (event) => hashes.get(event.seq) ?? null;
}

/** The hashes of the rows that events are about, by their ids. */
async function rebuild<Id extends string, Row extends { workspace_id?: string } & Record<Id, string>>(
  hashes: Map<number, Buffer>,
  events: readonly LedgerEvent[],
  id: Id,
  dataHash: (row: Row) => Buffer,
  load: (ids: readonly string[]) => Promise<Row[]>,
): Promise<void> {
  if (events.length === 0) return;
  const rows = await load(events.map((event) => event.subject_id));
  const by_id = new Map<string, Row>(rows.map((row) => [row[id], row]));
  for (const event of events) {
    const row = by_id.get(event.subject_id);
    if (row !== undefined) hashes.set(event.seq, dataHash(row));
  }
}

/** The head must name the last link. */
function checkHead(head: LedgerHead | undefined, last: LedgerHead): LedgerBreak[] {
  if (head === undefined)
    return [{ seq: last.seq, kind: 'TRUNCATED', detail: 'The head of the chain is gone.' }];
  if (head.seq > last.seq) {
    const detail = `The chain ends at event ${last.seq}, but its head is event ${head.seq}.`;
    return [{ seq: last.seq + 1, kind: 'TRUNCATED', detail }];
  }
  if (head.seq === last.seq && head.hash.equals(last.hash)) return [];
  const detail = `Event ${last.seq} is not the head of the chain, which is event ${head.seq}.`;
  return [{ seq: last.seq, kind: 'LINK_BROKEN', detail }];
}

function rowName(kind: string, row: Record<string, unknown>): string {
  if (kind === 'authority') return `authority ${row.agent_id} version ${row.version}`;
  return `${kind} ${row.workspace_id ?? row.key_id ?? row.agent_id}`;
}

/**
 * Rows that may change must be what their newest audit record says, and none may be there without one; such a row
 * is reported at the end of the chain, where its event is missing.
 */
async function checkLiveRows(
  db: Queryable,
  workspace_id: string,
  sealed: Sealed,
  last_seq: number,
): Promise<LedgerBreak[]> {
  const breaks: LedgerBreak[] = [];
  const check = (state: AuditedState) => {
    for (const [kind, row] of Object.entries(auditedForm(state)) as [string, Record<string, unknown>][]) {
      const name = rowName(kind, row);
      const kept = sealed.get(name);
      sealed.delete(name);
      if (kept?.text === canonicalJson(row)) continue;
      const detail =
        kept === undefined
          ? `The row of ${name} is in no event.`
          : `The row of ${name} is not what event ${kept.seq} recorded.`;
      breaks.push({ seq: kept?.seq ?? last_seq, kind: 'ROW_MISMATCH', detail });
    }
  };
  const workspace = await loadWorkspace(db, workspace_id);
  if (workspace !== undefined) check({ workspace });
  let after: string | null = null;
  for (;;) {
    const agents = await listAgents(db, workspace_id, { after, limit: ROWS_AT_ONCE });
    for (const agent of agents) {
      check({ agent });
      for (const authority of await listAuthorities(db, workspace_id, agent.agent_id)) check({ authority });
    }
    after = agents.at(-1)?.agent_id ?? null;
    if (after === null) break;
  }
  for (;;) {
    const keys = await listKeys(db, workspace_id, { after, limit: ROWS_AT_ONCE });
    for (const { last_used_at, clock_ms, ...api_key } of keys) check({ api_key });
    after = keys.at(-1)?.key_id ?? null;
    if (after === null) break;
  }
  for (const [name, { seq }] of sealed) {
    breaks.push({ seq, kind: 'ROW_MISMATCH', detail: `The row of ${name} is gone.` });
  }
  return breaks;
}
