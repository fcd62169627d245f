import { SYSTEM } from '@purser/rules/domain/audit';
import {
  type AttemptStatus,
  type DeliveredEventType,
  DISABLED_AFTER_MS,
  deliveryHeaders,
  retryWaitMs,
  validSecrets,
} from '@purser/rules/domain/webhooks';
import { makeIdsAt } from '@purser/rules/values/ids';
import type { Logger } from 'pino';
import { updateWebhook } from '../../engine/commands/update-webhook.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import type { EndpointConnections, PostResult } from './client.ts';
import type { Clock } from './clock.ts';
import {
  deliveryKey,
  endpointKey,
  type LeasedQueueState,
  leasedState,
  planRooms,
  windowAfter,
} from './leased-queues.ts';
import {
  clearQueue,
  dropDeliveries,
  forgetFailures,
  type LoadedDelivery,
  leaseQueues,
  loadDeliveries,
  releaseQueues,
  renewLeases,
} from './queue-rows.ts';
import { makeResults } from './results.ts';

/** Sends the deliveries that wait in the outbox. */
export interface WebhookDeliverer {
  /** Looks for due deliveries at once instead of at the next round. */
  wake(): void;
  /** Starts no more attempts, waits up to `DRAIN_MS` for those in progress, records them and releases the leases. */
  stop(): Promise<void>;
}

export interface WebhookDeliveryOptions {
  /** With `plan: 'index_lookup'`. */
  db: Queryable;
  lane: Pick<Lane, 'submit'>;
  log: Logger;
  /** The database's clock. */
  clock: Clock;
  /** Calls `listener` whenever that clock was believed at another time than before. */
  onClockStep?: (listener: () => void) => void;
  /** Returns numbers from 0 up to 1. */
  random: () => number;
  /** The name of this worker among all that share the database. */
  worker: string;
  openSecret: (workspace_id: string, sealed: string) => string;
  connect: (url: string) => EndpointConnections;
  schedule: { first_ms: number; max_ms: number };
  timeout_ms: number;
  countAttempt: (status: AttemptStatus) => void;
  poll_ms?: number;
  lease_ms?: number;
}

const POLL_MS = 250;
/** The least time between two looks at the queues. Every batch of the lane may ask for one. */
const MIN_PAUSE_MS = 10;
/** A lease lasts this much longer than an attempt. */
const LEASE_BEYOND_MS = 5_000;
/** The most queues that a worker holds, and that it leases at once. It leaves the rest to other workers. */
const MAX_QUEUES = 2_048;
const LEASED_AT_ONCE = 128;
/** After this many looks at a queue the next one begins at its start again, also if there are always new hints. */
const FROM_START_EVERY = 10;
/** A queue in which nothing is due is kept for this long, because another event often follows. */
const LINGER_MS = 200;
/** The time that attempts in progress have at a stop. The process has 10 s in all. */
const DRAIN_MS = 5_000;
/** The pause of an endpoint after a failure of our own, such as a secret that cannot be read. */
const PUT_OFF_MS = 60_000;

const iso = (time_ms: number) => new Date(time_ms).toISOString();

/**
 * Starts a worker. It leases whole queues, of which each endpoint has one, for longer than an attempt can take. If a
 * worker dies, its deliveries in progress are sent again when its lease has expired. They cost no attempt, because only
 * recorded results count.
 */
