import type { RefusalReason } from '@purser/rules/errors';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ofRead } from './prices.ts';
import { Turns } from './turns.ts';

const REASON: RefusalReason = 'answers_time';
const holder = (workspace_id: string) => ({ workspace_id, key_id: `key of ${workspace_id}` });

/** Turns on a clock that moves only when something works or waits. */
function onFakeClock() {
  let at_ms = 0;
  let turn = 0;
  let timers = 0;
  const due: { at_ms: number; turn: number; resume: () => void }[] = [];
  const turns = new Turns({
    now_ms: () => at_ms,
    after(wait_ms, resume) {
      timers += 1;
      due.push({ at_ms: at_ms + wait_ms, turn: 0, resume });
    },
    nextTurn: (resume) => void due.push({ at_ms, turn: turn + 1, resume }),
  });
  /** Runs one turn of the event loop; false if there is nothing to do. */
  async function runTurn() {
    turn += 1;
    const first = due.reduce((least, each) => Math.min(least, each.at_ms), Number.POSITIVE_INFINITY);
    if (due.length === 0) return false;
    at_ms = Math.max(at_ms, first);
    const now = due.splice(0);
    for (const each of now) {
      if (each.at_ms <= at_ms && each.turn <= turn) each.resume();
      else due.push(each);
    }
    await new Promise((next) => setImmediate(next));
    return true;
  }
  return {
    turns,
    now: () => at_ms,
    turn: () => turn,
    timers: () => timers,
    pass(ms: number) {
      at_ms += ms;
    },
    /** Waits as for work elsewhere. */
    wait: (ms: number) => new Promise<void>((resume) => due.push({ at_ms: at_ms + ms, turn: 0, resume })),
    /** Work of a price that takes as long. */
    work: (price: number) => () => {
      const result = at_ms;
      at_ms += price;
      return { result, price };
    },
    runTurn,
    async runAll() {
      while (await runTurn());
    },
  };
}

describe('work for requests', () => {
  test('is done at once, and without a promise, while the slice has room; the rest a slice a turn', async () => {
    const { turns, work, turn, runAll } = onFakeClock();
    expect(turns.spend(holder('a'), REASON, work(2))).toBe(0);
    expect(turns.spend(holder('b'), REASON, work(1))).toBeInstanceOf(Promise);
    const later = Array.from({ length: 10 }, async () => {
      await turns.spend(holder('a'), REASON, work(1));
      return turn();
    });
    await runAll();
    expect(new Set(await Promise.all(later)).size).toBeGreaterThanOrEqual(4);
  });

  test('of who has used less comes first, however much of another came before', async () => {
    const { turns, work, runAll } = onFakeClock();
    turns.spend(holder('flood'), REASON, work(3));
    const done: string[] = [];
    const ask = async (name: string) => {
      await turns.spend(holder(name), REASON, work(3));
      done.push(name);
    };
    const all = [...Array.from({ length: 20 }, () => ask('flood')), ask('honest'), ask('honest')];
    await runAll();
    await Promise.all(all);
    expect(done.indexOf('honest')).toBeLessThanOrEqual(1);
    expect(done.lastIndexOf('honest')).toBeLessThanOrEqual(3);
  });

  test('is refused at its turn exactly where it has waited 2.5 s, and at once where 400 of its workspace wait', async () => {
    const script = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(script, async (prices) => {
        const { turns, work, now, runAll } = onFakeClock();
        turns.spend(holder('a'), REASON, work(3));
        const asked_ms = now();
        const ends = prices.map(async (price) => {
          const began = turns.spend(holder('a'), REASON, work(price));
          return Promise.resolve(began).catch(({ code, retry_after_s, reason }) => {
            expect([code, retry_after_s, reason]).toEqual(['unavailable', 1, REASON]);
            return 'refused' as const;
          });
        });
        await runAll();
        let turn_ms = asked_ms;
        for (const [i, end] of (await Promise.all(ends)).entries()) {
          expect(end).toBe(turn_ms - asked_ms >= 2_500 ? 'refused' : turn_ms);
          if (end !== 'refused') turn_ms += prices[i] as number;
        }
      }),
    );
    const { turns, work, runAll } = onFakeClock();
    turns.spend(holder('a'), REASON, work(3));
    const some = Array.from({ length: 400 }, () => turns.spend(holder('a'), REASON, work(0.01)));
    await expect(turns.spend(holder('a'), REASON, work(0.01))).rejects.toMatchObject({ reason: REASON });
    const other = turns.spend(holder('b'), REASON, work(0.01));
    await runAll();
    expect(await Promise.all([other, ...some])).toHaveLength(401);
  });

  test('is priced by what was counted: loading or a busy machine delays nobody else, and is nobody’s debt', async () => {
    const { turns, pass, runAll } = onFakeClock();
    turns.enter(holder('b'));
    const slow = () => {
      pass(90);
      return { result: undefined, price: 0.03 };
    };
    for (let i = 0; i < 20; i++) expect(turns.spend(holder('a'), REASON, slow)).toBeUndefined();
    await runAll();
  });

  test('of one that was alone leaves gaps as soon as another is there, and is done as fast as it can be otherwise', async () => {
    const { turns, work, now, runAll } = onFakeClock();
    turns.enter(holder('flood'));
    const flood = async (count: number) => {
      const began_ms = now();
      const all = Array.from({ length: count }, () => turns.spend(holder('flood'), REASON, work(5)));
      await runAll();
      await Promise.all(all);
      return now() - began_ms;
    };
    expect(await flood(100)).toBe(500);
    turns.enter(holder('honest'));
    expect(await flood(20)).toBeGreaterThan(300);
  });

  test('that waits in a gap is looked at again when the gap is over, once, however much comes meanwhile', async () => {
    const { turns, work, timers, runTurn, runAll } = onFakeClock();
    turns.spend(holder('flood'), REASON, work(5));
    turns.enter(holder('honest'));
    const all = [];
    for (let i = 0; i < 100; i++) {
      all.push(turns.spend(holder('flood'), REASON, work(1)));
      await runTurn();
    }
    await runAll();
    await Promise.all(all);
    expect(timers()).toBeLessThanOrEqual(100);
  });

  test('that throws rejects for its caller alone', async () => {
    const { turns, work, runAll } = onFakeClock();
    const fail = () => {
      throw new Error('it went wrong');
    };
    expect(() => turns.spend(holder('a'), REASON, fail)).toThrow('it went wrong');
    turns.spend(holder('a'), REASON, work(3));
    const failing = expect(turns.spend(holder('a'), REASON, fail)).rejects.toThrow('it went wrong');
    const next = turns.spend(holder('a'), REASON, work(1));
    await runAll();
    await failing;
    expect(await next).toBe(3);
  });
});

