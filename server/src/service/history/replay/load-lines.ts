import type { ReplayedLine } from '@purser/rules/history/replay-lines';
import type { Queryable } from '../../../engine/storage/database.ts';
import { findLines, type LineFilters } from '../../../engine/storage/history/lines.ts';

/** The most lines that are looked at together: the newest. */
const MAX_LINES = 200_000;
/** A page is read and handed to another thread in one go, which others wait for. */
const LINES_AT_ONCE = 250;

/** Reads the lines that pass the filters, at most `MAX_LINES`, page by page, those recorded last first. */
export async function* readReplayedLines(
  db: Queryable,
  workspace_id: string,
  filters: LineFilters,
): AsyncGenerator<ReplayedLine[], void, void> {
  let after: string | null = null;
  for (let count = 0; count < MAX_LINES; ) {
    const limit = Math.min(LINES_AT_ONCE, MAX_LINES - count);
    const page: Awaited<ReturnType<typeof findLines>> = await findLines(db, workspace_id, filters, {
      after,
      limit,
    });
    yield page.rows.map((row) => {
      const { line_id, kind, merchant, payee_id, instrument, amount_minor, currency } = row;
      const { occurred_at, precision, description, category } = row;
      const said = { line_id, kind, merchant, payee_id, instrument, amount_minor, currency };
      return { ...said, occurred_at, precision, description, category };
    });
    count += page.rows.length;
    after = page.next;
    if (after === null) return;
  }
}
