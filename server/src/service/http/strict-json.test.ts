import { ApiError } from '@purser/rules/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictJson } from './strict-json.ts';

function parse(text: string): unknown {
  return parseStrictJson(Buffer.from(text));
}

interface Refusal {
  field: string;
  problem: string;
  message: string;
}

function refusalOf(input: string | Buffer): Refusal | null {
  try {
    parseStrictJson(typeof input === 'string' ? Buffer.from(input) : input);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
    const { message } = error;
    const end = message.indexOf(': ');
    return { field: message.slice(0, end), problem: message.slice(end + 2), message };
  }
}

function refusal(input: string | Buffer): Refusal {
  const found = refusalOf(input);
  if (found === null) throw new Error('was not refused');
  return found;
}

describe('agreement with JSON.parse', () => {
  it('gives the same value for every text that JSON.stringify writes', () => {
    const value = fc.jsonValue({ maxDepth: 5, stringUnit: 'grapheme' });
    const spacing = fc.constantFrom(undefined, 1, '\t', '\r\n');
    fc.assert(
      fc.property(value, spacing, (json, space) => {
        const text = JSON.stringify(json, null, space);
        if (text.includes('__proto__')) return;
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('takes nothing that JSON.parse refuses, and refuses as bad JSON nothing that JSON.parse takes', () => {
    const piece = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '"a"', '"b"', '\\', '\\u00', '0', '1', '-', '.', 'e', '+', '9'],
      ...[
        'true',
        'fals',
        'null',
        ' ',
        '\n',
        '\t',
        '\u000b',
        '\u00a0',
        'é',
        '😀',
        '{"a":1',
        '[1',
        '\u0000',
        '/',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        const problem = refusalOf(text)?.problem ?? '';
        if (valid) expect(problem).not.toMatch(/valid JSON|empty/);
        // The first fault is named: a number may be too large, or U+0000 escaped, before the text stops being JSON.
        else
          expect(problem).toMatch(
            /^(is (not valid JSON|too large a number)|must not (be (empty|given twice)|contain control character U\+0000))/,
          );
      }),
      { numRuns: 3000, examples: [[['1', 'e', '9', '0', '1', '{']], [['"', '\\u00', '0', '0']]] },
    );
  });

  it.each([
    '{}',
    '[]',
    '0',
    '-0',
    'true',
    'false',
    'null',
    '""',
    ' [ { } , [ ] ] ',
    '"\\u0041\\n\\/\\ud83d\\ude00"',
  ])('takes %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it('takes the names of object methods as keys like any others', () => {
    const text = '{"constructor":1,"toString":2,"hasOwnProperty":3,"valueOf":{"constructor":4}}';
    expect(JSON.stringify(parse(text))).toBe(text);
  });

  it('tolerates a byte order mark, once', () => {
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
    expect(refusal('\ufeff\ufeff{}').field).toBe('body');
  });
});

describe('a body that is not JSON', () => {
  it.each(['', ' ', '\n\t \r', '\ufeff'])('is refused as empty: %j', (text) => {
    expect(refusal(text)).toMatchObject({ field: 'body', problem: 'must not be empty' });
  });

  it.each([
    ['ff', [0x22, 0xff, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a cut character', [0x22, 0xe2, 0x82]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00]],
  ])('is refused for invalid UTF-8: %s', (_, bytes) => {
    expect(refusal(Buffer.from(bytes))).toMatchObject({ field: 'body', problem: 'must be valid UTF-8' });
  });

  it('is refused with the line, the column and the offset', () => {
    expect(refusal('{"a":1,\n "b" 2}').problem).toBe(
      'is not valid JSON at line 2, column 6 (offset 13): expected ":", but found "2"',
    );
    expect(refusal('{"a":').problem).toBe(
      'is not valid JSON at line 1, column 6 (offset 5): expected a value, but the text ends',
    );
  });

  it.each([
    ...[
      '{',
      '[',
      '"',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,',
      '[1',
      '[1,',
      '}',
      ']',
      ',',
      '{]',
      '[}',
      '[1}',
      '{"a":1]',
    ],
    ...['[1,]', '{"a":1,}', '[,1]', '{,}', '{1:2}', "{'a':1}", '{a:1}', '[1 2]', '1 2', '{}{}', '[]x'],
    ...[
      '01',
      '-',
      '-a',
      '+1',
      '.5',
      '1.',
      '1.e1',
      '1e',
      '1e+',
      '0x10',
      'NaN',
      'Infinity',
      'undefined',
      '00',
      '-01',
    ],
    ...[
      'tru',
      'True',
      'nullx',
      '"\n"',
      '"\t"',
      '"\u0000"',
      '"\\x41"',
      '"\\u12"',
      '"\\u12g4"',
      '"\\',
      '// c',
      '/**/1',
    ],
    ...['\u00a01', '\u000b1', '1\u2028'],
  ])('is refused: %j', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(refusal(text)).toMatchObject({
      field: 'body',
      problem: expect.stringMatching(/^is not valid JSON at line \d+, column \d+ \(offset \d+\): /),
    });
  });

  it('is never echoed at length', () => {
    const secret = 'sk_live_0123456789abcdefghijklmnopqrstuvwxyz';
    for (const text of [secret, `{"a":${secret}}`, `{"${secret}`, `["${secret}" "${secret}"]`]) {
      expect(refusal(text).message).not.toContain(secret.slice(0, 21));
    }
  });
});

describe('a key given twice', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"b":2,"a":1}', 'a'],
    ['{"action":{"amount_minor":1,"amount_minor":1}}', 'action.amount_minor'],
    ['{"trace":[{},{"step":"a"},{"step":"a","step":"b"}]}', 'trace[2].step'],
    ['[{"a":1,"a":1}]', 'body[0].a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"constructor":1,"constructor":1}', 'constructor'],
    ['{"":1,"":2}', '""'],
    ['{"a b":1,"a b":2}', '"a b"'],
    [`{"${'ä'.repeat(30)}":1,"${'ä'.repeat(30)}":2}`, `"${'ä'.repeat(20)}…"`],
  ])('is refused with its path: %s', (text, field) => {
    expect(refusal(text)).toMatchObject({ field, problem: 'must not be given twice' });
  });

  it('is one only within the same object', () => {
    const text = '{"a":{"a":1},"b":{"a":1},"c":[{"a":1},{"a":1}],"A":1}';
    expect(parse(text)).toEqual(JSON.parse(text));
  });
});

