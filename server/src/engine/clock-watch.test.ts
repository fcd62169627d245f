import { describe, expect, test } from 'vitest';
import { makeMovedClock } from '../../tests/support/clock.ts';
import { batchTimes } from './clock-watch.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 23, 12);

/** A watch, and the clocks of its world: `pass` lets time go by for all of them. */
function world(options: { wall_ms?: number } = {}) {
  const { own, clock } = makeMovedClock({ wall_ms: options.wall_ms ?? START });
  let steps = 0;
  clock.onStep(() => {
    steps += 1;
  });
  const database = { clock_ms: START };
  return {
    own,
    clock,
    database,
    steps: () => steps,
    pass(ms: number) {
      own.elapsed_ms += ms;
      own.wall_ms += ms;
      database.clock_ms += ms;
    },
    read: (newest_ms: number | null = null, confirmed_ms: number | null = null) =>
      clock.observe({
        clock_ms: database.clock_ms,
        asked_ms: own.elapsed_ms,
        answered_ms: own.elapsed_ms,
        newest_ms,
        confirmed_ms,
      }),
  };
}

describe('a clock that jumps', () => {
  test.each([
    ['ahead', 40 * DAY],
    ['back', -3 * DAY],
    ['by just more than a minute', 60_001],
  ])('%s is doubted at once, in words with both times, and believed again when it is back', (_name, by) => {
    const { clock, database, read, pass, steps } = world();
    expect(read()).toBe(true);
    pass(5_000);
    database.clock_ms += by;
    expect(read()).toBe(false);
    expect(clock.doubt()).toContain(new Date(START + 5_000 + by).toISOString());
    expect(clock.doubt()).toContain(new Date(START + 5_000).toISOString());
    expect(clock.isSettled()).toBe(false);
    pass(2_000);
    database.clock_ms -= by;
    expect(read()).toBe(true);
    expect([clock.doubt(), clock.isSettled(), steps()]).toEqual([null, true, 0]);
  });

  test('is believed once its readings have agreed for a minute, and nothing is settled for a day', () => {
    const { clock, database, read, pass, steps } = world();
    read();
    database.clock_ms += 40 * DAY;
    const readings = Array.from({ length: 13 }, () => {
      const is_believed = read();
      pass(5_000);
      return is_believed;
    });
    expect(readings).toEqual([...Array(12).fill(false), true]);
    expect([clock.doubt(), clock.isSettled(), steps()]).toEqual([null, false, 1]);
    pass(DAY - 5_001);
    expect(clock.isSettled()).toBe(false);
    pass(5_001);
    expect(clock.isSettled()).toBe(true);
  });

  test('however many readings come at once, they must agree for a minute', () => {
    const { database, read } = world();
    read();
    database.clock_ms += DAY;
    for (let i = 0; i < 100; i++) expect(read()).toBe(false);
  });

  test('is never believed while its readings do not agree with each other', () => {
    const { database, read, pass } = world();
    read();
    for (let i = 0; i < 100; i++) {
      database.clock_ms += (i % 2 === 0 ? 3 : -2) * DAY;
      pass(5_000);
      expect(read()).toBe(false);
    }
  });

  test('is believed at once where an operator has just confirmed it, but not by a confirmation of before', () => {
    const { clock, database, read, pass, steps } = world();
    read();
    pass(1_000);
    database.clock_ms += DAY;
    expect(read(null, START)).toBe(false);
    expect(read(null, database.clock_ms)).toBe(true);
    expect([clock.doubt(), clock.isSettled(), steps()]).toEqual([null, true, 1]);
  });
});

describe('a clock that moves in steps of less than a minute', () => {
  test.each([
    ['ahead', 59_000],
    ['back', -59_000],
  ])('%s is doubted at the second', (_name, by) => {
    const { database, read, pass } = world();
    read();
    const readings = Array.from({ length: 4 }, () => {
      pass(5_000);
      database.clock_ms += by;
      return read();
    });
    expect(readings).toEqual([true, false, false, false]);
  });

  test('after a jump agrees with itself at none', () => {
    const { database, read, pass } = world();
    read();
    database.clock_ms += DAY;
    for (let i = 0; i < 100; i++) {
      expect(read()).toBe(false);
      pass(5_000);
      database.clock_ms += 31_000;
    }
  });
});

