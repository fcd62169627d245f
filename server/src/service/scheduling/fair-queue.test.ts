import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue, type Holder, Order } from './fair-queue.ts';

/** A workspace's waiting work, or the turn that somebody gets. */
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ asks: fc.constantFrom('a', 'b', 'c'), key: fc.constantFrom('1', '2') }),
  },
  { weight: 2, arbitrary: fc.record({ price: fc.integer({ min: 1, max: 20 }) }) },
);

const holder = (workspace_id: string, key = '1'): Holder => ({ workspace_id, key_id: workspace_id + key });

test('next is the workspace that has used least, and of it the key that has, in the order of arrival', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const order = new Order();
      const queue = new FairQueue<Holder & { number: number }>(order);
      const waiting: (Holder & { number: number })[] = [];
      for (const [number, each] of steps.entries()) {
        if ('asks' in each) {
          const waiter = { ...holder(each.asks, each.key), number };
          expect(queue.add(waiter)).toBe(true);
          waiting.push(waiter);
          continue;
        }
        const used = waiting.map((waiter) => {
          const { workspace, key } = order.of(waiter);
          return { waiter, workspace: workspace.used, key: key.used };
        });
        const next = queue.next();
        expect(next === undefined).toBe(waiting.length === 0);
        if (next === undefined) continue;
        const of_next = used.find(({ waiter }) => waiter === next);
        expect(of_next?.workspace).toBe(Math.min(...used.map(({ workspace }) => workspace)));
        const of_workspace = used.filter(({ waiter }) => waiter.workspace_id === next.workspace_id);
        expect(of_next?.key).toBe(Math.min(...of_workspace.map(({ key }) => key)));
        const of_key = waiting.filter(({ key_id }) => key_id === next.key_id);
        expect(next).toBe(of_key[0]);
        waiting.splice(waiting.indexOf(next), 1);
        order.begin(next, each.price, true);
      }
      expect(queue.isEmpty()).toBe(waiting.length === 0);
    }),
  );
});

test('of those that wait all the time none starves: each uses what the others do, but for a turn and what it may save up', () => {
  const turns = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(
      turns,
      fc.integer({ min: 2, max: 6 }),
      fc.integer({ min: 0, max: 300 }),
      (prices, count, before) => {
        const order = new Order();
        const queue = new FairQueue<Holder>(order);
        // One was alone for a while, which nobody holds against it for long.
        for (let i = 0; i < before; i++) order.begin(holder('w0'), 10, false);
        const names = Array.from({ length: count }, (_, i) => `w${i}`);
        for (const name of names) queue.add(holder(name));
        const used = new Map(names.map((name) => [name, 0]));
        for (const price of prices) {
          const next = queue.next() as Holder;
          queue.add(holder(next.workspace_id));
          order.begin(next, price, true);
          used.set(next.workspace_id, (used.get(next.workspace_id) ?? 0) + price);
        }
        const all = [...used.values()];
        expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(20 + 10 + 2 * 20);
      },
    ),
  );
});

test('refused is what finds 400 of its workspace waiting, or 2,000 in all, whatever queue they wait in', () => {
  const order = new Order();
  const queues = [new FairQueue<Holder>(order), new FairQueue<Holder>(order)];
  const add = (name: string, i: number) => (queues[i % 2] as FairQueue<Holder>).add({ ...holder(name) });
  for (let i = 0; i < 400; i++) expect(add('a', i)).toBe(true);
  expect([add('a', 0), add('a', 1)]).toEqual([false, false]);
  for (const name of ['b', 'c', 'd', 'e']) for (let i = 0; i < 400; i++) expect(add(name, i)).toBe(true);
  expect(add('f', 0)).toBe(false);
  expect(queues[0]?.next()).toBeDefined();
  expect([add('f', 0), add('f', 0)]).toEqual([true, false]);
});

test('whom nothing fits waits on, and lets the next pass', () => {
  const queue = new FairQueue<Holder>(new Order());
  queue.add(holder('a'));
  queue.add(holder('b'));
  expect(queue.next(({ workspace_id }) => workspace_id === 'b')).toMatchObject({ workspace_id: 'b' });
  expect(queue.next(() => false)).toBeUndefined();
  expect(queue.next()).toMatchObject({ workspace_id: 'a' });
});

describe('a workspace leaves time to others', () => {
  function onClock() {
    let at_ms = 0;
    const order = new Order({ now_ms: () => at_ms });
    const pass = (ms: number) => {
      at_ms += ms;
    };
    return { order, pass };
  }

  test('four times its price beside one that has used less, and none once nobody was there for a second', () => {
    const { order, pass } = onClock();
    order.enter(holder('flood'));
    for (let i = 0; i < 100; i++) order.begin(holder('flood'), 20, false);
    expect(order.pauseOf(holder('flood'))).toBe(0);
    const leave = order.enter(holder('honest'));
    order.begin(holder('flood'), 20, false);
    expect(order.pauseOf(holder('flood'))).toBe(72);
    expect(order.pauseOf(holder('honest'))).toBe(0);
    pass(40);
    expect(order.pauseOf(holder('flood'))).toBe(32);
    leave();
    pass(1_000);
    expect(order.pauseOf(holder('flood'))).toBe(0);
    order.begin(holder('flood'), 20, false);
    expect(order.pauseOf(holder('flood'))).toBe(72);
    pass(1);
    expect(order.pauseOf(holder('flood'))).toBe(0);
  });

  test('not for one that has used more, so that two that want all get all between them', () => {
    const { order } = onClock();
    for (let i = 0; i < 100; i++) {
      for (const name of ['a', 'b']) order.enter(holder(name));
      const free = ['a', 'b'].filter((name) => order.pauseOf(holder(name)) === 0);
      expect(free.length).toBeGreaterThan(0);
      order.begin(holder(free[0] as string), 5, false);
    }
    const [a, b] = ['a', 'b'].map((name) => order.of(holder(name)).workspace.used) as [number, number];
    expect(Math.abs(a - b)).toBeLessThanOrEqual(7);
  });
});
