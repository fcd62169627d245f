import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

/** Reads one line as RFC 4180 says. */
function cellsOf(line: string): string[] {
  const cells: string[] = [];
  let rest = line.slice(0, -1);
  for (;;) {
    const found = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|$)/.exec(rest);
    if (found === null) throw new Error(`no CSV: ${rest}`);
    cells.push(found[1] === undefined ? (found[2] as string) : found[1].replaceAll('""', '"'));
    if (found[3] === '') return cells;
    rest = rest.slice(found[0].length);
  }
}

const harmless = (text: string) => (/^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text);

test('every text comes back as it was, but for the quote before what a spreadsheet would run', () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '＝', '"', ','), fc.string())
      .map((two) => two.join('')),
  );
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), (cells) => {
      const read = cellsOf(csvLine(cells));
      expect(read).toEqual(cells.map(harmless));
      expect(read.filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([]);
    }),
  );
});

test('numbers, truths and what is missing', () => {
  expect(csvLine([12, -3, true, null, undefined, ''])).toBe('12,-3,true,,,\n');
  expect(csvLine(['=1+1', 'a "b", c'])).toBe(`'=1+1,"a ""b"", c"\n`);
});
