import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Order } from './fair-queue.ts';
import { Places, type Release } from './places.ts';

const of = (workspace_id: string, key_id = `key of ${workspace_id}`) => ({ workspace_id, key_id });

function takeAll(places: Places, holder: ReturnType<typeof of>): Release[] {
  const taken: Release[] = [];
  for (let next = places.tryTake(holder); next !== null; next = places.tryTake(holder)) taken.push(next);
  return taken;
}

test('where nobody may keep it for long, one workspace alone gets all', () => {
  expect(takeAll(new Places({ resource: 'lists', total: 4 }), of('ws_1'))).toHaveLength(4);
});

test('one that leaves time to others gets one at a time of what nobody may keep for long, and all again once it is alone', async () => {
  let at_ms = 0;
  const order = new Order({ now_ms: () => at_ms });
  const places = new Places({ resource: 'lists', total: 4, order });
  const exports = new Places({ resource: 'exports', total: 4, share: 0.5, order });
  order.begin(of('flood'), 100, false);
  const leave = order.enter(of('honest'));
  const [first] = takeAll(places, of('flood'));
  expect(places.inUse()).toBe(1);
  expect(takeAll(exports, of('flood'))).toHaveLength(2);
  expect(takeAll(places, of('honest'))).toHaveLength(3);
  leave();
  first?.();
  const more = [1, 2].map(() => places.take(of('flood')));
  expect(places.inUse()).toBe(4);
  at_ms += 2_000;
  (await more[0])?.();
  await (await more[1])?.();
  expect(places.inUse()).toBe(3);
});

test('one workspace alone gets to its share, and one of its keys to that of a key', () => {
  const places = new Places({ resource: 'writes', total: 1_000, share: 0.8, key_share: 0.6 });
  expect(takeAll(places, of('ws_1', 'key_1'))).toHaveLength(600);
  // What is left is 400, of which the workspace may take on until it holds four times what is left.
  expect(takeAll(places, of('ws_1', 'key_2'))).toHaveLength(200);
  expect(takeAll(places, of('ws_1', 'key_3'))).toHaveLength(0);
  expect(takeAll(places, of('ws_2'))).toHaveLength(120);
});

test('of two places each of two workspaces gets one, and of four no workspace more than two', () => {
  const two = new Places({ resource: 'simulations', total: 2, share: 0.5 });
  expect(['a', 'b'].map((name) => takeAll(two, of(name)).length)).toEqual([1, 1]);
  const four = new Places({ resource: 'exports', total: 4, share: 0.5 });
  expect(['a', 'b', 'c', 'd'].map((name) => takeAll(four, of(name)).length)).toEqual([2, 1, 1, 0]);
});

test('workspaces that want all of it come to equal parts, whoever was first', () => {
  const places = new Places({ resource: 'writes', total: 1_000, share: 0.8 });
  const held = new Map(['a', 'b', 'c'].map((name) => [name, takeAll(places, of(name))]));
  for (let round = 0; round < 3_000; round++) {
    for (const [name, taken] of held) {
      taken.shift()?.();
      taken.push(...takeAll(places, of(name)));
    }
  }
  for (const taken of held.values()) expect(Math.abs(taken.length - 307)).toBeLessThan(5);
});

test('however many workspaces take whatever they can get, one that holds nothing soon finds something free', () => {
  for (const workspaces of [1, 2, 5, 20, 100]) {
    const places = new Places({ resource: 'writes', total: 1_000, share: 0.8 });
    const held = Array.from({ length: workspaces }, (_, i) => takeAll(places, of(`ws_${i}`)));
    // What each held ends once, and is asked for again at once.
    for (let ended = 0; ended < 1_000; ended++) {
      for (const [i, taken] of held.entries()) {
        taken.shift()?.();
        taken.push(...takeAll(places, of(`ws_${i}`)));
      }
    }
    expect(places.tryTake(of('honest'))).not.toBeNull();
  }
});

test('never is more held than there is, and what was given back, once or many times, is there again', () => {
  const step = fc.record({
    workspace: fc.constantFrom('a', 'b', 'c'),
    key: fc.constantFrom('1', '2'),
    amount: fc.integer({ min: 1, max: 9 }),
    gives_back: fc.option(fc.nat(20)),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 200 }),
      fc.integer({ min: 1, max: 40 }),
      fc.double({ min: 0.05, max: 0.95, noNaN: true }),
      (steps, total, share) => {
        const places = new Places({ resource: 'unsent_bytes', total, share });
        const taken: { release: Release; amount: number; is_held: boolean }[] = [];
        const sum = () => taken.reduce((held, each) => held + (each.is_held ? each.amount : 0), 0);
        for (const { workspace, key, amount, gives_back } of steps) {
          if (gives_back !== null) {
            const given = taken[gives_back];
            given?.release();
            if (given !== undefined) given.is_held = false;
          } else {
            const release = places.tryTake(of(workspace, workspace + key), amount);
            if (release !== null) taken.push({ release, amount, is_held: true });
            // Whoever holds nothing is refused only what is not there.
            else if (sum() === 0) expect(amount).toBeGreaterThan(total);
          }
          expect(places.inUse()).toBe(sum());
          expect(places.inUse()).toBeLessThanOrEqual(total);
        }
        for (const each of taken) each.release();
        expect(places.inUse()).toBe(0);
        expect(places.tryTake(of('d'), total)).not.toBeNull();
      },
    ),
  );
});

