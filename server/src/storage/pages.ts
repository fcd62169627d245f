/**
 * A page ends with the row that brings it to about this size: rows whose texts customers write may be 100 KB each, and
 * 200 of them read at once would take the memory and the time of everybody else.
 */
export const MAX_PAGE_BYTES = 1_000_000;

/** Some of the rows that were asked for, and whether others follow them. */
export interface PageRows<Row> {
  rows: Row[];
  has_more: boolean;
}

/**
 * The SQL that gives of `rows`, a select, those that a page of `MAX_PAGE_BYTES` has room for, in the order `order`: the
 * first always, further ones while the sizes of those before it stay below. `size` is an expression in bytes over the
 * columns of `rows`; of a text `octet_length` knows it without reading the text. The column `found` says how many rows
 * there were before the cut.
 */
export function withinBytes(rows: string, of: { size: string; order: string }): string {
  return `select * from (
      select *, count(*) over () as found,
        sum(${of.size}) over (order by ${of.order} rows between unbounded preceding and 1 preceding) as bytes_before
      from (${rows}) as found_rows) as sized_rows
    where coalesce(bytes_before, 0) < ${MAX_PAGE_BYTES} order by ${of.order}`;
}

/** What `withinBytes` adds to a row. */
export interface SizedRow {
  found: number;
  bytes_before: number | null;
}

/** At most `limit` of the rows that `withinBytes` gave of `limit + 1`. */
export function pageRows<Row extends SizedRow, Shown>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => Shown,
): PageRows<Shown> {
  const shown = rows.slice(0, limit);
  return { rows: shown.map(show), has_more: (rows[0]?.found ?? 0) > shown.length };
}
