import { describe, expect, test } from 'vitest';
import { ApiError } from '../errors.ts';
import { makeOwnLimiter } from '../http/limiters.ts';
import { type Attempts, type Guesser, makeAttempts } from './attempts.ts';

const ADA: Guesser = { client_address: '192.0.2.1', email: 'ada@example.com' };

/** Judges attempts of guessers, and keeps what came of it. */
function makeDoor(attempts: Attempts = makeAttempts(makeOwnLimiter)) {
  const told = { locked: 0, judged_now: 0, most: 0 };
  const known = new Set<string>();
  const attempt = async (guesser: Guesser, outcome: 'right' | 'wrong' | 'not judged') => {
    try {
      const judge = async () => {
        told.judged_now += 1;
        told.most = Math.max(told.most, told.judged_now);
        // Others get their turn before this one is judged.
        await new Promise((resolve) => setImmediate(resolve));
        told.judged_now -= 1;
        if (outcome === 'not judged') throw new Error('not judged');
        return outcome === 'right';
      };
      const is_right = await attempts.judge(guesser, judge, {
        isKnown: async () => known.has(guesser.client_address),
        onLocked: async () => {
          told.locked += 1;
        },
      });
      return is_right ? 'right' : 'wrong';
    } catch (error) {
      return error instanceof ApiError ? error.code : (error as Error).message;
    }
  };
  const many = (count: number, outcome: 'right' | 'wrong' | 'not judged', guesser = ADA) =>
    Promise.all(Array.from({ length: count }, () => attempt(guesser, outcome)));
  return { told, known, attempt, many };
}
const count = (of: readonly string[], what: string) => of.filter((each) => each === what).length;

describe('of one guesser', () => {
  test('any number of right ones at once are let in', async () => {
    const door = makeDoor();
    expect(count(await door.many(60, 'right'), 'right')).toBe(60);
    expect(door.told.most).toBeLessThanOrEqual(10);
    expect(await door.attempt(ADA, 'wrong')).toBe('wrong');
  });
  test('of wrong ones ten are judged, however many come at once, and one refusal is told', async () => {
    const door = makeDoor();
    const replies = await door.many(40, 'wrong');
    expect([count(replies, 'wrong'), count(replies, 'rate_limited')]).toEqual([10, 30]);
    expect(door.told.locked).toBe(1);
    expect(await door.attempt(ADA, 'right')).toBe('rate_limited');
    expect(await door.attempt({ ...ADA, client_address: '192.0.2.2' }, 'right')).toBe('right');
    expect(await door.attempt({ ...ADA, email: 'grace@example.com' }, 'right')).toBe('right');
  });
  test('what could not be judged counts for nothing', async () => {
    const door = makeDoor();
    expect(count(await door.many(30, 'not judged'), 'not judged')).toBe(30);
    expect(count(await door.many(10, 'wrong'), 'wrong')).toBe(10);
  });
  test('right ones find room beside wrong ones that were before', async () => {
    const door = makeDoor();
    await door.many(9, 'wrong');
    expect(count(await door.many(20, 'right'), 'right')).toBe(20);
  });
  test('what waits is bounded', async () => {
    const door = makeDoor();
    const replies = await door.many(200, 'right');
    expect(count(replies, 'right') + count(replies, 'auth_unavailable')).toBe(200);
    expect(count(replies, 'auth_unavailable')).toBeGreaterThan(0);
  });
});

describe('of one e-mail over all addresses', () => {
  test('fifty wrong ones a day are judged, and whoever came before from where they are is let in all the same', async () => {
    const door = makeDoor();
    for (let n = 0; n < 5; n++) await door.many(10, 'wrong', { ...ADA, client_address: `198.51.100.${n}` });
    const elsewhere = { ...ADA, client_address: '203.0.113.9' };
    expect(await door.many(3, 'right', elsewhere)).toEqual(Array(3).fill('rate_limited'));
    expect(door.told.locked).toBe(1);
    door.known.add(ADA.client_address);
    expect(await door.attempt(ADA, 'right')).toBe('right');
    expect(await door.attempt({ ...elsewhere, email: 'grace@example.com' }, 'right')).toBe('right');
  });
});
