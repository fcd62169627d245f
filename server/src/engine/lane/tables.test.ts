import { describe, expect, it } from 'vitest';
import { addLoaded, KINDS, nothingLoaded } from './tables.ts';

describe('the loaded rows of a workspace', () => {
  it('are its own: what is added for one is not there for another', () => {
    const one = nothingLoaded();
    const other = nothingLoaded();
    addLoaded(one, 'members', [{ user_id: 'a' }]);
    addLoaded(one, 'members', [{ user_id: 'b' }]);
    expect(one.members.map(({ user_id }) => user_id)).toEqual(['a', 'b']);
    for (const [kind] of KINDS) expect(other[kind]).toEqual([]);
  });

  it('are not those that were known from an earlier batch', () => {
    const known = [{ user_id: 'a' }];
    const one = nothingLoaded();
    addLoaded(one, 'members', known);
    addLoaded(one, 'members', [{ user_id: 'b' }]);
    expect(known).toHaveLength(1);
  });
});
