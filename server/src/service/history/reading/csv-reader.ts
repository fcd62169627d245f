/** A line of a CSV file: its cells, or why it has none. `text` is the line as it was, cut where it is too long. */
export type CsvRow =
  | { place: number; text: string; cells: string[] }
  | { place: number; text: string; problem: 'QUOTE' | 'TOO_LONG' };

/** How much of a line that is too long is kept to be shown. */
const SHOWN_LENGTH = 200;

/**
 * The cells of one line; null where a quote stays open, or something follows a closed one. A quote within a cell that does not
 * begin with one is part of it.
 */
export function cellsOf(line: string, delimiter: string): string[] | null {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    if (line[at] === '"') {
      let cell = '';
      let from = at + 1;
      let end = line.indexOf('"', from);
      while (end >= 0 && line[end + 1] === '"') {
        cell += line.slice(from, end + 1);
        from = end + 2;
        end = line.indexOf('"', from);
      }
      if (end < 0) return null;
      cells.push(cell + line.slice(from, end));
      at = end + 1;
      if (at >= line.length) return cells;
      if (line[at] !== delimiter) return null;
      at += 1;
    } else {
      const end = line.indexOf(delimiter, at);
      cells.push(end < 0 ? line.slice(at) : line.slice(at, end));
      if (end < 0) return cells;
      at = end + 1;
    }
  }
}

/**
 * Reads CSV that arrives in parts, line by line: an open quote ends with its line, so that one bad line never swallows those
 * after it. What is kept of a line is bounded. Empty lines are passed over, but counted in `place`.
 */
export class CsvReader {
  readonly #delimiter: string;
  readonly #max_length: number;
  #rest = '';
  #is_cut = false;
  #place = 0;
  #after_return = false;

  constructor(delimiter: string, max_length: number) {
    this.#delimiter = delimiter;
    this.#max_length = max_length;
  }

  /** Takes the next part of the text and returns the lines that end in it. */
  push(chunk: string): CsvRow[] {
    const found: CsvRow[] = [];
    let from = 0;
    // The second half of a line's end whose first half came with the part before.
    if (this.#after_return && chunk.startsWith('\n')) from = 1;
    if (chunk.length > 0) this.#after_return = false;
    for (;;) {
      const end = endOfLine(chunk, from);
      if (end < 0) break;
      this.#keep(chunk.slice(from, end));
      this.#finish(found);
      const is_return = chunk[end] === '\r';
      from = end + (is_return && chunk[end + 1] === '\n' ? 2 : 1);
      this.#after_return = is_return && end + 1 === chunk.length;
    }
    this.#keep(chunk.slice(from));
    return found;
  }

  /** Returns the last line, if it has no end. */
  end(): CsvRow[] {
    const found: CsvRow[] = [];
    if (this.#rest !== '' || this.#is_cut) this.#finish(found);
    return found;
  }

  #keep(part: string): void {
    if (this.#is_cut) return;
    this.#rest += part;
    if (this.#rest.length <= this.#max_length) return;
    this.#is_cut = true;
    this.#rest = this.#rest.slice(0, SHOWN_LENGTH);
  }

  #finish(found: CsvRow[]): void {
    this.#place += 1;
    const [text, place, is_cut] = [this.#rest, this.#place, this.#is_cut];
    this.#rest = '';
    this.#is_cut = false;
    if (is_cut || Buffer.byteLength(text) > this.#max_length)
      found.push({ place, text, problem: 'TOO_LONG' });
    else if (text.trim() !== '') {
      const cells = cellsOf(text, this.#delimiter);
      found.push(cells === null ? { place, text, problem: 'QUOTE' } : { place, text, cells });
    }
  }
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  const carriage_return = text.indexOf('\r', from);
  if (newline < 0 || carriage_return < 0) return Math.max(newline, carriage_return);
  return Math.min(newline, carriage_return);
}