describe('background work', () => {
  /** A task of pieces of work that take the same time; says when each began. */
  function task(clock: ReturnType<typeof onFakeClock>, pieces: number, takes_ms: number) {
    const began: { at_ms: number; turn: number }[] = [];
    const done = (async () => {
      for (let i = 0; i < pieces; i++) {
        await clock.turns.background(() => {
          began.push({ at_ms: clock.now(), turn: clock.turn() });
          clock.pass(takes_ms);
        });
      }
    })();
    return { began, done };
  }

  test('alone takes its own time and nothing more, in slices of 2 ms between which others come in', async () => {
    const clock = onFakeClock();
    const { began, done } = task(clock, 2_000, 0.05);
    await clock.runAll();
    await done;
    expect(clock.now()).toBeCloseTo(100);
    const of_turns = new Map<number, number>();
    for (const { turn } of began) of_turns.set(turn, (of_turns.get(turn) ?? 0) + 0.05);
    expect(Math.max(...of_turns.values())).toBeLessThan(2.1);
  });

  test('takes a 25th of the time in slices of 0.5 ms while somebody waits for a request, and goes on at once when nobody does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.05, max: 5, noNaN: true }),
        fc.integer({ min: 1, max: 3 }),
        async (takes_ms, tasks) => {
          const clock = onFakeClock();
          const leave = clock.turns.enter(holder('a'));
          const all = Array.from({ length: tasks }, () => task(clock, 50, takes_ms));
          for (let i = 0; i < 20; i++) await clock.runTurn();
          const began = all.flatMap((each) => each.began.map(({ at_ms }) => at_ms)).sort((a, b) => a - b);
          const starts = began.filter(
            (at_ms, i) => i === 0 || at_ms - (began[i - 1] as number) > takes_ms + 1e-6,
          );
          // Within a slice pieces follow each other, and the last one may end after it.
          for (const [i, start] of starts.entries()) {
            const next = starts[i + 1] ?? Number.POSITIVE_INFINITY;
            const last = began.filter((at_ms) => at_ms >= start && at_ms < next).at(-1) as number;
            expect(last - start).toBeLessThan(0.5);
            const rest_ms = Math.min(25 * (last + takes_ms - start), 50);
            expect(next - start).toBeGreaterThanOrEqual(rest_ms - 1e-6);
          }
          leave();
          const left_ms = clock.now();
          await clock.runAll();
          await Promise.all(all.map(({ done }) => done));
          expect(clock.now() - left_ms).toBeLessThanOrEqual(10 + 50 * tasks * takes_ms + 1e-6);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('tasks take turns, owe nothing, and are refused nothing, however long they wait', async () => {
    const clock = onFakeClock();
    clock.turns.enter(holder('a'));
    const [one, two] = [task(clock, 100, 3), task(clock, 100, 3)] as const;
    await clock.runAll();
    await Promise.all([one.done, two.done]);
    expect(clock.now()).toBeGreaterThan(9_000);
    const ends = [one, two].map(({ began }) => began.at(-1)?.at_ms as number) as [number, number];
    expect(Math.abs(ends[0] - ends[1])).toBeLessThan(60);
  });

  test('sets two timers at most for each slice and each request that ends, however many ended while it waits', async () => {
    const clock = onFakeClock();
    const { began, done } = task(clock, 1_000, 1);
    for (let i = 0; i < 200; i++) {
      const leave = clock.turns.enter(holder('a'));
      await clock.runTurn();
      clock.pass(3);
      leave();
    }
    expect(began.length).toBeLessThan(1_000);
    expect(clock.timers()).toBeLessThanOrEqual(2 * (200 + began.length));
    await clock.runAll();
    await done;
  });

  test('that goes on behind what it waited for is counted whole', async () => {
    const clock = onFakeClock();
    clock.turns.enter(holder('a'));
    const began: number[] = [];
    const done = (async () => {
      for (let i = 0; i < 3; i++) {
        await clock.turns.pause();
        began.push(clock.now());
        for (let j = 0; j < 4; j++) {
          clock.pass(0.3);
          await Promise.resolve();
        }
      }
    })();
    await clock.runAll();
    await done;
    const [first = 0, second = 0, third = 0] = began;
    for (const rest_ms of [second - first, third - second]) expect(Math.floor(rest_ms + 1e-6)).toBe(30);
  });

  test('delays a request by no more than a slice', async () => {
    const clock = onFakeClock();
    const { done } = task(clock, 1_000, 0.1);
    for (let i = 0; i < 30; i++) await clock.runTurn();
    const asked_ms = clock.now();
    expect(clock.turns.spend(holder('a'), REASON, clock.work(1))).toBe(asked_ms);
    await clock.runAll();
    await done;
  });

  test('that throws rejects for its own caller', async () => {
    const clock = onFakeClock();
    const failing = expect(
      clock.turns.background(() => {
        throw new Error('it went wrong');
      }),
    ).rejects.toThrow('it went wrong');
    const { done } = task(clock, 3, 1);
    await clock.runAll();
    await Promise.all([failing, done]);
  });
});

describe('background work in the database', () => {
  /** Tasks of pieces that take as long as their price, and say when they began and ended. */
  function tasks(clock: ReturnType<typeof onFakeClock>, number: number, pieces: number, rows: number) {
    const took: { began_ms: number; ended_ms: number }[] = [];
    const price = ofRead({ rows, bytes: 0 });
    const done = Array.from({ length: number }, async () => {
      for (let i = 0; i < pieces; i++) {
        const work = async () => {
          const began_ms = clock.now();
          await clock.wait(price);
          took.push({ began_ms, ended_ms: clock.now() });
        };
        await clock.turns.aside(work, () => ({ rows, bytes: 0 }));
      }
    });
    return { took, price, done: Promise.all(done) };
  }

  test('is one piece at a time beside requests, paid before other background work begins, and goes on at once after them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2_000 }),
        fc.integer({ min: 1, max: 4 }),
        async (rows, number) => {
          const clock = onFakeClock();
          const leave = clock.turns.enter(holder('a'));
          const { took, price, done } = tasks(clock, number, 4, rows);
          for (let i = 0; i < 12; i++) await clock.runTurn();
          const beside = [...took];
          expect(beside.length).toBeGreaterThan(1);
          for (const [i, { began_ms }] of beside.entries()) {
            const ended_ms = beside[i - 1]?.ended_ms ?? Number.NEGATIVE_INFINITY;
            expect(began_ms - ended_ms).toBeGreaterThanOrEqual(3 * price - 1e-6);
          }
          const left_ms = clock.now();
          leave();
          await clock.runAll();
          await done;
          expect(took).toHaveLength(4 * number);
          // Side by side, besides a piece that had begun.
          expect(clock.now() - left_ms).toBeLessThanOrEqual(10 + 50 + 5 * price + 1e-6);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('keeps slices of other background work waiting while somebody waits for a request', async () => {
    const clock = onFakeClock();
    clock.turns.enter(holder('a'));
    const { took, price, done } = tasks(clock, 1, 1, 1_000);
    await clock.runTurn();
    let slice_ms = 0;
    const slice = clock.turns.background(() => {
      slice_ms = clock.now();
    });
    await clock.runAll();
    await Promise.all([done, slice]);
    expect(slice_ms).toBeGreaterThanOrEqual((took[0]?.ended_ms as number) + 3 * price);
  });

  test('that fails rejects for its own caller, and the next piece has its turn', async () => {
    const clock = onFakeClock();
    clock.turns.enter(holder('a'));
    const fail = () => Promise.reject(new Error('it went wrong'));
    const failing = expect(clock.turns.aside(fail, () => ({ rows: 1, bytes: 0 }))).rejects.toThrow(
      'it went wrong',
    );
    const { took, done } = tasks(clock, 1, 1, 10);
    await clock.runAll();
    await Promise.all([failing, done]);
    expect(took).toHaveLength(1);
  });
});
