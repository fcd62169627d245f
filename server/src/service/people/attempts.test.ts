import { createHash } from 'node:crypto';
import { ApiError } from '@purser/rules/errors';
import { describe, expect, test, vi } from 'vitest';
import { makeOwnLimiter } from '../http/limiters.ts';
import { Attempts, type Guesser } from './attempts.ts';

const ADA = { as: 'stranger', client_address: '192.0.2.1', email: 'ada@example.com' } as const;
const mac = (text: string) => createHash('sha256').update(text).digest();

/** Judges attempts of guessers, and keeps what came of it. */
function makeDoor(attempts: Attempts = new Attempts(makeOwnLimiter, mac)) {
  const told = { locked: 0, judged_now: 0, most: 0 };
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
      const is_right = await attempts.judge(guesser, judge, () => {
        told.locked += 1;
      });
      return is_right ? 'right' : 'wrong';
    } catch (error) {
      return error instanceof ApiError ? error.code : (error as Error).message;
    }
  };
  const many = (count: number, outcome: 'right' | 'wrong' | 'not judged', guesser: Guesser = ADA) =>
    Promise.all(Array.from({ length: count }, () => attempt(guesser, outcome)));
  return { told, attempt, many };
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
  test('fifty wrong ones a day are judged, and the browser of its person is let in all the same', async () => {
    const door = makeDoor();
    for (let n = 0; n < 5; n++) await door.many(10, 'wrong', { ...ADA, client_address: `198.51.100.${n}` });
    const elsewhere = { ...ADA, client_address: '203.0.113.9' };
    expect(await door.many(3, 'right', elsewhere)).toEqual(Array(3).fill('rate_limited'));
    expect(door.told.locked).toBe(1);
    expect(await door.attempt({ as: 'device', device_id: 'her laptop' }, 'right')).toBe('right');
    expect(await door.attempt({ ...elsewhere, email: 'grace@example.com' }, 'right')).toBe('right');
  });
});

describe('of a device and of a session', () => {
  const device = { as: 'device', device_id: 'her laptop' } as const;
  const session = (session_id: string) => ({ as: 'session', session_id, user_id: 'usr_1' }) as const;
  test('ten wrong ones are judged, and nobody else’s count for them', async () => {
    const door = makeDoor();
    await door.many(10, 'wrong');
    for (const guesser of [device, session('ses_1')]) {
      expect(count(await door.many(30, 'wrong', guesser), 'wrong')).toBe(10);
      expect(await door.attempt(guesser, 'right')).toBe('rate_limited');
    }
    expect(await door.attempt({ ...device, device_id: 'her phone' }, 'right')).toBe('right');
    expect(await door.attempt(session('ses_2'), 'right')).toBe('right');
  });
  test('fifty a day of a person are judged, however many sessions ask', async () => {
    const door = makeDoor();
    for (let n = 0; n < 6; n++) await door.many(10, 'wrong', session(`ses_${n}`));
    expect(door.told.judged_now).toBe(0);
    expect(await door.attempt(session('ses_7'), 'right')).toBe('rate_limited');
    expect(await door.attempt({ as: 'session', session_id: 'ses_8', user_id: 'usr_2' }, 'right')).toBe(
      'right',
    );
  });
});

test('however many e-mails are invented, strangers have 65,536 counters', async () => {
  const names = new Set<string | number>();
  const attempts = new Attempts((...given) => {
    const limiter = makeOwnLimiter(...given);
    const { consume } = limiter;
    return Object.assign(limiter, {
      consume: vi.fn((name: string | number) => {
        names.add(name);
        return consume.call(limiter, name);
      }),
    });
  }, mac);
  for (let i = 0; i < 2_000; i++) {
    const guesser = { ...ADA, email: `${'x'.repeat(400)}${i}@example.com` };
    await attempts
      .judge(
        guesser,
        async () => false,
        () => {},
      )
      .catch(() => {});
  }
  expect(names.size).toBeGreaterThan(1_900);
  for (const name of names) expect(Number(name)).toBeLessThan(65_536);
});
