import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FromPrimary } from './messages.ts';
import { Router } from './router.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Makes a router with processes of these ids. A stopped process keeps its messages until it continues. */
function makeProcesses(...ids: number[]) {
  const router = new Router();
  const stopped = new Map<number, (() => void)[]>();
  const holds = new Map<number, number[]>();
  const means = new Map<number, number>();
  const closed: number[] = [];
  let answers = true;
  const add = (id: number) => {
    holds.set(id, []);
    router.add(id, {
      send(message: FromPrimary, handle) {
        const receive = () => {
          if (message.purser === 'mean') means.set(id, message.mean);
          if (message.purser === 'offer') router.ready(id, message.connection);
          if (message.purser !== 'take') return;
          holds.get(id)?.push((handle as unknown as { number: number }).number);
          if (answers) router.taken(id, message.connection);
        };
        const kept = stopped.get(id);
        if (kept === undefined) receive();
        else kept.push(receive);
      },
    });
  };
  for (const id of ids) add(id);
  return {
    router,
    add,
    closed,
    means,
    held: () => Object.fromEntries(holds),
    route(number: number) {
      router.route({ number, close: () => closed.push(number) } as never);
    },
    stop: (id: number) => stopped.set(id, []),
    goOn(id: number) {
      const kept = stopped.get(id) ?? [];
      stopped.delete(id);
      for (const receive of kept) receive();
    },
    end(id: number) {
      stopped.delete(id);
      router.remove(id);
    },
    /** Processes die from here on before they say that they took a connection. */
    dieTaking() {
      answers = false;
    },
    answerAgain() {
      answers = true;
    },
  };
}

test('a connection goes to the process with the fewest', () => {
  const { route, held, router } = makeProcesses(1, 2);
  router.counted(1, 3);
  for (let i = 0; i < 5; i++) route(i);
  expect(held()).toEqual({ 1: [3], 2: [0, 1, 2, 4] });
});

test('a stopped process is passed over after half a second, and takes nothing that another one has when it goes on', () => {
  const { route, held, router, stop, goOn, closed } = makeProcesses(1, 2);
  router.counted(2, 10);
  stop(1);
  for (let i = 0; i < 3; i++) route(i);
  vi.advanceTimersByTime(499);
  expect(held()).toEqual({ 1: [], 2: [] });
  vi.advanceTimersByTime(1);
  expect(held()).toEqual({ 1: [], 2: [0, 1, 2] });
  // Known to be silent, it is asked last.
  route(3);
  expect(held()).toEqual({ 1: [], 2: [0, 1, 2, 3] });
  goOn(1);
  expect(held()).toEqual({ 1: [], 2: [0, 1, 2, 3] });
  route(4);
  expect(held()).toEqual({ 1: [4], 2: [0, 1, 2, 3] });
  expect(closed).toEqual([0, 1, 2, 3, 4]);
});

test('where all are stopped, the first that goes on, or that is started, gets the connection', () => {
  const { route, held, stop, goOn, add, end } = makeProcesses(1, 2);
  stop(1);
  stop(2);
  route(0);
  vi.advanceTimersByTime(5_000);
  goOn(2);
  expect(held()).toEqual({ 1: [], 2: [0] });
  stop(2);
  route(1);
  vi.advanceTimersByTime(5_000);
  end(1);
  vi.advanceTimersByTime(5_000);
  add(3);
  expect(held()).toEqual({ 1: [], 2: [0], 3: [1] });
});

test('what a process was sent, and did not take before it ended, another one gets', () => {
  const { route, held, end, router, closed, dieTaking, answerAgain } = makeProcesses(1, 2);
  router.counted(2, 10);
  dieTaking();
  route(0);
  expect(closed).toEqual([]);
  answerAgain();
  end(1);
  expect(held()[2]).toEqual([0]);
  expect(closed).toEqual([0]);
});

test('the mean is that of the processes that answer, so that no one sends connections away for one that cannot take them', () => {
  const { route, router, stop, goOn, means } = makeProcesses(1, 2, 3);
  router.counted(2, 10);
  router.counted(3, 11);
  vi.advanceTimersByTime(50);
  expect(means.get(2)).toBe(7);
  stop(1);
  route(0);
  vi.advanceTimersByTime(600);
  expect(means.get(2)).toBe(11);
  goOn(1);
  vi.advanceTimersByTime(50);
  expect(means.get(2)).toBeCloseTo(22 / 3);
});
