import { expect, test } from 'vitest';
import { until } from '../../../tests/support/until.ts';
import { WorkTime } from './work-time.ts';

/** Work on a clock that moves only when something works or waits. */
function onFakeClock(options: {
  share: number;
  max_at_once_ms?: number;
  max_wait_ms?: number;
  max_waiting?: number;
  isAlone?: () => boolean;
  is_background?: boolean;
}) {
  let at_ms = 0;
  const timers: { due_ms: number; resume: () => void }[] = [];
  let turns = 0;
  const time = new WorkTime({
    reason: 'answers_time',
    ...options,
    now_ms: () => at_ms,
    after: (wait_ms, resume) => void timers.push({ due_ms: at_ms + wait_ms, resume }),
    nextTurn(resume) {
      turns += 1;
      timers.push({ due_ms: at_ms, resume });
    },
  });
  return {
    time,
    now: () => at_ms,
    turns: () => turns,
    /** Work that takes so long, and tells when it began. */
    work: (takes_ms: number) => () => {
      const began_ms = at_ms;
      at_ms += takes_ms;
      return began_ms;
    },
    pass(wait_ms: number) {
      at_ms += wait_ms;
    },
    async runAll() {
      for (let next = timers.shift(); next !== undefined; next = timers.shift()) {
        at_ms = Math.max(at_ms, next.due_ms);
        next.resume();
        await Promise.resolve();
      }
    },
  };
}

test('work within the share of its name is done at once', () => {
  const { time, work, pass } = onFakeClock({ share: 0.25 });
  for (let i = 0; i < 1_000; i++) {
    expect(typeof time.spend('a', work(1))).toBe('number');
    pass(3);
  }
});

test('work beyond the share of its name waits in order until time has paid for it, and other names do not wait', async () => {
  const { time, work, now, runAll } = onFakeClock({ share: 0.25, max_at_once_ms: 5 });
  expect(time.spend('flood', work(20))).toBe(0);
  const began = Promise.all([1, 2, 3].map(() => time.spend('flood', work(20))));
  const before_ms = now();
  expect(time.spend('honest', work(1))).toBe(before_ms);
  await runAll();
  // Each takes 20 ms, for which 80 have to pass.
  const [first, second, third] = (await began) as [number, number, number];
  expect(first).toBeGreaterThanOrEqual(80);
  expect(second - first).toBeGreaterThanOrEqual(80);
  expect(third - second).toBeGreaterThanOrEqual(80);
});

test('work under one name takes no more than its share of the time, however much of it waits', async () => {
  const { time, work, now, runAll } = onFakeClock({ share: 0.25, max_wait_ms: 60_000 });
  const all = Array.from({ length: 500 }, () => time.spend('flood', work(7)));
  await runAll();
  await Promise.all(all);
  expect((500 * 7) / now()).toBeLessThan(0.26);
});

test('who is alone is not held to the share, and owes nothing when others come', async () => {
  let is_alone = true;
  const { time, work, now, runAll } = onFakeClock({ share: 0.25, isAlone: () => is_alone });
  for (let i = 0; i < 100; i++) expect(time.spend('a', work(20))).toBe(i * 20);
  is_alone = false;
  expect(time.spend('a', work(20))).toBe(2_000);
  const later = time.spend('a', work(20));
  await runAll();
  expect(await later).toBeGreaterThanOrEqual(2_080);
  expect(now()).toBeLessThan(2_200);
});

test('small pieces of work share one timer', async () => {
  const { time, work, runAll } = onFakeClock({ share: 0.5, max_at_once_ms: 5 });
  const began = Promise.all(Array.from({ length: 50 }, () => time.spend('replays', work(1))));
  await runAll();
  const times = await began;
  const together = times.filter((at, i) => i > 0 && at === (times[i - 1] as number) + 1);
  expect(together.length).toBeGreaterThanOrEqual(39);
});

