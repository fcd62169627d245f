import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

const anything = fc.anything({
  key: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('__proto__', 'constructor', 'toString', '', '10', '9'),
  ),
  values: [
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', '\\', '\u007f', '\n', '\u2028', 'é', '😀', ' ', '~', '\ud800') }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.date({ noInvalidDate: true }),
  ],
});

test('any value has the form that the general serializer of RFC 8785 gives it', () => {
  fc.assert(
    fc.property(anything, (value) => {
      const wanted = canonicalize(value);
      if (wanted === undefined) expect(() => canonicalJson(value)).toThrow(TypeError);
      else expect(canonicalJson(value)).toBe(wanted);
    }),
    { numRuns: 2_000 },
  );
});

test('any JSON text comes out the same, however its keys are ordered and spaced', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const value: unknown = JSON.parse(json);
      expect(canonicalJson(value)).toBe(canonicalize(value));
      expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value));
    }),
    { numRuns: 500 },
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
