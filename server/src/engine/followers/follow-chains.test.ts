import { expect, test } from 'vitest';
import { makeRound } from './follow-chains.ts';

/** Chains with so many pages each, in rounds of at most `max_pages`; those of `broken` fail while they are in it. */
function follow(
  pages: Record<string, number>,
  max_pages: number,
  broken = new Set<string>(),
  max_full_pages?: number,
) {
  const left = new Map(Object.entries(pages));
  let tried: string[] = [];
  const sizes: number[] = [];
  const stuck: string[] = [];
  const round = makeRound({
    find: async ({ after, without, limit }) => {
      const behind = [...left]
        .flatMap(([id, count]) => (count > 0 && !without.includes(id) ? id : []))
        .sort();
      return [...behind.filter((id) => id > after), ...behind.filter((id) => id <= after)].slice(0, limit);
    },
    next: async (id, max_events) => {
      tried.push(id);
      if (broken.has(id)) {
        sizes.push(max_events);
        throw new Error('cannot be read');
      }
      const now = (left.get(id) as number) - 1;
      left.set(id, now);
      return now > 0;
    },
    max_events: 8,
    max_pages,
    ...(max_full_pages === undefined ? {} : { max_full_pages }),
    onStuck: (_, id) => stuck.push(id),
  });
  return {
    left,
    sizes,
    stuck,
    /** The attempts of a round. */
    async round() {
      tried = [];
      await round();
      return tried.join(' ');
    },
  };
}

test('every chain is read to its end, a page of each in turn', async () => {
  expect(await follow({ a: 3, b: 1, c: 2 }, 100).round()).toBe('a b c a c a');
});

test('where there are more chains than pages in a round, each gets its turn in the following rounds', async () => {
  const chains = follow({ a: 9, b: 9, c: 9, d: 9, e: 9 }, 2);
  expect([await chains.round(), await chains.round(), await chains.round()]).toEqual(['a b', 'c d', 'e a']);
});

test('a round ends after its full pages, and short ones are free', async () => {
  const chains = follow({ a: 9, b: 1, c: 1, d: 9, e: 1 }, 100, undefined, 2);
  expect([await chains.round(), await chains.round()]).toEqual(['a b c d', 'e a d']);
});

test('a hundred chains that fail delay no other, and cost a round one attempt', async () => {
  const broken = new Set(Array.from({ length: 100 }, (_, i) => `a${i + 100}`));
  const chains = follow({ ...Object.fromEntries([...broken].map((id) => [id, 1_000])), z: 5 }, 10, broken);
  while (chains.stuck.length < 100) await chains.round();
  // Each was told once.
  expect(new Set(chains.stuck).size).toBe(100);
  chains.left.set('z', 2);
  expect(await chains.round()).toMatch(/^z z a\d+$/);
  expect(chains.stuck).toHaveLength(100);
});

test('a chain that fails is retried with half as many events each time, and like all others once it succeeds', async () => {
  const broken = new Set(['a']);
  const chains = follow({ a: 3 }, 10, broken);
  for (let i = 0; i < 5; i++) await chains.round();
  // The first round tries twice.
  expect(chains.sizes).toEqual([8, 4, 2, 1, 1, 1]);
  broken.clear();
  expect(await chains.round()).toBe('a');
  expect(await chains.round()).toBe('a a');
  broken.add('a');
  chains.left.set('a', 1);
  await chains.round();
  expect(chains.stuck).toEqual(['a', 'a']);
});

test('after an outage all chains go on in one round', async () => {
  const broken = new Set(['a', 'b', 'c']);
  const chains = follow({ a: 1, b: 1, c: 1 }, 10, broken);
  await chains.round();
  broken.clear();
  await chains.round();
  expect([...chains.left.values()]).toEqual([0, 0, 0]);
});