test('the members of a name take turns, and none takes all places in the queue', async () => {
  const { time, work, runAll } = onFakeClock({ share: 0.25, max_waiting: 10 });
  time.spend('a', work(50));
  const done: string[] = [];
  const ask = (member: string) =>
    time.spend(
      'a',
      () => {
        done.push(member);
        work(20)();
      },
      member,
    );
  for (let i = 0; i < 5; i++) void ask('busy');
  expect(() => ask('busy')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  const honest = ask('honest');
  await runAll();
  await honest;
  expect(done).toEqual(['busy', 'honest', 'busy', 'busy', 'busy', 'busy']);
});

test('a dear piece, such as the first one, which pays for loading, gets no other one refused', async () => {
  const { time, work, runAll } = onFakeClock({ share: 0.25 });
  time.spend('a', work(90), 'agent');
  const all = Array.from({ length: 64 }, () => time.spend('a', work(0.03), 'agent'));
  await runAll();
  await expect(Promise.all(all)).resolves.toHaveLength(64);
});

test('what has really waited too long is refused, when it has and not before, and what waits less is done', async () => {
  const { time, work, now, runAll } = onFakeClock({ share: 0.25, max_wait_ms: 1_000 });
  time.spend('flood', work(50));
  const ended: [string, number][] = [];
  const asked = Array.from({ length: 10 }, async () => {
    const what = await Promise.resolve(time.spend('flood', work(50))).then(
      () => 'done',
      ({ code, retry_after_s, reason }) => `${code} ${retry_after_s} ${reason}`,
    );
    ended.push([what, now()]);
  });
  await runAll();
  await Promise.all(asked);
  const done = ended.filter(([what]) => what === 'done');
  const refused = ended.filter(([what]) => what === 'unavailable 1 answers_time');
  // A quarter of a second has been worked for when the others have waited for one.
  expect([done.length, refused.length]).toEqual([5, 5]);
  for (const [, at_ms] of refused) expect(at_ms).toBe(1_050);
});

test('beyond the places to wait work is refused at once, and an error of the work reaches the caller', async () => {
  const { time, work, runAll } = onFakeClock({ share: 0.25, max_waiting: 2 });
  time.spend('flood', work(50));
  const fail = () => {
    throw new Error('it went wrong');
  };
  const waiting = [time.spend('flood', work(1)), time.spend('flood', fail)] as Promise<unknown>[];
  expect(() => time.spend('flood', work(1))).toThrow(
    expect.objectContaining({ code: 'unavailable', retry_after_s: 1 }),
  );
  expect(() => time.spend('honest', fail)).toThrow('it went wrong');
  const failing = expect(waiting[1]).rejects.toThrow('it went wrong');
  await runAll();
  await failing;
  expect(await waiting[0]).toBeGreaterThan(0);
});

test('background work costs nothing but its own time while nobody else wants it, in slices between which others come in', async () => {
  const { time, work, now, turns, runAll } = onFakeClock({
    share: 0.25,
    is_background: true,
    isAlone: () => true,
  });
  const simulation = (async () => {
    for (let i = 0; i < 2_000; i++) await time.spend('replays', work(0.05));
  })();
  await until(() => now() > 0 && turns() > 0);
  while (now() < 99.9) {
    await runAll();
    await Promise.resolve();
  }
  await simulation;
  expect(now()).toBeCloseTo(100);
  // Some 2 ms each.
  expect(turns()).toBeGreaterThanOrEqual(35);
});

test('background work falls back to its share in the turn in which somebody comes in, and owes nothing when they leave', async () => {
  let is_alone = true;
  const { time, work, now, runAll } = onFakeClock({
    share: 0.25,
    is_background: true,
    isAlone: () => is_alone,
  });
  time.spend('replays', work(4));
  const next = time.spend('replays', work(4));
  is_alone = false;
  await runAll();
  expect(await next).toBeGreaterThanOrEqual(8);
  is_alone = true;
  const began_ms = now();
  const last = time.spend('replays', work(2));
  await runAll();
  expect(await last).toBe(began_ms);
});