test('a confirmation that was known before a jump confirms none, however short the jump is', () => {
  const { database, read, pass } = world();
  read(null, START);
  pass(5_000);
  database.clock_ms += 300_000;
  expect(read(null, START)).toBe(false);
  const confirmed_ms = database.clock_ms;
  expect(read(null, confirmed_ms)).toBe(true);
  pass(5_000);
  database.clock_ms += 300_000;
  expect(read(null, confirmed_ms)).toBe(false);
});

test('a time that has passed has passed, also where the clock jumps back', () => {
  const { clock, database, read, pass } = world();
  expect(clock.passedMs()).toBe(Number.NEGATIVE_INFINITY);
  read();
  pass(5_000);
  database.clock_ms -= DAY;
  expect(clock.passedMs()).toBe(START - 55_000);
  read();
  expect(clock.passedMs()).toBe(START - 55_000);
});

describe('a clock that did not jump', () => {
  test('is believed through steps of up to a minute, and while it is slewed', () => {
    const { database, read, pass } = world();
    read();
    for (let i = 0; i < 500; i++) {
      pass(5_000);
      database.clock_ms += 400;
      expect(read()).toBe(true);
    }
    database.clock_ms -= 60_000;
    expect(read()).toBe(true);
  });

  test('is believed where the answer was read late, because the process was stopped', () => {
    const { own, clock, database, read, pass } = world();
    read();
    pass(1_000);
    const asked_ms = own.elapsed_ms;
    const { clock_ms } = database;
    pass(11 * 60_000);
    expect(clock.observe({ clock_ms, asked_ms, answered_ms: own.elapsed_ms, newest_ms: null })).toBe(true);
    expect(read()).toBe(true);
  });

  test('is believed after the machine slept, though the process’s clock stood still', () => {
    const { own, database, read } = world();
    read();
    database.clock_ms += 8 * 3_600_000;
    own.suspended_ms += 8 * 3_600_000;
    expect(read()).toBe(true);
    database.clock_ms += 8 * 3_600_000;
    expect(read()).toBe(false);
  });
});

describe('the first reading of a process', () => {
  test.each([
    ['nothing was written yet', 40 * DAY, null, true],
    ['this machine’s clock agrees', 0, START - 40 * DAY, true],
    ['this machine’s clock agrees, though the history is ahead', 0, START + 40 * DAY, true],
    ['the newest batch agrees', 40 * DAY, START - 30_000, true],
    ['the newest batch is older and this machine’s clock another', 40 * DAY, START - DAY, false],
    ['the newest batch is later and this machine’s clock another', 40 * DAY, START + DAY, false],
  ])('%s', (_name, wall_by, newest_ms, is_believed) => {
    const { read, pass } = world({ wall_ms: START + wall_by });
    expect(read(newest_ms)).toBe(is_believed);
    for (let i = 0; i < 12; i++) {
      pass(5_000);
      read(newest_ms);
    }
    expect(read(newest_ms)).toBe(true);
  });
});

test('a chain that is ahead by more than a minute leaves limits to the clock; by less, time stops', () => {
  expect(batchTimes(START, START - 1)).toEqual({ order_ms: START, now_ms: START });
  expect(batchTimes(START, START + 59_999)).toEqual({ order_ms: START + 60_000, now_ms: START + 60_000 });
  expect(batchTimes(START, START + 60_000)).toEqual({ order_ms: START + 60_001, now_ms: START });
});

test('the lead of the newest batch is reported until the clock has passed it', () => {
  const { clock, read, pass } = world();
  read(START + 10 * DAY);
  expect(clock.aheadMs()).toBe(10 * DAY);
  pass(11 * DAY);
  read(START + 10 * DAY);
  expect(clock.aheadMs()).toBe(0);
});