describe('the key __proto__', () => {
  it.each([
    ['{"__proto__":{}}', '__proto__'],
    ['{"context":{"x":[{"__proto__":null}]}}', 'context.x[0].__proto__'],
    ['{"\\u005f_proto__":1}', '__proto__'],
  ])('is refused anywhere: %s', (text, field) => {
    expect(refusal(text)).toMatchObject({ field, problem: 'is not an allowed key' });
  });

  it('is legal as a value', () => {
    expect(parse('{"a":"__proto__"}')).toEqual({ a: '__proto__' });
  });
});

describe('nesting', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

  it('of 32 levels is taken, of 33 is refused', () => {
    expect(parse(nested(32))).toEqual(JSON.parse(nested(32)));
    expect(refusal(nested(33)).problem).toBe('must not be nested deeper than 32 levels');
    expect(parse(`{"context":${nested(31)}}`)).toBeDefined();
    expect(refusal(`{"context":${nested(32)}}`).field).toBe('context');
    expect(refusal('{"a":'.repeat(33)).field).toBe('a');
  });

  it('of a whole body of brackets overflows nothing', () => {
    expect(refusal('['.repeat(65_536)).problem).toContain('nested');
    expect(refusal('{"a":'.repeat(13_000)).problem).toContain('nested');
  });
});

describe('an escaped NUL', () => {
  it.each([
    ['"\\u0000"', 'body'],
    ['{"a":"x\\u0000y"}', 'a'],
    ['{"context":{"notes":["b","\\u0000"]}}', 'context.notes[1]'],
    ['{"context":{"a":{"\\u0000":1}}}', 'context.a'],
  ])('is refused in strings and keys: %s', (text, field) => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(refusal(text)).toMatchObject({ field, problem: expect.stringContaining('U+0000') });
  });

  it('is not seen in an escaped backslash', () => {
    expect(parse('"\\\\u0000"')).toBe('\\u0000');
  });
});

describe('a lone surrogate', () => {
  it.each([
    ['"\\ud800"', 'body'],
    ['{"a":"x\\udc00"}', 'a'],
    ['{"a":["\\ud83d\\u0041"]}', 'a[0]'],
    ['{"a":"\\ud83d\\ud83d\\ude00"}', 'a'],
    ['{"a":{"\\udfff":1}}', 'a'],
  ])('is refused in strings and keys: %s', (text, field) => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(refusal(text)).toMatchObject({ field, problem: expect.stringContaining('lone surrogate') });
  });

  it('is not seen in a pair or in an escaped backslash', () => {
    for (const text of ['"\\ud83d\\ude00"', '"\\\\ud800"', '"😀"'])
      expect(parse(text)).toBe(JSON.parse(text));
  });
});

describe('a number', () => {
  it.each([
    ...['9007199254740993', '-9007199254740993', '9007199254740991.4', '12.0000000000000000001'],
    ...[
      '11.99999999999999999999',
      '9007199254740993e0',
      '0.9007199254740993e16',
      '1e-400',
      '1234567890123456789',
    ],
  ])('that would become another integer is refused: %s', (token) => {
    expect(refusal(`{"action":{"amount_minor":${token}}}`)).toMatchObject({
      field: 'action.amount_minor',
      problem: 'is a number that JSON cannot carry exactly',
    });
  });

  it.each(['1e309', '-1e309', `1${'0'.repeat(400)}`, '1e99999999999999999999'])(
    'that would become infinite is refused: %s',
    (token) => {
      expect(refusal(`{"a":[0,${token}]}`)).toMatchObject({
        field: 'a[1]',
        problem: 'is too large a number',
      });
    },
  );

  it.each([
    ...[
      '0',
      '-0',
      '12.0',
      '1.2e1',
      '12.50',
      '0.1',
      '9007199254740991',
      '-9007199254740991',
      '9007199254740992',
    ],
    ...[
      '90071992547409910e-1',
      '9007199254740991.000',
      '1E3',
      '1e+3',
      '1e21',
      '1e23',
      '0e999',
      '0.0',
      '5e-324',
    ],
    ...['1.7976931348623157e308', '0.30000000000000004', '3.14159265358979323846', '1000000000000000000000'],
  ])('that stays what it is is taken: %s', (token) => {
    expect(parse(token)).toBe(JSON.parse(token));
  });

  it('is refused exactly when an integer comes out of another number, whatever the integer', () => {
    const integer = fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n });
    fc.assert(
      fc.property(integer, (value) => {
        const written = BigInt(JSON.stringify(Number(value)));
        if (written === value) expect(parse(`${value}`)).toBe(Number(value));
        else expect(refusal(`${value}`).problem).toContain('exactly');
      }),
    );
  });

  it('takes linear time, however many zeros it is written with', () => {
    const zeros = '0'.repeat(60_000);
    expect(parse(`1.${zeros}`)).toBe(1);
    expect(refusal(`1.${zeros}1`).problem).toContain('exactly');
    expect(parse(`0.${zeros}`)).toBe(0);
  });
});
