import { createHash } from 'node:crypto';
import { openCheckpoint, type VerifyingKey } from '@purser/rules/domain/checkpoints';
import { GENESIS, isAdministrative, type LedgerEvent } from '@purser/rules/domain/ledger';
import {
  ALONE,
  type BackgroundTurns,
  lengthOf,
  linesInSlices,
  type Pause,
} from '@purser/rules/values/slices';
import type pg from 'pg';
import type { Queryable } from '../storage/database.ts';
import { getHead, loadLedgerEvents, loadLedgerEventsWithin } from '../storage/ledger.ts';
import { readAhead } from '../storage/pages.ts';
import { readClock } from '../storage/workspaces.ts';
import { loadCheckpointFiles } from './checkpoint-files.ts';
import { loadCheckpoints } from './checkpoint-rows.ts';
import { MAX_CHECKPOINTS } from './checkpoints.ts';
import { checkpointLine, endLine, eventLine, headerLine } from './ledger-export.ts';
import { loadSealedPages, loadSealedRows } from './sealed-rows.ts';

/** The events read at a time; fewer if what they seal adds up to about a megabyte. */
const EVENTS_AT_ONCE = 500;
/** Each part of a page is hashed and sent as a turn of its own: so many characters take about a millisecond. */
const PART_LENGTH = 262_144;

/** A part of the chain as lines of the export. */
interface ExportPage {
  lines: string[];
  last_seq: number;
}

/**
 * Yields a workspace's history as JSON Lines: header, events with what they seal, checkpoints, end. Pages are read as
 * fast as the caller takes them, one page ahead; a caller that stops early must call `return`.
 *
 * The export shows the history at its beginning without a long transaction, because the events up to the head of that
 * moment, and what they seal, never change. A slow reader therefore holds memory for two pages, and a connection only
 * while a page is read.
 */
export async function* exportLedger(
  pool: pg.Pool,
  workspace_id: string,
  options: {
    since: number;
    keys: readonly VerifyingKey[];
    checkpoint_dir: string;
    /** Exports only the hashes of the audit records. */
    is_withheld: boolean;
    turns?: BackgroundTurns | undefined;
  },
): AsyncGenerator<string, void, void> {
  const { since, keys, checkpoint_dir, is_withheld, turns = ALONE } = options;
  // The checkpoints are read before the head, so that one ahead of the head proves that the chain was truncated.
  const files = await loadCheckpointFiles(checkpoint_dir, workspace_id, MAX_CHECKPOINTS);
  const notes = await loadNotes(pool, workspace_id, files, { keys, since, pause: turns.pause });
  const exported_at = new Date(await readClock(pool)).toISOString();
  const head = (await getHead(pool, workspace_id)) ?? GENESIS;
  const [start] =
    since === 0 ? [] : await loadLedgerEvents(pool, workspace_id, { after: since - 1, limit: 1 });
  const whole = createHash('sha256');
  const written = (lines: readonly string[]) => {
    const text = lines.map((line) => `${line}\n`).join('');
    whole.update(text);
    return text;
  };
  yield written([
    headerLine({
      workspace_id,
      exported_at,
      since,
      since_hash: start?.seq === since ? start.hash : GENESIS.hash,
      head: { seq: head.seq, hash: head.hash },
      checkpoints: notes.map(({ seq }) => seq),
      is_withheld,
    }),
  ]);
  let events_count = 0;
  const pages = readAhead((before?: ExportPage) =>
    loadPage(pool, workspace_id, {
      after: before?.last_seq ?? since,
      until: head.seq,
      is_withheld,
      turns,
    }),
  );
  for await (const { lines } of pages) {
    events_count += lines.length;
    for (const part of partsOf(lines)) yield written(part);
  }
  if (notes.length > 0) yield written(notes.map(({ note }) => checkpointLine(note)));
  yield `${endLine(events_count, notes.length, whole.digest())}\n`;
}

/** Yields the lines in parts of about `PART_LENGTH`. */
function* partsOf(lines: readonly string[]): Generator<string[], void, void> {
  let part: string[] = [];
  let length = 0;
  for (const line of lines) {
    part.push(line);
    length += line.length;
    if (length < PART_LENGTH) continue;
    yield part;
    part = [];
    length = 0;
  }
  if (part.length > 0) yield part;
}

/** Returns the next events after `after` and up to `until`, or undefined if there are none. */
async function loadPage(
  db: Queryable,
  workspace_id: string,
  {
    is_withheld,
    turns: { aside, pause },
    ...range
  }: { after: number; until: number; is_withheld: boolean; turns: BackgroundTurns },
): Promise<ExportPage | undefined> {
  const isLeftOut = (event: LedgerEvent) => is_withheld && isAdministrative(event);
  const read = async () => {
    const events = await loadLedgerEventsWithin(db, workspace_id, { ...range, limit: EVENTS_AT_ONCE });
    const shown = events.filter((event) => !isLeftOut(event));
    const rows = await loadSealedRows(db, workspace_id, shown);
    const pages = await loadSealedPages(db, workspace_id, shown, true);
    // A deleted page has nothing to show.
    for (const [seq, page] of pages.rows) if (page.hash === undefined) rows.set(seq, page);
    return { events, rows };
  };
  const { events, rows } = await aside(read, (found) => ({
    rows: found.events.length,
    bytes: lengthOf([...found.rows.values()].map(({ document }) => document ?? '')),
  }));
  const last = events.at(-1);
  if (last === undefined) return undefined;
  const lineOf = (event: LedgerEvent) => {
    const row = rows.get(event.seq);
    return eventLine(event, row?.data ?? null, row?.document ?? null, isLeftOut(event));
  };
  const lines = await linesInSlices(events, lineOf, pause);
  return { lines, last_seq: last.seq };
}

/** Returns the checkpoints from `since` on, of the table and the files, that are signed with one of the keys, ascending. */
async function loadNotes(
  db: Queryable,
  workspace_id: string,
  files: readonly { note: string }[],
  { keys, since, pause }: { keys: readonly VerifyingKey[]; since: number; pause: Pause },
): Promise<{ seq: number; note: string }[]> {
  const rows = await loadCheckpoints(db, workspace_id, MAX_CHECKPOINTS);
  const notes = new Map<string, { seq: number; note: string }>();
  for (const { note } of [...rows, ...files]) {
    await pause();
    const said = openCheckpoint(note, keys);
    if (said?.workspace_id === workspace_id && said.seq >= since) notes.set(note, { seq: said.seq, note });
  }
  return [...notes.values()].sort((a, b) => a.seq - b.seq);
}
