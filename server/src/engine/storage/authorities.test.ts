import { expect, test } from 'vitest';
import { parseAuthority } from './authorities.ts';

const row = (name: string, characters: number) => ({
  hash: `sha256:${name}`,
  authority: JSON.stringify({
    purpose: { objective: 'a'.repeat(characters) },
    currency: 'EUR',
  }),
});

test('equal rows return the same parsed authority, so that what was precomputed for it is found again', () => {
  const first = parseAuthority(row('one', 500));
  for (let i = 0; i < 1_000; i++) parseAuthority(row(`small-${i}`, 500));
  expect(parseAuthority(row('one', 500))).toBe(first);
});

test('long parsed authorities do not pile up in memory: the least recently used are evicted', () => {
  const first = parseAuthority(row('two', 60_000));
  for (let i = 0; i < 200; i++) parseAuthority(row(`long-${i}`, 60_000));
  const again = parseAuthority(row('two', 60_000));
  expect(again).toEqual(first);
  expect(again).not.toBe(first);
});
