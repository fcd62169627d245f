import fc from 'fast-check';
import pg from 'pg';
import { expect, test } from 'vitest';
import { arrayLiteral } from './array-literal.ts';

const TEXT_ARRAY = 1009;
const INTEGER_ARRAY = 1007;
const BYTEA_ARRAY = 1001;
const parserOf = (oid: number) => pg.types.getTypeParser(oid, 'text') as (text: string) => unknown;

test('an array literal of any texts and nulls is parsed back to the same values', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ',', 'N', ' ', 'é', '\u001e') }),
    fc.constantFrom('', 'NULL', 'null'),
  );
  fc.assert(
    fc.property(fc.array(fc.option(text)), (values) => {
      expect(parserOf(TEXT_ARRAY)(arrayLiteral(values))).toEqual(values);
    }),
    { numRuns: 1_000 },
  );
});

test('an array literal of integers, booleans or bytes is parsed back to the same values', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), (values) => {
      expect(parserOf(INTEGER_ARRAY)(arrayLiteral(values))).toEqual(values);
    }),
  );
  const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(fc.array(bytes), (values) => {
      expect(parserOf(BYTEA_ARRAY)(arrayLiteral(values))).toEqual(values);
    }),
  );
  expect(arrayLiteral([true, false, null])).toBe('{true,false,NULL}');
});
