/** Text on a terminal: safe, cut and aligned by the columns it takes. */

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;
export type Style = keyof typeof STYLES;

export interface Cell {
  text: string;
  style?: Style;
}

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** A column that may be narrowed when the table is too wide, down to this many columns of the terminal. */
  min_width?: number;
  /** Which part of a text that does not fit is shown; the beginning unless said. */
  keeps?: 'beginning' | 'end';
}

/** Letters that take two columns of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Texts of spends are not to be trusted: controls and marks of direction could rewrite the screen. */
export function printable(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, '·');
}

function widthOf(character: string): number {
  if (/\p{M}/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** How many columns of a terminal a text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The text, or its beginning or end and `…`, in at most `width` columns. */
export function cut(text: string, width: number, keeps: 'beginning' | 'end' = 'beginning'): string {
  if (displayWidth(text) <= width) return text;
  const characters = keeps === 'beginning' ? [...text] : [...text].reverse();
  const kept: string[] = [];
  let used = 0;
  for (const character of characters) {
    used += widthOf(character);
    if (used > width - 1) break;
    kept.push(character);
  }
  return keeps === 'beginning' ? `${kept.join('')}…` : `…${kept.reverse().join('')}`;
}

/** The text in a style, where there are colours. */
export function paint(text: string, style: Style | undefined, has_colour: boolean): string {
  return has_colour && style !== undefined ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
}

const GAP = 2;

/**
 * The lines of a table. Where it is wider than `width`, the columns with a `min_width` give way, the widest
 * first; the rest stays whole.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: { width: number; has_colour: boolean },
): string[] {
  const texts = rows.map((row) => row.map((cell) => printable(cell.text)));
  const widths = columns.map((column, index) =>
    Math.max(displayWidth(column.title), ...texts.map((row) => displayWidth(row[index] ?? ''))),
  );
  const excess = () => widths.reduce((sum, width) => sum + width + GAP, -GAP) - options.width;
  while (excess() > 0) {
    let widest = -1;
    for (const [index, { min_width }] of columns.entries()) {
      if (min_width === undefined || (widths[index] ?? 0) <= min_width) continue;
      if (widest === -1 || (widths[index] ?? 0) > (widths[widest] ?? 0)) widest = index;
    }
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }

  const line = (cells: readonly string[], styles: readonly (Style | undefined)[]) =>
    columns
      .map(({ align, keeps }, index) => {
        const width = widths[index] ?? 0;
        const text = cut(cells[index] ?? '', width, keeps);
        const space = ' '.repeat(width - displayWidth(text));
        const painted = paint(text, styles[index], options.has_colour);
        if (align === 'right') return space + painted;
        return index === columns.length - 1 ? painted : painted + space;
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  return [
    line(
      columns.map((column) => column.title),
      columns.map(() => 'bold'),
    ),
    ...texts.map((row, index) =>
      line(
        row,
        (rows[index] ?? []).map((cell) => cell.style),
      ),
    ),
  ];
}
