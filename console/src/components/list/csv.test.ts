import { describe, expect, test } from 'vitest';
import { csvLine } from './csv.ts';

describe('a line of CSV', () => {
  test('quotes what would break it, and doubles quotes', () => {
    expect(csvLine(['a', 'b,c', 'd "e"', 'f\ng', null, undefined, 0, false])).toBe(
      'a,"b,c","d ""e""","f\ng",,,0,false\n',
    );
  });
  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '＝1', '＋1', '－1', '＠1'])(
    'makes %j a text, which a spreadsheet does not run',
    (text) => {
      expect(csvLine([text])).toBe(`'${text}\n`);
    },
  );
  test('is harmless also where it has to be quoted', () => {
    expect(csvLine(['=HYPERLINK("http://evil.example","x")'])).toBe(
      `"'=HYPERLINK(""http://evil.example"",""x"")"\n`,
    );
    expect(csvLine(['\r=1'])).toBe(`"'\r=1"\n`);
  });
  test('leaves numbers as they are', () => {
    expect(csvLine([-5])).toBe('-5\n');
  });
});
