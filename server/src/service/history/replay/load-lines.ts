import type { ReplayedLine } from '@purser/rules/history/replay-lines';
import type { Pause } from '@purser/rules/values/slices';
import type { Queryable } from '../../../engine/storage/database.ts';
import { type LineFilters, loadReplayedLines } from '../../../engine/storage/history/lines.ts';

/** The most lines that are looked at together: the newest. */
const MAX_LINES = 200_000;
/** A page is read and handed to another thread in one piece, which others wait for: some 3 ms. */
const LINES_AT_ONCE = 250;

/**
 * Reads the lines that pass the filters, at most `MAX_LINES`, page by page, those recorded last first. `pause` lets requests that
 * somebody waits for come in before each page.
 */
export async function* readReplayedLines(
  db: Queryable,
  workspace_id: string,
  filters: LineFilters,
  pause: Pause,
): AsyncGenerator<ReplayedLine[], void, void> {
  let after: string | null = null;
  for (let room = MAX_LINES; room > 0; ) {
    await pause();
    const looks_at = Math.min(LINES_AT_ONCE, room);
    const page: Awaited<ReturnType<typeof loadReplayedLines>> = await loadReplayedLines(
      db,
      workspace_id,
      filters,
      { after, looks_at },
    );
    if (page.lines.length > 0) yield page.lines;
    room -= page.lines.length;
    after = page.next;
    if (after === null) return;
  }
}
