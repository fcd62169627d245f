import type { EndpointName, LeasedQueue, QueuePosition } from './queue-rows.ts';
import type { ReceiverConnections } from './sender.ts';

/** A queue that this worker has leased, and the worker's progress in it. */
export interface LeasedQueueState extends EndpointName {
  name: string;
  leased_until_ms: number;
  /** The last delivery that was fetched. Of those before it only late arrivals may not have been fetched. */
  after_due_at: string;
  after_event_id: string;
  /** Read from the start again. A batch may commit deliveries that are due before one that was fetched already. */
  from_start: boolean;
  in_flight: number;
  /** Deliveries in flight, or with a result that is not recorded yet, by `keyOf`. */
  unrecorded: Set<string>;
  /** The most deliveries in flight. */
  window: number;
  /** True if more deliveries may be due than were fetched. */
  has_more: boolean;
  puts: number;
  idle_since_ms: number | null;
  is_deleted: boolean;
  failing_since: string | null;
  not_before_ms: number | null;
  /** The URL, settings or e-mail that the connections are for. */
  target: string | null;
  connections: ReceiverConnections | null;
}

/** The most deliveries in flight to one endpoint, and the most connections to it. */
export const MAX_WINDOW = 16;
/** The most notices in flight to one channel or person: services for people refuse more. */
export const MAX_NOTICES_WINDOW = 4;
const FIRST_WINDOW = 4;
const NARROWEST_WINDOW = 2;
/** The most deliveries in flight to the endpoints of one workspace. */
export const MAX_PER_WORKSPACE = 96;
/** The most deliveries in flight in all. */
export const MAX_IN_FLIGHT = 512;

/** The most unrecorded results of one queue. Beyond it nothing is sent, because a crash would repeat all of them. */
export const MAX_UNRECORDED = 4 * MAX_WINDOW;

/** Returns the name of a queue within the process. */
export function endpointKey({ workspace_id, endpoint_id }: EndpointName): string {
  return `${workspace_id} ${endpoint_id}`;
}

/** Returns the name of a delivery within its queue. */
export function deliveryKey({ due_at, event_id }: { due_at: string; event_id: string | null }): string {
  return `${due_at} ${event_id}`;
}

/** Makes the state of a queue whose lease was just taken. */
export function leasedState(queue: LeasedQueue, leased_until_ms: number): LeasedQueueState {
  const { workspace_id, endpoint_id, failing_since } = queue;
  return {
    workspace_id,
    endpoint_id,
    name: endpointKey(queue),
    leased_until_ms,
    after_due_at: '-infinity',
    after_event_id: '',
    from_start: true,
    in_flight: 0,
    unrecorded: new Set(),
    window: FIRST_WINDOW,
    has_more: true,
    puts: 0,
    idle_since_ms: null,
    is_deleted: false,
    failing_since,
    not_before_ms: null,
    target: null,
    connections: null,
  };
}

/**
 * Increases the window of an endpoint that answers, and halves that of one that fails, so that it occupies fewer places.
 */
export function windowAfter(window: number, received: boolean, max = MAX_WINDOW): number {
  return received ? Math.min(max, window + 1) : Math.max(NARROWEST_WINDOW, Math.floor(window / 2));
}

const NONE: ReadonlySet<string> = new Set();

/** The deliveries to fetch from a queue. */
export interface LeasePlan extends QueuePosition {
  queue: LeasedQueueState;
  /** The most of them that may be sent. */
  sendable: number;
  /**
   * The deliveries that were in flight when the fetch began. The fetch may still find them in the queue, although their
   * results are recorded by the time it returns.
   */
  under_way: ReadonlySet<string>;
}

/**
 * Plans how much to fetch from each queue. Queues with the least in flight come first, and the free places are shared
 * evenly among them. A queue with nothing in flight always gets one, so that no endpoint waits for another's time
 * limit.
 */
export function planRooms(queues: readonly LeasedQueueState[]): LeasePlan[] {
  const by_workspace = new Map<string, number>();
  let in_all = 0;
  for (const { workspace_id, in_flight } of queues) {
    by_workspace.set(workspace_id, (by_workspace.get(workspace_id) ?? 0) + in_flight);
    in_all += in_flight;
  }
  const wanting = queues
    .filter(
      (queue) =>
        queue.has_more &&
        !queue.is_deleted &&
        queue.in_flight <= queue.window / 2 &&
        queue.unrecorded.size < MAX_UNRECORDED,
    )
    .sort((a, b) => a.in_flight - b.in_flight);
  const plans: LeasePlan[] = [];
  for (const [i, queue] of wanting.entries()) {
    const { workspace_id, endpoint_id, from_start } = queue;
    const in_workspace = by_workspace.get(workspace_id) ?? 0;
    const share = Math.ceil((MAX_IN_FLIGHT - in_all) / (wanting.length - i));
    const free = Math.min(queue.window - queue.in_flight, MAX_PER_WORKSPACE - in_workspace, share);
    const room = queue.in_flight === 0 ? Math.max(1, free) : free;
    if (room <= 0) continue;
    by_workspace.set(workspace_id, in_workspace + room);
    in_all += room;
    plans.push({
      queue,
      workspace_id,
      endpoint_id,
      after_due_at: from_start ? '-infinity' : queue.after_due_at,
      after_event_id: from_start ? '' : queue.after_event_id,
      room: from_start ? room + queue.unrecorded.size : room,
      sendable: room,
      under_way: from_start ? new Set(queue.unrecorded) : NONE,
    });
  }
  return plans;
}
