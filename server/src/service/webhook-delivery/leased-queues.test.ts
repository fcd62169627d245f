import { expect, test } from 'vitest';
import {
  leasedState,
  MAX_IN_FLIGHT,
  MAX_PER_WORKSPACE,
  MAX_UNRECORDED,
  MAX_WINDOW,
  planRooms,
  windowAfter,
} from './leased-queues.ts';

const queue = (workspace: number, endpoint: number, changes: object = {}) => ({
  ...leasedState({ workspace_id: `ws_${workspace}`, endpoint_id: `wh_${endpoint}`, failing_since: null }, 0),
  ...changes,
});

test('an endpoint that answers widens to 16 at a time, one that fails narrows to 2', () => {
  let window = leasedState({ workspace_id: 'w', endpoint_id: 'e', failing_since: null }, 0).window;
  for (let i = 0; i < 50; i++) window = windowAfter(window, true);
  expect(window).toBe(MAX_WINDOW);
  const narrowing = [];
  for (let i = 0; i < 5; i++) {
    window = windowAfter(window, false);
    narrowing.push(window);
  }
  expect(narrowing).toEqual([8, 4, 2, 2, 2]);
});

test('a queue is given what its window leaves, and nothing while it is half full, done or deleted', () => {
  const rooms = (changes: object) => planRooms([queue(1, 1, changes)]).map(({ room }) => room);
  expect(rooms({})).toEqual([4]);
  expect(rooms({ window: 16, in_flight: 8 })).toEqual([8]);
  expect(rooms({ window: 16, in_flight: 9 })).toEqual([]);
  expect(rooms({ has_more: false })).toEqual([]);
  expect(rooms({ is_deleted: true })).toEqual([]);
});

test('nothing more is sent while too many results could not be recorded', () => {
  const unrecorded = new Set(Array.from({ length: MAX_UNRECORDED }, (_, i) => String(i)));
  expect(planRooms([queue(1, 1, { unrecorded })])).toEqual([]);
});

test('the bounds of a workspace and of the process hold, and a queue with nothing under way still gets one', () => {
  const hanging = Array.from({ length: MAX_PER_WORKSPACE / 16 }, (_, i) =>
    queue(1, i, { window: 16, in_flight: 16 }),
  );
  const waiting = [queue(1, 100), queue(1, 101), queue(2, 102)];
  expect(planRooms([...hanging, ...waiting]).map(({ endpoint_id, room }) => [endpoint_id, room])).toEqual([
    ['wh_100', 1],
    ['wh_101', 1],
    ['wh_102', 4],
  ]);
  const full = Array.from({ length: MAX_IN_FLIGHT / 16 }, (_, i) =>
    queue(i, i, { window: 16, in_flight: 16 }),
  );
  expect(planRooms([...full, queue(999, 1)]).map(({ room }) => room)).toEqual([1]);
});

test('what is free is shared evenly', () => {
  const many = Array.from({ length: 256 }, (_, i) => queue(i, i, { window: 16 }));
  const rooms = planRooms(many).map(({ room }) => room);
  expect(new Set(rooms)).toEqual(new Set([MAX_IN_FLIGHT / 256]));
});

test('a look from the start leaves room for what is under way, and names it as it was when the look began', () => {
  const unrecorded = new Set(['a', 'b', 'c']);
  const [plan] = planRooms([queue(1, 1, { from_start: true, unrecorded })]);
  unrecorded.delete('a');
  expect([plan?.room, plan?.sendable, plan?.under_way.size]).toEqual([7, 4, 3]);
  const position = { from_start: false, after_due_at: 't', after_event_id: 'evt' };
  const [onwards] = planRooms([queue(1, 1, { ...position, unrecorded })]);
  expect(onwards).toMatchObject({ room: 4, after_due_at: 't', after_event_id: 'evt' });
});
