import { csvLine } from '@purser/rules/values/csv';
import { linesInSlices } from '@purser/rules/values/slices';
import type { Call } from '../../http/route.ts';

/** Returns true if the caller asks for CSV: `accept` names `text/csv`, and JSON not before it. */
export function wantsCsv(headers: Call['headers']): boolean {
  const named = String(headers.accept ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';')[0]?.trim());
  const csv = named.indexOf('text/csv');
  const json = named.indexOf('application/json');
  return csv >= 0 && (json < 0 || csv < json);
}

/** The headers by which a browser saves an answer as a file of this name. */
export const attachment = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });

/** Rows read at a time for a file. */
const EXPORTED_AT_ONCE = 200;

/**
 * A list as a table, read page by page from past `after` on: a head of `columns`, then a line a row. `limit`: so many rows;
 * null: all that there are.
 */
export async function* csvOfList<Row, Place>(
  columns: readonly string[],
  lineOf: (row: Row) => string,
  load: (page: { after: Place | null; limit: number }) => Promise<{ rows: Row[]; next: Place | null }>,
  { after, limit }: { after: Place | null; limit: number | null },
): AsyncGenerator<string, void, void> {
  yield csvLine(columns);
  for (let past = after, left = limit ?? Number.POSITIVE_INFINITY; left > 0; ) {
    const { rows, next } = await load({ after: past, limit: Math.min(EXPORTED_AT_ONCE, left) });
    if (rows.length > 0) yield (await linesInSlices(rows, lineOf)).join('');
    if (next === null) return;
    past = next;
    left -= rows.length;
  }
}
