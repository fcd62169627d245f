import { createHash } from 'node:crypto';
import type pg from 'pg';
import { openCheckpoint, type VerifyingKey } from '../domain/checkpoints.ts';
import { GENESIS } from '../domain/ledger.ts';
import type { Queryable } from '../storage/database.ts';
import { getHead, loadLedgerEvents, loadLedgerEventsWithin } from '../storage/ledger.ts';
import { readAhead } from '../storage/read-ahead.ts';
import { readClock } from '../storage/workspaces.ts';
import { loadCheckpointFiles } from './checkpoint-files.ts';
import { loadCheckpoints } from './checkpoint-rows.ts';
import { MAX_CHECKPOINTS } from './checkpoints.ts';
import { checkpointLine, endLine, eventLine, headerLine } from './ledger-export.ts';
import { loadSealedRows } from './sealed-rows.ts';

/** Events read at a time, or fewer where what they seal comes to about a megabyte. */
const EVENTS_AT_ONCE = 500;

/** A stretch of the chain, as lines of the export. */
interface ExportPage {
  lines: string[];
  last_seq: number;
}

/**
 * A workspace's history as text, one JSON document a line: header, events with what they seal, checkpoints, end. It is
 * read as fast as it is taken, a page ahead; whoever stops taking it calls `return`.
 *
 * All of it is of the moment in which it began, without a transaction that lasts as long as its reader pleases: events
 * up to the head of that moment, and what they seal, are never changed. So a reader holds memory for two pages, and a
 * connection only while a page is read.
 */
export async function* exportLedger(
  pool: pg.Pool,
  workspace_id: string,
  options: { since: number; keys: readonly VerifyingKey[]; checkpoint_dir: string },
): AsyncGenerator<string, void, void> {
  const { since, keys, checkpoint_dir } = options;
  // Before the head: a checkpoint that is ahead of it then tells of a chain that was cut.
  const files = await loadCheckpointFiles(checkpoint_dir, workspace_id, MAX_CHECKPOINTS);
  const notes = await gatherNotes(pool, workspace_id, files, keys, since);
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
    }),
  ]);
  let events_count = 0;
  const pages = readAhead((before?: ExportPage) =>
    loadPage(pool, workspace_id, { after: before?.last_seq ?? since, until: head.seq }),
  );
  for await (const { lines } of pages) {
    events_count += lines.length;
    yield written(lines);
  }
  if (notes.length > 0) yield written(notes.map(({ note }) => checkpointLine(note)));
  yield `${endLine(events_count, notes.length, whole.digest())}\n`;
}

/** The next events after `after` and up to `until`, undefined when there are none. */
async function loadPage(
  db: Queryable,
  workspace_id: string,
  range: { after: number; until: number },
): Promise<ExportPage | undefined> {
  const events = await loadLedgerEventsWithin(db, workspace_id, { ...range, limit: EVENTS_AT_ONCE });
  const last = events.at(-1);
  if (last === undefined) return undefined;
  const rows = await loadSealedRows(db, workspace_id, events);
  const lines = events.map((event) => {
    const row = rows.get(event.seq);
    return eventLine(event, row?.data ?? null, row?.document ?? null);
  });
  return { lines, last_seq: last.seq };
}

/** Every checkpoint that is signed with one of the keys, of the table and of the files, from `since` on, ascending. */
async function gatherNotes(
  db: Queryable,
  workspace_id: string,
  files: readonly { note: string }[],
  keys: readonly VerifyingKey[],
  since: number,
): Promise<{ seq: number; note: string }[]> {
  const rows = await loadCheckpoints(db, workspace_id, MAX_CHECKPOINTS);
  const notes = new Map<string, { seq: number; note: string }>();
  for (const { note } of [...rows, ...files]) {
    const said = openCheckpoint(note, keys);
    if (said?.workspace_id === workspace_id && said.seq >= since) notes.set(note, { seq: said.seq, note });
  }
  return [...notes.values()].sort((a, b) => a.seq - b.seq);
}
