/** Characters that a spreadsheet may read as the start of a formula, including East Asian wide forms. */
const BEGINS_FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const NEEDS_QUOTES = /["\r\n]/;

function cellOf(value: string | number | boolean | null | undefined, delimiter: string): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const harmless = typeof value === 'string' && BEGINS_FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(harmless) || harmless.includes(delimiter)
    ? `"${harmless.replaceAll('"', '""')}"`
    : harmless;
}

/**
 * One line of CSV (RFC 4180, ended by a newline alone; `delimiter` parts the cells). A text that a spreadsheet would run as a formula gets a leading `'`;
 * null and undefined are empty cells.
 */
export function csvLine(
  cells: readonly (string | number | boolean | null | undefined)[],
  delimiter = ',',
): string {
  return `${cells.map((cell) => cellOf(cell, delimiter)).join(delimiter)}\n`;
}
