import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makePresence } from './presence.ts';

test('it is quiet exactly while nobody waits for a request', () => {
  const presence = makePresence(() => 0);
  const [leave, leaveToo] = [presence.enter(), presence.enter()];
  leave();
  leave();
  expect(presence.isQuiet()).toBe(false);
  leaveToo();
  expect(presence.isQuiet()).toBe(true);
});

test('a workspace is alone exactly while no other has sent a request within a second', () => {
  const step = fc.record({
    workspace_id: fc.constantFrom('a', 'b', 'c'),
    after_ms: fc.integer({ min: 0, max: 1_500 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let at_ms = 0;
      const presence = makePresence(() => at_ms);
      const last = new Map<string, number>();
      for (const { workspace_id, after_ms } of steps) {
        at_ms += after_ms;
        presence.note(workspace_id);
        last.set(workspace_id, at_ms);
        for (const asked of ['a', 'b', 'c']) {
          const is_alone = [...last].every(
            ([other, noted_ms]) => other === asked || at_ms - noted_ms > 1_000,
          );
          expect(presence.isAlone(asked)).toBe(is_alone);
        }
      }
    }),
  );
});
