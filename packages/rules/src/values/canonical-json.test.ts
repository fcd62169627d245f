import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

test('any JSON text comes out the same, however its keys are ordered and spaced', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const text = canonicalJson(JSON.parse(json));
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(json));
    }),
    { numRuns: 500 },
  );
});

test('it is what the reference implementation makes of the value, whatever the keys are', () => {
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom('10', '9', '-1', '01', '__proto__', 'constructor', 'a', 'B', 'é'),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.constant(undefined),
      fc.date({ noInvalidDate: true }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 6 }),
      fc.dictionary(fc.string(), fc.integer(), { minKeys: 20, maxKeys: 40 }),
    ),
  }));
  fc.assert(
    fc.property(value, (any) => {
      fc.pre(any !== undefined);
      expect(canonicalJson(any)).toBe(canonicalize(any));
    }),
    { numRuns: 1_000 },
  );
});

test('the example of RFC 8785, section 3.2, has the form it gives', () => {
  const sent =
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
    '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}';
  expect(canonicalJson(JSON.parse(sent))).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test.each([
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1n,
  undefined,
  Symbol('s'),
  () => 1,
  [1, Number.NaN],
  { a: 1n },
])('what JSON cannot carry is refused: %s', (value) => {
  expect(() => canonicalJson(value)).toThrow(TypeError);
});
