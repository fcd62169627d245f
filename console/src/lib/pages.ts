/** A page of a list without the client library's methods. */
export interface PlainPage<T> {
  data: T[];
  next_cursor: string | null;
}

type Pages<T> = readonly PlainPage<T>[];

/**
 * Replaces the first page of a loaded list: rows missing from its range are removed, rows further down stay. If it shares no
 * row with the loaded ones, only the first page remains.
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
 * Inserts rows into a loaded list in the order of `isBefore`. A row that belongs after all loaded ones is left for the next
 * page if there is one.
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

/** Applies `change` to every loaded row. Null removes the row. */
export function withEach<T>(pages: Pages<T>, change: (row: T) => T | null): PlainPage<T>[] {
  return pages.map((page) => ({
    ...page,
    data: page.data.flatMap((row) => {
      const now = change(row);
      return now === null ? [] : [now];
    }),
  }));
}
