/**
 * A page ends with the row that brings it to about this size. Rows with texts written by customers may be 100 KB each,
 * and reading 200 of them at once would take memory and time from all other requests.
 */
const MAX_PAGE_BYTES = 1_000_000;

/** The rows of one page, and whether more follow. */
export interface PageRows<Row> {
  rows: Row[];
  has_more: boolean;
}

/**
 * Returns SQL that selects from `rows`, a select, as many rows as fit into `MAX_PAGE_BYTES`, in the order `order`. The
 * first row is always selected, and each further one if the rows before it add up to less. `size` is an expression in
 * bytes over the columns of `rows`; `octet_length` knows the size of a text without reading it. The column `found` is
 * the number of rows before the cut.
 */
export function withinBytes(rows: string, of: { size: string; order: string }): string {
  return `select * from (
      select *, count(*) over () as found,
        sum(${of.size}) over (order by ${of.order} rows between unbounded preceding and 1 preceding) as bytes_before
      from (${rows}) as found_rows) as sized_rows
    where coalesce(bytes_before, 0) < ${MAX_PAGE_BYTES} order by ${of.order}`;
}

/** The columns that `withinBytes` adds to a row. */
export interface SizedRow {
  found: number;
  bytes_before: number | null;
}

/** Makes a page of at most `limit` rows from the result of `withinBytes` over `limit + 1` rows. */
export function pageRows<Row extends SizedRow, Shown>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => Shown,
): PageRows<Shown> {
  const shown = rows.slice(0, limit);
  return { rows: shown.map(show), has_more: (rows[0]?.found ?? 0) > shown.length };
}

/** A page of a sorted list: behind the row with the id `after`, and from the beginning if that is null. */
export interface SortedPage<By extends string> {
  after: string | null;
  limit: number;
  sort?: By | undefined;
  order?: 'asc' | 'desc' | undefined;
}

/** Numbered parameters of a statement. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Adds a value and returns its name in the statement. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** The pattern of `like` for every text that contains this one, whatever characters it has. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

/**
 * Yields pages one after another, and loads each while the caller works on the one before it. `load` is called with the
 * previous page (undefined for the first) and returns undefined after the last. An error of the page ahead is thrown
 * when the caller asks for that page; it is never an unhandled rejection, which would end the process. When the
 * generator has ended, also early, no load is running.
 */
export async function* readAhead<Page>(
  load: (before: Page | undefined) => Promise<Page | undefined>,
): AsyncGenerator<Page, void, void> {
  let next = load(undefined);
  try {
    for (let page = await next; page !== undefined; page = await next) {
      next = load(page);
      next.catch(() => {});
      yield page;
    }
  } finally {
    await next.catch(() => {});
  }
}
