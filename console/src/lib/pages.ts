/** A page of a list as it came, without what the client library hangs on to it. */
export interface PlainPage<T> {
  data: T[];
  next_cursor: string | null;
}

type Pages<T> = readonly PlainPage<T>[];

/**
 * What was loaded of a list, with its first page as it is now: what stood in its range and is gone is left out, and what
 * stands further down stays. A first page that shares no row with what was loaded is all that is known.
 */
export function withFirstPage<T>(
  pages: Pages<T>,
  first: PlainPage<T>,
  idOf: (row: T) => string,
): PlainPage<T>[] {
  const ids = new Set(first.data.map(idOf));
  const loaded = pages.flatMap((page) => page.data);
  const end = loaded.findLastIndex((row) => ids.has(idOf(row)));
  if (first.next_cursor === null || end < 0) return [first];
  const rest = loaded.slice(end + 1);
  const next_cursor = pages.at(-1)?.next_cursor ?? null;
  return rest.length === 0 ? [first] : [first, { data: rest, next_cursor }];
}

/**
 * What was loaded of a list, with further rows where they belong by `isBefore`. A row that belongs after all that was
 * loaded comes with the next page, if there is one.
 */
export function withRows<T>(
  pages: Pages<T>,
  rows: readonly T[],
  idOf: (row: T) => string,
  isBefore: (a: T, b: T) => boolean,
): PlainPage<T>[] {
  const loaded = new Set(pages.flatMap((page) => page.data.map(idOf)));
  const result = pages.map((page) => ({ ...page, data: [...page.data] }));
  for (const row of rows) {
    if (loaded.has(idOf(row))) continue;
    const page = result.find(({ data }) => data.some((each) => isBefore(row, each)));
    if (page !== undefined) {
      page.data.splice(
        page.data.findIndex((each) => isBefore(row, each)),
        0,
        row,
      );
    } else if (result.at(-1)?.next_cursor === null) result.at(-1)?.data.push(row);
  }
  return result;
}

/** What was loaded of a list, row by row as `change` makes it; null takes the row out. */
export function withEach<T>(pages: Pages<T>, change: (row: T) => T | null): PlainPage<T>[] {
  return pages.map((page) => ({
    ...page,
    data: page.data.flatMap((row) => {
      const now = change(row);
      return now === null ? [] : [now];
    }),
  }));
}
