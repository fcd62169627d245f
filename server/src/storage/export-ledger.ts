import { createHash } from 'node:crypto';
import type pg from 'pg';
import { openCheckpoint, type VerifyingKey } from '../domain/checkpoints.ts';
import { GENESIS } from '../domain/ledger.ts';
import { checkpointLine, endLine, eventLine, headerLine } from '../domain/ledger-export.ts';
import { loadCheckpointFiles } from './checkpoint-files.ts';
import { loadCheckpoints } from './checkpoints.ts';
import type { Queryable } from './database.ts';
import { getHead, loadLedgerEvents } from './ledger.ts';
import { openSnapshot } from './ledger-snapshot.ts';
import { loadSealedRows } from './sealed-rows.ts';
import { MOST_CHECKPOINTS } from './verify-checkpoints.ts';
import { readClock } from './workspaces.ts';

/** Events read at a time: with their documents some 2 MB. */
const EVENTS_AT_ONCE = 500;

/**
 * A workspace's history as text, one JSON document a line: header, events with what they seal, checkpoints, end. All
 * of one snapshot. It is read as fast as it is taken; whoever stops taking it calls `return`.
 */
export async function* exportLedger(
  pool: pg.Pool,
  workspace_id: string,
  options: { since: number; key: VerifyingKey; checkpoint_dir: string },
): AsyncGenerator<string, void, void> {
  const { since, key, checkpoint_dir } = options;
  // Before the snapshot, so that no checkpoint is ahead of it.
  const files = await loadCheckpointFiles(checkpoint_dir, workspace_id, MOST_CHECKPOINTS);
  const snapshot = await openSnapshot(pool);
  const { client } = snapshot;
  let failure: Error | undefined;
  try {
    const exported_at = new Date(await readClock(client)).toISOString();
    const head = (await getHead(client, workspace_id)) ?? GENESIS;
    const notes = await gatherNotes(client, workspace_id, files, key, since);
    const [start] =
      since === 0 ? [] : await loadLedgerEvents(client, workspace_id, { after: since - 1, limit: 1 });
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
    let after = since;
    for (;;) {
      const events = await loadLedgerEvents(client, workspace_id, { after, limit: EVENTS_AT_ONCE });
      const last = events.at(-1);
      if (last === undefined) break;
      const rows = await loadSealedRows(client, workspace_id, events);
      snapshot.alive();
      after = last.seq;
      events_count += events.length;
      yield written(
        events.map((event) => {
          const row = rows.get(event.seq);
          return eventLine(event, row?.data ?? null, row?.document ?? null);
        }),
      );
    }
    if (notes.length > 0) yield written(notes.map(({ note }) => checkpointLine(note)));
    yield `${endLine(events_count, notes.length, whole.digest())}\n`;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    await snapshot.close(failure);
  }
}

/** Every checkpoint that is signed with the key, of the table and of the files, from `since` on, ascending. */
async function gatherNotes(
  db: Queryable,
  workspace_id: string,
  files: readonly { note: string }[],
  key: VerifyingKey,
  since: number,
): Promise<{ seq: number; note: string }[]> {
  const rows = await loadCheckpoints(db, workspace_id, MOST_CHECKPOINTS);
  const notes = new Map<string, { seq: number; note: string }>();
  for (const { note } of [...rows, ...files]) {
    const said = openCheckpoint(note, key);
    if (said?.workspace_id === workspace_id && said.seq >= since) notes.set(note, { seq: said.seq, note });
  }
  return [...notes.values()].sort((a, b) => a.seq - b.seq);
}
