import { sealedConsumption } from '@purser/rules/domain/capabilities';
import { sealedDecision } from '@purser/rules/domain/decisions';
import { sealedLabel } from '@purser/rules/domain/labels';
import {
  type InLedger,
  isAdministrative,
  type LedgerEvent,
  type LedgerEventType,
} from '@purser/rules/domain/ledger';
import { sealedOutcome } from '@purser/rules/domain/outcomes';
import { sealedReview } from '@purser/rules/domain/reviews';
import { isPage, type LineRow, pageDataHash, sealedPage } from '@purser/rules/history/lines';
import { loadLineResolutions, loadUnmatchedLines } from '../matching/resolution-rows.ts';
import { loadRailAuthorizationsById } from '../rails/authorization-rows.ts';
import { loadAuditRecords } from '../storage/audit.ts';
import { loadConsumptions } from '../storage/consumptions.ts';
import type { Queryable } from '../storage/database.ts';
import { loadExpiredReservations } from '../storage/decision-states.ts';
import { loadDecisionRows } from '../storage/decisions.ts';
import { listDeletedImports } from '../storage/history/imports.ts';
import { loadPages } from '../storage/history/lines.ts';
import { loadLabels } from '../storage/labels.ts';
import { loadOutcomes } from '../storage/outcomes.ts';
import { loadNotes } from '../storage/reviewing/notes.ts';
import { loadReviews } from '../storage/reviews.ts';
import { withoutWorkspace } from '../storage/rows.ts';

/** The current row that an event is about. */
export interface SealedRow {
  /** The SHA-256 of its RFC 8785 form is the event's `data_hash` if nothing was changed. */
  data: Record<string, unknown>;
  /** The document of a decision, of which `data` has only the hash. */
  document: string | null;
  /** The hash, where `data` was left out because it is long, or was deleted. */
  hash?: Buffer;
}

/** The rows read at a time, which may have documents. */
const ROWS_AT_ONCE = 500;

const plain = (row: object): SealedRow => ({ data: row as Record<string, unknown>, document: null });

/** Returns a row as it was sealed. A row with another event's id keeps it, so that its hash differs from the sealed one. */
function atItsPlace<Row extends object>(row: InLedger<Row>, event: LedgerEvent): Row {
  const { event_id, ...sealed } = row;
  return (event_id === event.id ? sealed : row) as Row;
}

/** The pages of lines read at a time. */
const PAGES_AT_ONCE = 10;

/** The pages of lines that events seal, each with the number of its lines. */
export interface SealedPages {
  rows: Map<number, SealedRow>;
  lines: number;
}

/** The rest of the page of a deleted import: nothing, which is as it should be. */
function deletedPage(event: LedgerEvent, lines: readonly LineRow[]): SealedRow {
  return { ...plain({}), hash: lines.length === 0 ? event.data_hash : pageDataHash([]) };
}

/**
 * Returns the pages of lines that these events seal, by `seq`; missing ones are left out. Of the page of an import that was deleted
 * nothing may be left, and the chain alone still tells of it. `keeps_data`: with the lines, and not their hash alone.
 */
export async function loadSealedPages(
  db: Queryable,
  workspace_id: string,
  events: readonly LedgerEvent[],
  keeps_data: boolean,
): Promise<SealedPages> {
  const pages = events.filter(isPage);
  const found: SealedPages = { rows: new Map(), lines: 0 };
  if (pages.length === 0) return found;
  const deleted = await listDeletedImports(db, workspace_id);
  for (let i = 0; i < pages.length; i += PAGES_AT_ONCE) {
    const part = pages.slice(i, i + PAGES_AT_ONCE);
    const by_seq = new Map<number, LineRow[]>(part.map(({ seq }) => [seq, []]));
    const lines = await loadPages(db, workspace_id, [...by_seq.keys()]);
    for (const line of lines) by_seq.get(line.seq)?.push(line);
    found.lines += lines.length;
    for (const event of part) {
      const rows = by_seq.get(event.seq) ?? [];
      if (deleted.has(event.subject_id)) found.rows.set(event.seq, deletedPage(event, rows));
      else if (rows.length === 0) continue;
      else if (keeps_data) found.rows.set(event.seq, plain(sealedPage(rows)));
      else found.rows.set(event.seq, { ...plain({}), hash: pageDataHash(rows) });
    }
  }
  return found;
}

/** Returns the rows that these events are about, by `seq`, pages of lines apart; missing rows are left out. */
export async function loadSealedRows(
  db: Queryable,
  workspace_id: string,
  events: readonly LedgerEvent[],
): Promise<Map<number, SealedRow>> {
  const found = new Map<number, SealedRow>();
  const take = async <Row extends object>(
    type: LedgerEventType,
    id: keyof Row & string,
    load: (ids: readonly string[]) => Promise<Row[]>,
    form: (row: Row, event: LedgerEvent) => SealedRow = plain,
  ) => {
    const about = events.filter((event) => event.type === type);
    for (let i = 0; i < about.length; i += ROWS_AT_ONCE) {
      const part = about.slice(i, i + ROWS_AT_ONCE);
      const rows = await load(part.map((event) => event.subject_id));
      const by_id = new Map(rows.map((row) => [row[id] as string, row]));
      for (const event of part) {
        const row = by_id.get(event.subject_id);
        if (row !== undefined) found.set(event.seq, form(row, event));
      }
    }
  };
  await take(
    'decision.created',
    'decision_id',
    (ids) => loadDecisionRows(db, workspace_id, ids),
    (row) => ({ data: sealedDecision(row), document: row.document }),
  );
  await take(
    'decision.review.recorded',
    'review_id',
    (ids) => loadReviews(db, workspace_id, ids),
    (row) => plain(sealedReview(row)),
  );
  await take(
    'decision.label.recorded',
    'label_id',
    (ids) => loadLabels(db, workspace_id, ids),
    (row) => plain(sealedLabel(row)),
  );
  await take('decision.note.recorded', 'note_id', (ids) => loadNotes(db, workspace_id, ids));
  await take(
    'decision.outcome.recorded',
    'outcome_id',
    (ids) => loadOutcomes(db, workspace_id, ids),
    (row) => plain(sealedOutcome(row)),
  );
  await take(
    'capability.consumed',
    'capability_id',
    (ids) => loadConsumptions(db, workspace_id, ids),
    (row, event) => plain(sealedConsumption(atItsPlace(row, event))),
  );
  await take(
    'reservation.expired',
    'reservation_id',
    (ids) => loadExpiredReservations(db, workspace_id, ids),
    (row, event) => plain(atItsPlace(row, event)),
  );
  await take('rail_authorization.recorded', 'rail_authorization_id', (ids) =>
    loadRailAuthorizationsById(db, workspace_id, ids),
  );
  await take('line.resolution.recorded', 'resolution_id', (ids) =>
    loadLineResolutions(db, workspace_id, ids),
  );
  await take('line.unmatched', 'line_id', (ids) =>
    loadUnmatchedLines(
      db,
      ids.map((line_id) => ({ workspace_id, line_id })),
    ).then((rows) => rows.map(withoutWorkspace)),
  );
  const administrative = events.filter(isAdministrative).map((event) => event.seq);
  if (administrative.length > 0) {
    for (const record of await loadAuditRecords(db, workspace_id, administrative)) {
      found.set(record.seq, plain(record));
    }
  }
  return found;
}
