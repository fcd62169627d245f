import { expect, test } from 'vitest';
import { followChains } from './follow-chains.ts';

/** Chains with so many pages each; one with none fails. */
async function followed(pages: Record<string, number>, most_pages: number) {
  const left = { ...pages };
  const read: string[] = [];
  const failed: string[] = [];
  await followChains({
    workspace_ids: Object.keys(pages),
    most_pages,
    next: async (workspace_id) => {
      read.push(workspace_id);
      if (pages[workspace_id] === 0) throw new Error('cannot be read');
      left[workspace_id] = (left[workspace_id] as number) - 1;
      return left[workspace_id] > 0;
    },
    onFailure: (_, workspace_id) => failed.push(workspace_id),
  });
  return { read: read.join(''), failed };
}

test('every chain is read to its end, a page of each in turn', async () => {
  expect(await followed({ a: 3, b: 1, c: 2 }, 100)).toEqual({ read: 'abcaca', failed: [] });
});

test('no more pages are read than asked for, and each chain has had its turn before any has two', async () => {
  expect(await followed({ a: 1_000, b: 1_000, c: 1_000 }, 5)).toEqual({ read: 'abcab', failed: [] });
});

test('a chain that cannot be read keeps none of the others from being read', async () => {
  expect(await followed({ a: 0, b: 2 }, 100)).toEqual({ read: 'abb', failed: ['a'] });
});