export function startWebhookDelivery(options: WebhookDeliveryOptions): WebhookDeliverer {
  const { db, log, clock, worker } = options;
  const poll_ms = options.poll_ms ?? POLL_MS;
  const lease_ms = options.lease_ms ?? options.timeout_ms + LEASE_BEYOND_MS;
  const held = new Map<string, LeasedQueueState>();
  const results = makeResults({ db, log });
  let stopping = false;
  let aborting = false;
  let poll_due = true;
  let is_woken = false;
  let is_quiet = true;
  let polls = 0;
  let in_flight = 0;
  let wakeUp: () => void = () => {};
  let timer: NodeJS.Timeout | undefined;

  // How long an endpoint has failed is counted from the step on: the days that the clock skipped are none of failures.
  options.onClockStep?.(() => {
    for (const queue of held.values()) queue.failing_since = null;
    forgetFailures(db).catch((error: unknown) =>
      log.warn({ err: error }, 'since when webhooks fail could not be forgotten after a step of the clock'),
    );
  });

  const wake = (polls: boolean) => {
    if (polls) poll_due = true;
    is_woken = true;
    wakeUp();
  };

  /** Waits for a result that frees a place, a hint, or the next round. */
  async function pause(): Promise<void> {
    if (!is_woken) {
      await new Promise<void>((resolve) => {
        wakeUp = resolve;
        timer = setTimeout(() => {
          poll_due = true;
          is_quiet = true;
          resolve();
        }, poll_ms);
      });
      clearTimeout(timer);
    }
    // Hints and results come in bursts. Those that follow immediately are handled in the same round.
    await new Promise((wait) => setTimeout(wait, MIN_PAUSE_MS));
    is_woken = false;
  }

  async function poll(): Promise<void> {
    await clock.sync();
    const now_ms = clock.now_ms();
    const until_ms = now_ms + lease_ms;
    const old = [...held.values()].filter((each) => each.leased_until_ms - now_ms < (lease_ms * 2) / 3);
    if (old.length > 0) {
      const kept = new Set((await renewLeases(db, worker, iso(until_ms), old)).map(endpointKey));
      for (const each of old) {
        if (kept.has(each.name)) each.leased_until_ms = until_ms;
        else forget(each);
      }
    }
    const room = MAX_QUEUES - held.size;
    const leased =
      room > 0
        ? await leaseQueues(db, {
            worker,
            now: iso(now_ms),
            until: iso(until_ms),
            limit: Math.min(room, LEASED_AT_ONCE),
          })
        : [];
    for (const each of leased) {
      // An expired lease of this worker is taken like any other. The attempts in progress under it go on.
      const before = held.get(endpointKey(each));
      if (before === undefined) held.set(endpointKey(each), leasedState(each, until_ms));
      else before.leased_until_ms = until_ms;
    }
    polls += 1;
    const from_start = polls % FROM_START_EVERY === 0 || is_quiet;
    is_quiet = false;
    for (const each of held.values()) {
      each.has_more = true;
      each.from_start ||= from_start;
    }
  }

  /** Fetches due deliveries for queues with free places, and sends them. */
  async function load(): Promise<void> {
    const now_ms = clock.now_ms();
    const plans = planRooms([...held.values()].filter((each) => each.leased_until_ms > now_ms));
    if (plans.length === 0) return;
    const rows = await loadDeliveries(db, worker, iso(now_ms), plans);
    const by_queue = new Map<string, LoadedDelivery[]>();
    for (const row of rows) {
      const found = by_queue.get(endpointKey(row));
      if (found === undefined) by_queue.set(endpointKey(row), [row]);
      else found.push(row);
    }
    const dropped: LoadedDelivery[] = [];
    for (const plan of plans) {
      const { queue } = plan;
      const found = by_queue.get(queue.name) ?? [];
      const first = found[0];
      if (first === undefined) {
        forget(queue);
        continue;
      }
      queue.puts = first.puts;
      queue.is_deleted = first.status === null;
      queue.from_start = false;
      if (first.status === 'disabled') queue.failing_since = null;
      const due = found.filter((row) => row.event_id !== null);
      queue.has_more = due.length === plan.room;
      const fresh = due.filter((row) => !plan.under_way.has(deliveryKey(row))).slice(0, plan.sendable);
      const last = fresh.at(-1);
      if (last === undefined) continue;
      queue.after_due_at = last.due_at;
      queue.after_event_id = last.event_id as string;
      queue.idle_since_ms = null;
      dropped.push(...fresh.filter((row) => row.type === null));
      try {
        for (const row of fresh) if (row.type !== null) send(queue, row);
      } catch (error) {
        log.error({ err: error, endpoint_id: queue.endpoint_id }, 'a webhook could not be signed');
        queue.not_before_ms = now_ms + PUT_OFF_MS;
        queue.has_more = false;
      }
    }
    if (dropped.length > 0) {
      const keys = dropped.map((row) => ({ ...row, event_id: row.event_id as string }));
      await dropDeliveries(db, keys);
    }
  }

  function send(queue: LeasedQueueState, row: LoadedDelivery): void {
    const now_ms = clock.now_ms();
    const secrets = validSecrets(row.secrets, now_ms).map(({ sealed }) =>
      options.openSecret(queue.workspace_id, sealed),
    );
    const event = {
      event_id: row.event_id as string,
      type: row.type as DeliveredEventType,
      payload: row.payload,
    };
    const headers = deliveryHeaders(event, secrets as [string, ...string[]], now_ms);
    if (queue.url !== row.url) {
      queue.connections?.retire();
      queue.connections = options.connect(row.url);
      queue.url = row.url;
    }
    queue.in_flight += 1;
    queue.unrecorded.add(deliveryKey(row));
    in_flight += 1;
    (queue.connections as EndpointConnections)
      .post(headers, row.payload)
      .then((result) => {
        queue.in_flight -= 1;
        in_flight -= 1;
        // The attempt was aborted by our own stop, so it does not count.
        if (aborting && result.http_status === null) queue.unrecorded.delete(deliveryKey(row));
        else note(queue, row, result, now_ms);
        wake(false);
      })
      .catch((error: unknown) => {
        log.error({ err: error, endpoint_id: queue.endpoint_id }, 'the result of a webhook was lost');
        // The lease expires, and deliveries without a recorded result are sent again.
        forget(queue);
      });
  }

  function note(queue: LeasedQueueState, row: LoadedDelivery, result: PostResult, began_ms: number): void {
    const now_ms = clock.now_ms();
    const attempt = row.attempts + 1;
    const wait_ms = result.received ? null : retryWaitMs(attempt, options.schedule);
    const status = result.received ? 'SUCCEEDED' : wait_ms === null ? 'FAILED' : 'RETRYING';
    queue.window = windowAfter(queue.window, result.received);
    queue.failing_since = result.received ? null : (queue.failing_since ?? iso(began_ms));
    options.countAttempt(status);
    results.add(
      {
        workspace_id: queue.workspace_id,
        endpoint_id: queue.endpoint_id,
        due_at: row.due_at,
        event_id: row.event_id as string,
        // Lists are bounded in time by their ids, so an id begins with the moment that is shown.
        attempt_id: makeIdsAt(began_ms, options.random)('delivery'),
        event_type: row.type as DeliveredEventType,
        attempt,
        status,
        http_status: result.http_status,
        error: result.error,
        duration_ms: Math.max(0, Math.round(now_ms - began_ms)),
        attempted_at: iso(began_ms),
        next_attempt_at: wait_ms === null ? null : iso(now_ms + wait_ms),
      },
      () => {
        queue.unrecorded.delete(deliveryKey(row));
        if (queue.unrecorded.size === 0) wake(false);
      },
    );
    const failing_ms = queue.failing_since === null ? 0 : now_ms - Date.parse(queue.failing_since);
    if (failing_ms >= DISABLED_AFTER_MS) void disable(queue);
  }

  /** Disables an endpoint after five days of failures only. */
  async function disable(queue: LeasedQueueState): Promise<void> {
    const { workspace_id, endpoint_id } = queue;
    const origin = { actor: SYSTEM, request_id: null, client_address: null };
    const since = queue.failing_since;
    queue.failing_since = null;
    try {
      const input = { endpoint_id, changes: { status: 'disabled' }, reason: 'ONLY_FAILURES' } as const;
      await options.lane.submit(workspace_id, updateWebhook, input, origin);
      log.warn({ workspace_id, endpoint_id }, 'a webhook endpoint that only failed for 5 days was disabled');
    } catch (error) {
      // The next failure tries to disable it again.
      queue.failing_since = since;
      log.warn({ err: error, workspace_id, endpoint_id }, 'a webhook endpoint could not be disabled');
    }
  }

  /** Releases the queues in which nothing is due any more, and removes those of deleted endpoints. */
  async function release(): Promise<void> {
    const now_ms = clock.now_ms();
    const idle: LeasedQueueState[] = [];
    for (const queue of held.values()) {
      if (queue.in_flight > 0 || queue.unrecorded.size > 0) continue;
      if (queue.is_deleted) {
        if (!(await clearQueue(db, queue))) forget(queue);
        else is_woken = true;
        continue;
      }
      if (queue.has_more) continue;
      queue.idle_since_ms ??= now_ms;
      if (now_ms - queue.idle_since_ms >= LINGER_MS || queue.not_before_ms !== null) idle.push(queue);
    }
    await giveBack(idle, false);
  }

  async function giveBack(queues: readonly LeasedQueueState[], whatever_came: boolean): Promise<void> {
    if (queues.length === 0) return;
    const left = queues.map((queue) => ({
      workspace_id: queue.workspace_id,
      endpoint_id: queue.endpoint_id,
      puts: whatever_came || queue.not_before_ms !== null ? null : queue.puts,
      not_before: queue.not_before_ms === null ? null : iso(queue.not_before_ms),
      failing_since: queue.failing_since,
    }));
    const given_back = new Set((await releaseQueues(db, worker, left)).map(endpointKey));
    for (const queue of queues) {
      if (given_back.has(queue.name) || whatever_came) forget(queue);
      else queue.has_more = true;
    }
  }

  function forget(queue: LeasedQueueState): void {
    if (held.get(queue.name) === queue) held.delete(queue.name);
    queue.connections?.retire();
  }

  async function run(): Promise<void> {
    while (!stopping) {
      try {
        if (poll_due) {
          poll_due = false;
          await poll();
        }
        await load();
        await release();
      } catch (error) {
        log.warn({ err: error }, 'a round of the webhook worker failed');
        poll_due = false;
        is_woken = false;
      }
      if (!stopping) await pause();
    }
  }

  const running = run();

  return {
    wake: () => wake(true),
    async stop() {
      stopping = true;
      wake(false);
      await running;
      const deadline = new Promise<void>((late) => setTimeout(late, DRAIN_MS).unref());
      const landed = async () => {
        while (in_flight > 0) await new Promise((wait) => setTimeout(wait, MIN_PAUSE_MS));
      };
      await Promise.race([landed(), deadline]);
      aborting = true;
      for (const queue of held.values()) queue.connections?.close();
      await landed();
      await results.finish();
      await giveBack([...held.values()], true).catch((error: unknown) =>
        log.warn({ err: error }, 'leases of webhooks could not be given back; they run out by themselves'),
      );
    },
  };
}
