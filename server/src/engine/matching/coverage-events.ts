import { decisionIdOfCapability } from '@purser/rules/domain/capabilities';
import type { LedgerEventType } from '@purser/rules/domain/ledger';
import { loadDecisionsOfRecords } from '../reports/fact-rows.ts';
import { loadAuditRecords } from '../storage/audit.ts';
import type { Queryable } from '../storage/database.ts';

/** The events that change whether lines were asked for. */
const TYPES: readonly LedgerEventType[] = [
  'decision.created',
  'decision.review.recorded',
  'decision.outcome.recorded',
  'capability.consumed',
  'lines.recorded',
  'line.resolution.recorded',
  'import.deleted',
  'instrument.assigned',
  'workspace.updated',
];
/** Events whose rows carry no number of an event: their change is seen before the follower comes to them. */
const UNNUMBERED: readonly LedgerEventType[] = ['import.deleted', 'instrument.assigned', 'workspace.updated'];
const MAX_TAKEN = 1_000;
/** Pages of lines that are matched in one transaction. */
const MAX_PAGES = 4;

/** A part of a chain, as matching lines needs it. */
export interface CoverageEvents {
  /** The last event that it includes. */
  last_seq: number;
  created: string[];
  /** Decisions with new records. */
  recorded: string[];
  /** The events of pages of lines. */
  pages: number[];
  resolutions: string[];
  deleted_imports: string[];
  instruments: string[];
  has_new_settings: boolean;
}

interface EventRow {
  seq: number;
  type: LedgerEventType;
  subject_id: string;
}

/** Returns whether a workspace has lines up to an event, or had some. */
export async function hasLines(db: Queryable, workspace_id: string, upto: number): Promise<boolean> {
  const result = await db.query<{ has: boolean }>({
    name: 'has_lines',
    text: `select exists (select from line_matches where workspace_id = $1)
      or exists (select from lines where workspace_id = $1 and seq > 0 and seq <= $2) as has`,
    values: [workspace_id, upto],
  });
  return result.rows[0]?.has === true;
}

async function changesSettings(
  db: Queryable,
  workspace_id: string,
  seqs: readonly number[],
): Promise<boolean> {
  if (seqs.length === 0) return false;
  const records = await loadAuditRecords(db, workspace_id, seqs);
  return records.some(({ changes }) => typeof changes === 'object' && 'coverage' in changes);
}

/** Returns what matters among the events after `after` and up to `upto`, as much as one transaction should take. */
export async function loadCoverageEvents(
  db: Queryable,
  workspace_id: string,
  { after, upto }: { after: number; upto: number },
): Promise<CoverageEvents> {
  const result = await db.query<EventRow>({
    name: 'load_coverage_events',
    text: `select seq, type, subject_id from ledger_events
      where workspace_id = $1 and seq > $2 and seq <= $3 and type = any($4) order by seq limit $5`,
    values: [workspace_id, after, upto, TYPES, MAX_TAKEN],
  });
  let taken = result.rows;
  let last_seq = taken.length === MAX_TAKEN ? (taken.at(-1)?.seq ?? upto) : upto;
  const pages = taken.filter(({ type }) => type === 'lines.recorded');
  if (pages.length > MAX_PAGES) {
    last_seq = Math.min(last_seq, pages[MAX_PAGES - 1]?.seq ?? last_seq);
    taken = taken.filter(({ seq }) => seq <= last_seq);
  }
  const of = (...types: LedgerEventType[]) => taken.filter(({ type }) => types.includes(type));
  const subjects = (...types: LedgerEventType[]) => of(...types).map(({ subject_id }) => subject_id);
  const records = subjects('decision.review.recorded', 'decision.outcome.recorded');
  const updates = of('workspace.updated').map(({ seq }) => seq);
  return {
    last_seq,
    created: subjects('decision.created'),
    recorded: [
      ...new Set([
        ...subjects('decision.created'),
        ...(await loadDecisionsOfRecords(db, workspace_id, records)),
        ...subjects('capability.consumed').map(decisionIdOfCapability),
      ]),
    ],
    pages: of('lines.recorded').map(({ seq }) => seq),
    resolutions: subjects('line.resolution.recorded'),
    deleted_imports: subjects('import.deleted'),
    instruments: [...new Set(subjects('instrument.assigned'))],
    has_new_settings: await changesSettings(db, workspace_id, updates),
  };
}

/** Returns the lines that these events are about, those of instruments left out. */
export async function loadLinesOfEvents(
  db: Queryable,
  workspace_id: string,
  { pages, resolutions }: CoverageEvents,
): Promise<string[]> {
  const result = await db.query<{ line_id: string }>({
    name: 'load_lines_of_events',
    text: `select line_id from lines where workspace_id = $1 and seq = any($2) and seq > 0
      union select line_id from line_resolutions where workspace_id = $1 and resolution_id = any($3)`,
    values: [workspace_id, pages, resolutions],
  });
  return result.rows.map(({ line_id }) => line_id);
}

/** Returns whose these decisions are and when they were made, in the order of their ids. */
export async function loadMadeDecisions(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<{ agent_id: string; created_at: string }[]> {
  if (decision_ids.length === 0) return [];
  const result = await db.query<{ agent_id: string; created_at: string }>({
    name: 'load_made_decisions',
    text: `select agent_id, created_at from decisions where workspace_id = $1 and decision_id = any($2)
      order by decision_id`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/** Returns whether events after one change rows that verification sees already. */
export async function hasUnnumberedAfter(db: Queryable, workspace_id: string, seq: number): Promise<boolean> {
  const result = await db.query({
    name: 'has_unnumbered_after',
    text: `select from ledger_events where workspace_id = $1 and seq > $2 and type = any($3) limit 1`,
    values: [workspace_id, seq, UNNUMBERED],
  });
  return result.rowCount !== 0;
}

/** Returns whether the follower skipped an event of a workspace, so that what it stored may be incomplete. */
export async function hasSkipped(db: Queryable, workspace_id: string): Promise<boolean> {
  const result = await db.query({
    name: 'has_skipped_coverage',
    text: `select from skipped_events where workspace_id = $1 and follower = 'coverage' limit 1`,
    values: [workspace_id],
  });
  return result.rowCount !== 0;
}