test('workspaces that wait have their turns one after another, however many of one came first', async () => {
  const places = new Places({ resource: 'lists', total: 1, share: 0.9 });
  const first = await places.take(of('busy', 'key_1'));
  const turns: string[] = [];
  const enter = (workspace: string, key: string) =>
    places.run(of(workspace, key), async () => void turns.push(`${workspace} ${key}`));
  const all = [1, 2, 3, 4].map(() => enter('busy', 'key_1'));
  all.push(enter('busy', 'key_2'), enter('honest', 'key_3'), enter('honest', 'key_3'));
  first();
  await Promise.all(all);
  expect(turns).toEqual([
    'honest key_3',
    'busy key_2',
    'honest key_3',
    'busy key_1',
    'busy key_1',
    'busy key_1',
    'busy key_1',
  ]);
  expect(places.inUse()).toBe(0);
});

test('a workspace at its share lets those behind it pass', async () => {
  const places = new Places({ resource: 'lists', total: 4, share: 0.5 });
  const busy = takeAll(places, of('busy'));
  expect(busy).toHaveLength(2);
  const third = places.take(of('busy'));
  const released = vi.fn();
  void third.then(released);
  (await places.take(of('honest')))();
  expect(released).not.toHaveBeenCalled();
  busy[0]?.();
  await third;
});

test('who waits too long, or finds no place to wait, is refused in words, and holds nothing', async () => {
  vi.useFakeTimers();
  try {
    const places = new Places({
      resource: 'exports',
      total: 1,
      order: new Order({ max_waiting: { of_workspace: 1, of_all: 2 } }),
      max_wait_ms: 1_000,
    });
    const release = await places.take(of('a'));
    const late = places.take(of('b')).catch((error: Error) => error.message);
    await expect(places.take(of('b'))).rejects.toMatchObject({ code: 'unavailable', retry_after_s: 1 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toMatch(/^Too many exports are in progress/);
    release();
    expect(places.inUse()).toBe(0);
    (await places.take(of('b')))();
  } finally {
    vi.useRealTimers();
  }
});

test('a client that goes leaves the queue, and who waits behind it is not held up', async () => {
  const places = new Places({ resource: 'exports', total: 1 });
  const release = await places.take(of('a'));
  const gone = new AbortController();
  const left = places.take(of('b'), gone.signal);
  const next = places.take(of('b', 'another key'));
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  release();
  (await next)();
  expect(places.inUse()).toBe(0);
  await expect(places.take(of('b'), gone.signal)).rejects.toThrow('gone');
});

test('work gives its place back also when it fails', async () => {
  const places = new Places({ resource: 'lists', total: 1 });
  await expect(places.run(of('a'), () => Promise.reject(new Error('broke')))).rejects.toThrow('broke');
  expect(places.inUse()).toBe(0);
});

test('whatever one key of a workspace takes and waits for, another key of it soon has its turn', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 4, max: 16 }),
      fc.integer({ min: 1, max: 60 }),
      async (total, calls) => {
        const places = new Places({
          resource: 'reads',
          total,
          share: 0.75,
          key_share: 0.5,
          max_wait_ms: 60_000,
        });
        const turn = () => new Promise((next) => setImmediate(next));
        const held: Release[] = [];
        const greedy = new AbortController();
        setMaxListeners(100, greedy.signal);
        for (let i = 0; i < calls; i++) {
          void places.take(of('ws_1', 'greedy'), greedy.signal).then(
            (release) => held.push(release),
            () => {},
          );
        }
        await turn();
        let has_turn = false;
        const honest = places.take(of('ws_1', 'honest')).then((release) => {
          has_turn = true;
          return release;
        });
        await turn();
        // Of the calls under way one ends: then at the latest it is the other key's turn.
        if (!has_turn) {
          held.shift()?.();
          await turn();
        }
        expect(has_turn).toBe(true);
        (await honest)();
        greedy.abort();
        await turn();
        for (const release of held) release();
        await turn();
        for (const release of held) release();
        expect(places.inUse()).toBe(0);
      },
    ),
    { numRuns: 50 },
  );
});
