import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMembers, spliceMembers } from './json-members.ts';

/** JSON texts as clients write them: with and without white space. */
const spaced = fc.tuple(
  fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
  fc.constantFrom(0, 1, '\t'),
);

test('a spliced body says the same but for what was set, and keeps every other byte', () => {
  fc.assert(
    fc.property(spaced, fc.string(), fc.jsonValue(), ([body, indent], name, value) => {
      const text = JSON.stringify(body, null, indent);
      const bytes = Buffer.from(text);
      const spliced = spliceMembers(bytes, readMembers(bytes), new Map([[name, value]]));
      const expected = JSON.parse(text);
      Object.defineProperty(expected, name, {
        value: JSON.parse(JSON.stringify(value)),
        enumerable: true,
        configurable: true,
        writable: true,
      });
      const read = JSON.parse(spliced.toString());
      // As texts, since a name may be `__proto__`.
      const textsOf = (of: object) => Object.entries(of).map(([key, each]) => JSON.stringify([key, each]));
      expect(textsOf(read).sort()).toEqual(textsOf(expected).sort());
      // What was set is found as a member, and put back to what it was it gives the first text.
      const found = readMembers(spliced).byName.get(name);
      const set = JSON.stringify(value);
      expect(spliced.subarray(found?.value_start, found?.value_end).toString()).toBe(set);
      const was = readMembers(bytes).byName.get(name);
      if (was !== undefined) {
        const back = Buffer.concat([
          spliced.subarray(0, was.value_start),
          bytes.subarray(was.value_start, was.value_end),
          spliced.subarray(was.value_start + Buffer.byteLength(set)),
        ]);
        expect(back.equals(bytes)).toBe(true);
      }
    }),
    { numRuns: 3_000 },
  );
});

test('strings with quotes, braces and escapes are no members', () => {
  const text = String.raw`{ "a\"}" : "{\"b\":1}\\", "c":[{"d":{"c":2}}] , "e" : -1.5e3 }`;
  const { byName } = readMembers(Buffer.from(text));
  const values = [...byName].map(([name, { value_start, value_end }]) => [
    name,
    text.slice(value_start, value_end).trim(),
  ]);
  expect(values).toEqual([
    ['a"}', String.raw`"{\"b\":1}\\"`],
    ['c', '[{"d":{"c":2}}]'],
    ['e', '-1.5e3'],
  ]);
});

test.each([
  ['{"max_tokens":1,"max_tokens":9}', 'max_tokens'],
  [String.raw`{"max_tokens":1,"max\u005ftokens":9}`, 'max_tokens'],
  ['{"thinking":{"budget_tokens":1,"budget_tokens":9}}', 'thinking'],
  ['{"messages":[{"content":[{"type":"text","type":"image"}]}]}', 'messages'],
])('a name that is repeated is refused, at any depth: %s', (text, param) => {
  expect(() => readMembers(Buffer.from(text))).toThrow(expect.objectContaining({ param }));
});

test('an object without members takes one', () => {
  const bytes = Buffer.from(' { } ');
  expect(spliceMembers(bytes, readMembers(bytes), new Map([['n', 1]])).toString()).toBe(' {"n":1 } ');
});
