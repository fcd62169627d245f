export type Cell = string | number | boolean | null | undefined;

/** Characters that may start a formula in a spreadsheet, full-width forms included. */
const BEGINS_FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const NEEDS_QUOTES = /[",\r\n]/;

function cellOf(value: Cell): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const harmless = typeof value === 'string' && BEGINS_FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/**
 * One line of CSV (RFC 4180 with a bare newline), like the service's own exports. A text that a spreadsheet would run as a
 * formula gets a leading `'`. Null and undefined are empty cells.
 */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellOf).join(',')}\n`;
