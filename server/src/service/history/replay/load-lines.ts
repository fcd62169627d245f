import type { ReplayedLine } from '@purser/rules/history/replay-lines';
import type { Queryable } from '../../../engine/storage/database.ts';
import { findLines, type LineFilters } from '../../../engine/storage/history/lines.ts';

/** The most lines that are looked at together: the newest. */
const MAX_LINES = 200_000;
const LINES_AT_ONCE = 5_000;

/** Lines in the order of their times. `currency`: that of most; null without any. */
export interface SelectedLines {
  lines: ReplayedLine[];
  currency: string | null;
}

function mostFrequent(lines: readonly ReplayedLine[]): string | null {
  const counts = new Map<string, number>();
  for (const { currency } of lines) counts.set(currency, (counts.get(currency) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[0] ?? null;
}

/** Reads the lines that pass the filters, at most `MAX_LINES`, page by page. */
export async function loadReplayedLines(
  db: Queryable,
  workspace_id: string,
  filters: LineFilters,
): Promise<SelectedLines> {
  const lines: ReplayedLine[] = [];
  for (let after: string | null = null; ; ) {
    const limit = Math.min(LINES_AT_ONCE, MAX_LINES - lines.length);
    const page = await findLines(db, workspace_id, filters, { after, limit });
    for (const row of page.rows) {
      const { line_id, kind, merchant, payee_id, instrument, amount_minor, currency } = row;
      const { occurred_at, precision, description, category } = row;
      const said = { line_id, kind, merchant, payee_id, instrument, amount_minor, currency };
      lines.push({ ...said, occurred_at, precision, description, category });
    }
    after = page.next;
    if (after === null || lines.length >= MAX_LINES) break;
  }
  lines.sort((a, b) =>
    a.occurred_at !== b.occurred_at
      ? a.occurred_at < b.occurred_at
        ? -1
        : 1
      : a.line_id < b.line_id
        ? -1
        : 1,
  );
  return { lines, currency: mostFrequent(lines) };
}
