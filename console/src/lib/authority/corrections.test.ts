import { expect, test } from 'vitest';
import { withAlso, withNot, withoutAlso, withoutNot } from './corrections.ts';

const CHIP = { kind: 'cloud and hosting', words: 'Servers' };

test('a correction is kept once and gone when it is taken back', () => {
  const once = withNot(withNot(null, CHIP), { ...CHIP, words: 'servers' });
  expect(once).toEqual({ not: [{ ...CHIP, words: 'servers' }] });
  expect(withoutNot(once, CHIP)).toBeNull();
});

test('what was added goes by its place, and the rest stays', () => {
  const two = withAlso(withAlso(withNot(null, CHIP), { kind: 'merchant', words: 'A' }), {
    kind: 'person',
    words: 'B',
  });
  expect(withoutAlso(two, 0)).toEqual({ not: [CHIP], also: [{ kind: 'person', words: 'B' }] });
  expect(withoutAlso(withoutAlso(two, 0), 0)).toEqual({ not: [CHIP] });
});
