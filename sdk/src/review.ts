import type { Client } from './client.ts';
import { AbortedError, APIError, ConnectionError, InvalidRequestError, SpendPending } from './errors.ts';
import { isObject } from './options.ts';
import { aborted, jittered, sleep } from './transport.ts';
import type { Decision, WebhookEvent } from './types.ts';

/** Seconds that the service may be asked to hold one look back. */
const MAX_HELD_BACK_S = 25;
/** Between looks that are answered at once: 1, 2, 4, 8, 15, 15 … seconds. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

/** Waiting callers in this process, by decision. */
const waiting = new Map<string, Set<() => void>>();
/** Clients of services that hold no look back. */
const answered_at_once = new WeakSet<Client>();

/** Wakes whoever waits for the decision of this event. Throws a `TypeError` when it is no event. */
export function wake(event: WebhookEvent): void {
  if (!isObject(event) || !isObject(event.data)) {
    throw new TypeError('notify takes the event returned by webhooks.unwrap');
  }
  const { decision_id } = event.data as { decision_id?: string };
  for (const ring of waiting.get(decision_id ?? '') ?? []) ring();
}

/**
 * The decision once its review is settled: allowed, denied, or run out. Looks for up to `wait_ms`, also through
 * failures of the service; then rejects with `SpendPending`.
 */
export async function waitForReview(
  client: Client,
  pending: Decision,
  wait_ms: number,
  signal: AbortSignal | undefined,
): Promise<Decision> {
  const { decision_id } = pending;
  const until = performance.now() + wait_ms;
  let latest = pending;
  let is_due = false;
  let stop = new AbortController();
  const interrupt = () => stop.abort();
  const ring = () => {
    is_due = true;
    interrupt();
  };
  const others = waiting.get(decision_id) ?? new Set();
  waiting.set(decision_id, others.add(ring));
  signal?.addEventListener('abort', interrupt);
  try {
    for (let pauses = 0; wait_ms > 0; ) {
      const begun = performance.now();
      const left_ms = until - begun;
      const is_last = left_ms <= 0;
      if (signal?.aborted) throw aborted(signal);
      const at_once = is_due || is_last || answered_at_once.has(client);
      const held_s = at_once ? 0 : Math.floor(Math.min(MAX_HELD_BACK_S, left_ms / 1000));
      // The decision has just been seen: there is nothing to look for yet.
      const is_fresh = held_s === 0 && pauses === 0 && !is_due && !is_last;
      is_due = false;
      stop = new AbortController();
      const found = is_fresh ? latest : await look(client, decision_id, held_s, stop.signal);
      if (found !== null) latest = found;
      if (!isPending(latest)) return latest;
      if (is_last) break;
      const was_held = found !== null && held_s > 0 && performance.now() - begun >= FIRST_PAUSE_MS;
      if (is_due || was_held) continue;
      const pause_ms = jittered(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses++));
      await sleep(Math.max(0, Math.min(pause_ms, until - performance.now())), stop.signal, {}).catch(
        () => {},
      );
    }
    throw new SpendPending('It is waiting for a review', latest);
  } finally {
    signal?.removeEventListener('abort', interrupt);
    others.delete(ring);
    if (others.size === 0) waiting.delete(decision_id);
  }
}

/** Returns true if a person is still to say something that counts. */
export function isPending(decision: Decision): boolean {
  return decision.effective_decision === 'REVIEW' && decision.review_state !== 'EXPIRED';
}

/** The decision, or null when it cannot be had right now. Rejects where asking again is of no use. */
async function look(
  client: Client,
  decision_id: string,
  held_s: number,
  signal: AbortSignal,
): Promise<Decision | null> {
  const options = { signal, maxRetries: 0 };
  try {
    const found =
      held_s > 0
        ? await client.decisions.retrieveChanged(decision_id, held_s, options)
        : await client.decisions.retrieve(decision_id, options);
    return found.decision_id === decision_id ? found : null;
  } catch (error) {
    if (error instanceof InvalidRequestError && held_s > 0) answered_at_once.add(client);
    else if (error instanceof APIError && !error.retryable) throw error;
    else if (![ConnectionError, APIError, AbortedError].some((each) => error instanceof each)) throw error;
    return null;
  }
}
