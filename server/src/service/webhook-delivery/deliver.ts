import { SYSTEM } from '@purser/rules/domain/audit';
import { DISABLED_AFTER_MS, retryWaitMs } from '@purser/rules/domain/webhooks';
import { updateChannel } from '../../engine/commands/notices/update-channel.ts';
import { updateWebhook } from '../../engine/commands/update-webhook.ts';
import { begin, type Ended, isNotice, prepare, type Sending } from './attempts.ts';
import type { WebhookDeliverer, WebhookDeliveryOptions } from './delivery-options.ts';
import {
  deliveryKey,
  endpointKey,
  type LeasedQueueState,
  type LeasePlan,
  leasedState,
  MAX_NOTICES_WINDOW,
  MAX_WINDOW,
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
import { makeRecorder, type Recorder } from './recorder.ts';

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

const BY_SYSTEM = { actor: SYSTEM, request_id: null, client_address: null };

const iso = (time_ms: number) => new Date(time_ms).toISOString();

/**
 * Starts a worker. Each endpoint has one queue. The worker leases whole queues for longer than an attempt can take. If a
 * worker dies, its deliveries in progress are sent again when its lease has expired. They cost no attempt, because only
 * recorded results count.
 */
export function startWebhookDelivery(options: WebhookDeliveryOptions): WebhookDeliverer {
  const worker = new DeliveryWorker(options);
  return { wake: () => worker.wake(), stop: () => worker.stop() };
}

class DeliveryWorker {
  readonly #options: WebhookDeliveryOptions;
  readonly #poll_ms: number;
  readonly #lease_ms: number;
  readonly #held = new Map<string, LeasedQueueState>();
  readonly #recorder: Recorder;
  readonly #running: Promise<void>;
  #stopping = false;
  #aborting = false;
  #poll_due = true;
  #is_woken = false;
  #is_quiet = true;
  #polls = 0;
  #in_flight = 0;
  #wakeUp: () => void = () => {};

  constructor(options: WebhookDeliveryOptions) {
    this.#options = options;
    this.#poll_ms = options.poll_ms ?? POLL_MS;
    this.#lease_ms = options.lease_ms ?? options.timeout_ms + LEASE_BEYOND_MS;
    this.#recorder = makeRecorder(options);
    options.onClockStep?.(() => this.#forgetFailures());
    this.#running = this.#run();
  }

  wake(): void {
    this.#poll_due = true;
    this.#wakeUpNow();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wakeUpNow();
    await this.#running;
    const deadline = new Promise<void>((late) => setTimeout(late, DRAIN_MS).unref());
    await Promise.race([this.#landed(), deadline]);
    this.#aborting = true;
    for (const queue of this.#held.values()) queue.connections?.close();
    await this.#landed();
    await this.#recorder.finish();
    await this.#giveBack([...this.#held.values()], true).catch((error: unknown) =>
      this.#options.log.warn(
        { err: error },
        'webhook leases could not be released; they expire on their own',
      ),
    );
  }

  async #landed(): Promise<void> {
    while (this.#in_flight > 0) await new Promise((wait) => setTimeout(wait, MIN_PAUSE_MS));
  }

  #wakeUpNow(): void {
    this.#is_woken = true;
    this.#wakeUp();
  }

  /** After a step of the clock, an endpoint's failures count from the step on: the skipped days are not failures. */
  #forgetFailures(): void {
    for (const queue of this.#held.values()) queue.failing_since = null;
    forgetFailures(this.#options.db).catch((error: unknown) =>
      this.#options.log.warn(
        { err: error },
        'failure times of webhooks could not be reset after a clock jump',
      ),
    );
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        if (this.#poll_due) {
          this.#poll_due = false;
          await this.#poll();
        }
        await this.#load();
        await this.#release();
      } catch (error) {
        this.#options.log.warn({ err: error }, 'a round of the webhook worker failed');
        this.#poll_due = false;
        this.#is_woken = false;
      }
      if (!this.#stopping) await this.#pause();
    }
  }

  /** Waits for a result that frees a place, a hint, or the next round. */
  async #pause(): Promise<void> {
    if (!this.#is_woken) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wakeUp = resolve;
        timer = setTimeout(() => {
          this.#poll_due = true;
          this.#is_quiet = true;
          resolve();
        }, this.#poll_ms);
      });
      clearTimeout(timer);
    }
    // Hints and results come in bursts. Those that follow immediately are handled in the same round.
    await new Promise((wait) => setTimeout(wait, MIN_PAUSE_MS));
    this.#is_woken = false;
  }

  async #poll(): Promise<void> {
    await this.#options.clock.sync();
    const now_ms = this.#options.clock.now_ms();
    await this.#renewOldLeases(now_ms);
    await this.#leaseMore(now_ms);
    this.#polls += 1;
    const from_start = this.#polls % FROM_START_EVERY === 0 || this.#is_quiet;
    this.#is_quiet = false;
    for (const queue of this.#held.values()) {
      queue.has_more = true;
      queue.from_start ||= from_start;
    }
  }

  async #renewOldLeases(now_ms: number): Promise<void> {
    const { db, worker } = this.#options;
    const until_ms = now_ms + this.#lease_ms;
    const old = [...this.#held.values()].filter(
      (queue) => queue.leased_until_ms - now_ms < (this.#lease_ms * 2) / 3,
    );
    if (old.length === 0) return;
    const kept = new Set((await renewLeases(db, worker, iso(until_ms), old)).map(endpointKey));
    for (const queue of old) {
      if (kept.has(queue.name)) queue.leased_until_ms = until_ms;
      else this.#forget(queue);
    }
  }

  async #leaseMore(now_ms: number): Promise<void> {
    const { db, worker } = this.#options;
    const until_ms = now_ms + this.#lease_ms;
    const limit = Math.min(MAX_QUEUES - this.#held.size, LEASED_AT_ONCE);
    if (limit <= 0) return;
    const leased = await leaseQueues(db, { worker, now: iso(now_ms), until: iso(until_ms), limit });
    for (const row of leased) {
      // An expired lease of this worker is taken like any other. The attempts in progress under it go on.
      const before = this.#held.get(endpointKey(row));
      if (before === undefined) this.#held.set(endpointKey(row), leasedState(row, until_ms));
      else before.leased_until_ms = until_ms;
    }
  }

  /** Fetches due deliveries for queues with free places, and sends them. */
  async #load(): Promise<void> {
    const now_ms = this.#options.clock.now_ms();
    const open = [...this.#held.values()].filter(
      (each) => each.leased_until_ms > now_ms && (each.not_before_ms ?? 0) <= now_ms,
    );
    const plans = planRooms(open);
    if (plans.length === 0) return;
    const rows = await loadDeliveries(this.#options.db, this.#options.worker, iso(now_ms), plans);
    const by_queue = new Map<string, LoadedDelivery[]>();
    for (const row of rows) {
      const found = by_queue.get(endpointKey(row));
      if (found === undefined) by_queue.set(endpointKey(row), [row]);
      else found.push(row);
    }
    const fresh = plans.map(({ queue }, i) => ({
      queue,
      rows: this.#noteLoaded(plans[i] as LeasePlan, by_queue.get(queue.name) ?? []),
    }));
    const { sendings, removed, obsolete } = await prepare(
      fresh.flatMap(({ rows }) => rows),
      this.#options,
    );
    for (const { queue } of fresh) {
      const own = sendings.filter(({ row }) => endpointKey(row) === queue.name);
      this.#sendAll(queue, own, now_ms);
    }
    if (removed.length > 0) {
      const keys = removed.map((row) => ({ ...row, event_id: row.event_id as string }));
      await dropDeliveries(this.#options.db, keys);
    }
    this.#recorder.drop(obsolete, now_ms);
  }

  /** Notes in a queue what was loaded of it. Returns the deliveries that are not under way yet. */
  #noteLoaded(plan: LeasePlan, found: readonly LoadedDelivery[]): LoadedDelivery[] {
    const { queue } = plan;
    const first = found[0];
    if (first === undefined) {
      this.#forget(queue);
      return [];
    }
    queue.puts = first.puts;
    queue.is_deleted = first.status === null;
    queue.from_start = false;
    if (first.status === 'disabled') queue.failing_since = null;
    const due = found.filter((row) => row.event_id !== null);
    queue.has_more = due.length === plan.room;
    const fresh = due.filter((row) => !plan.under_way.has(deliveryKey(row))).slice(0, plan.sendable);
    const last = fresh.at(-1);
    if (last !== undefined) {
      queue.after_due_at = last.due_at;
      queue.after_event_id = last.event_id as string;
      queue.idle_since_ms = null;
    }
    return fresh;
  }

  #sendAll(queue: LeasedQueueState, sendings: readonly Sending[], now_ms: number): void {
    try {
      for (const sending of sendings) this.#send(queue, sending);
    } catch (error) {
      const { endpoint_id } = queue;
      this.#options.log.error({ err: error, endpoint_id }, 'a webhook could not be signed');
      queue.not_before_ms = now_ms + PUT_OFF_MS;
      queue.has_more = false;
    }
  }

  #send(queue: LeasedQueueState, sending: Sending): void {
    const { row } = sending;
    const now_ms = this.#options.clock.now_ms();
    const under_way = begin(queue, sending, this.#options);
    queue.in_flight += 1;
    queue.unrecorded.add(deliveryKey(row));
    this.#in_flight += 1;
    under_way
      .then((ended) => {
        queue.in_flight -= 1;
        this.#in_flight -= 1;
        const is_aborted = ended.outcome.kind === 'retry' && (ended.post?.http_status ?? null) === null;
        // The attempt was aborted by our own stop, so it does not count.
        if (this.#aborting && is_aborted) queue.unrecorded.delete(deliveryKey(row));
        else this.#note(queue, sending, ended, now_ms);
        this.#wakeUpNow();
      })
      .catch((error: unknown) => {
        const { endpoint_id } = queue;
        this.#options.log.error({ err: error, endpoint_id }, 'the result of a webhook was lost');
        // The lease expires, and deliveries without a recorded result are sent again.
        this.#forget(queue);
      });
  }

  #note(queue: LeasedQueueState, { row }: Sending, { outcome, post }: Ended, began_ms: number): void {
    const now_ms = this.#options.clock.now_ms();
    const received = outcome.kind === 'delivered';
    const attempts = row.attempts + 1;
    const pause_ms = outcome.kind === 'retry' ? (outcome.after_ms ?? 0) : 0;
    const wait_ms = outcome.kind === 'retry' ? retryWaitMs(attempts, this.#options.schedule) : null;
    const next_ms = wait_ms === null ? null : now_ms + Math.max(wait_ms, pause_ms);
    const max = isNotice(row) ? MAX_NOTICES_WINDOW : MAX_WINDOW;
    queue.window = windowAfter(queue.window, received, max);
    queue.failing_since = received ? null : (queue.failing_since ?? iso(began_ms));
    if (pause_ms > 0) queue.not_before_ms = now_ms + pause_ms;
    const onRecorded = () => {
      queue.unrecorded.delete(deliveryKey(row));
      if (queue.unrecorded.size === 0) this.#wakeUpNow();
    };
    const times = { began_ms, now_ms, next_ms };
    this.#recorder.record(row, { outcome, post }, times, onRecorded);
    const failing_ms = queue.failing_since === null ? 0 : now_ms - Date.parse(queue.failing_since);
    if (outcome.kind === 'dead' && outcome.gone === true) void this.#disable(queue, row, 'GONE');
    else if (failing_ms >= DISABLED_AFTER_MS) void this.#disable(queue, row, 'ONLY_FAILURES');
  }

  /** Disables a receiver that is gone, or after five days of failures only. A person cannot be disabled. */
  async #disable(
    queue: LeasedQueueState,
    { receiver }: LoadedDelivery,
    reason: 'ONLY_FAILURES' | 'GONE',
  ): Promise<void> {
    if (receiver === 'person') return;
    const { lane, log } = this.#options;
    const { workspace_id, endpoint_id } = queue;
    const since = queue.failing_since;
    queue.failing_since = null;
    try {
      await (receiver === 'endpoint'
        ? lane.submit(
            workspace_id,
            updateWebhook,
            { endpoint_id, changes: { status: 'disabled' }, reason: 'ONLY_FAILURES' },
            BY_SYSTEM,
          )
        : lane.submit(
            workspace_id,
            updateChannel,
            { channel_id: endpoint_id, changes: { status: 'disabled' }, reason },
            BY_SYSTEM,
          ));
      log.warn({ workspace_id, endpoint_id, reason }, 'a receiver of webhooks or notices was disabled');
    } catch (error) {
      // The next failure tries to disable it again.
      queue.failing_since = since;
      log.warn({ err: error, workspace_id, endpoint_id }, 'a webhook endpoint could not be disabled');
    }
  }

  /** Releases the queues in which nothing is due any more, and removes those of deleted endpoints. */
  async #release(): Promise<void> {
    const now_ms = this.#options.clock.now_ms();
    const idle: LeasedQueueState[] = [];
    for (const queue of this.#held.values()) {
      if (queue.in_flight > 0 || queue.unrecorded.size > 0) continue;
      if (queue.is_deleted) {
        if (!(await clearQueue(this.#options.db, queue))) this.#forget(queue);
        else this.#is_woken = true;
        continue;
      }
      const is_paused = (queue.not_before_ms ?? 0) > now_ms;
      if (queue.has_more && !is_paused) continue;
      queue.idle_since_ms ??= now_ms;
      if (now_ms - queue.idle_since_ms >= LINGER_MS || is_paused) idle.push(queue);
    }
    await this.#giveBack(idle, false);
  }

  async #giveBack(queues: readonly LeasedQueueState[], whatever_came: boolean): Promise<void> {
    if (queues.length === 0) return;
    const left = queues.map((queue) => ({
      workspace_id: queue.workspace_id,
      endpoint_id: queue.endpoint_id,
      puts: whatever_came || queue.not_before_ms !== null ? null : queue.puts,
      not_before: queue.not_before_ms === null ? null : iso(queue.not_before_ms),
      failing_since: queue.failing_since,
    }));
    const given_back = new Set(
      (await releaseQueues(this.#options.db, this.#options.worker, left)).map(endpointKey),
    );
    for (const queue of queues) {
      if (given_back.has(queue.name) || whatever_came) this.#forget(queue);
      else queue.has_more = true;
    }
  }

  #forget(queue: LeasedQueueState): void {
    if (this.#held.get(queue.name) === queue) this.#held.delete(queue.name);
    queue.connections?.retire();
  }
}
