import { setTimeout as wait } from 'node:timers/promises';
import { Places } from '../scheduling/places.ts';

/**
 * The bounds of what the server accepts, and of the time it waits for clients. Tests override them with smaller values.
 */
export interface Limits {
  /** Concurrent connections. One client address gets at most 80 % of them. */
  max_connections: number;
  /** Pipelined requests that may wait behind the one that is being answered. */
  max_pipelined: number;
  /** The most headers in one request. */
  max_headers: number;
  /** Concurrent requests whose body is still being received. */
  max_bodies: number;
  /** Concurrent writes, from the moment that their body has been received until they are answered. */
  max_writes: number;
  /** Concurrent answers whose length is not known in advance. One workspace gets at most a quarter of them. */
  max_streams: number;
  /** Bytes of all answers together that clients have not received yet. */
  max_unsent_bytes: number;
  /** The connection of a client that receives nothing of its answer for this long is closed. */
  stall_ms: number;
  /**
   * The connection of a client that has not received its whole answer after this long is closed, however steadily it
   * reads.
   */
  max_delivery_ms: number;
}

export const LIMITS: Limits = {
  max_connections: 10_000,
  max_pipelined: 16,
  max_headers: 200,
  max_bodies: 1_000,
  // This fills the batches while others commit. More would only wait longer.
  max_writes: 1_000,
  max_streams: 16,
  max_unsent_bytes: 256 * 1024 * 1024,
  stall_ms: 30_000,
  max_delivery_ms: 600_000,
};

/**
 * A client that is over the limit of unknown keys gets its answer after this delay. Otherwise a client that retries at
 * once would take processor time away from everybody else.
 */
const HELD_BACK_MS = 100;
const MAX_HELD_BACK = 1_000;

/**
 * Refusals are logged as a count per second: a line for each is a third of their cost (the stack trace alone takes 10
 * µs).
 */
const TELL_EVERY_MS = 1_000;

/** Resources that exist in hundreds: a single tenant and key may use most of them while nobody else wants any. */
const GENEROUS = { share: 0.8, key_share: 0.6 };
/** A stream lasts as long as its client wants, so most of them are kept free for others. */
const QUARTER = 0.25;

/** The bounded resources of a process. Each is shared fairly among those who ask for it. */
export type Admission = ReturnType<typeof makeAdmission>;

/**
 * Makes the resources. Their timers do not keep the process alive. `onRefused` is called at the first refusal with 1,
 * and after that once per second with the number of refusals in it.
 */
export function makeAdmission(limits: Limits, onRefused: (count: number) => void) {
  let refused = 0;
  let telling: NodeJS.Timeout | undefined;

  function tell(): void {
    telling = undefined;
    if (refused === 0) return;
    onRefused(refused);
    refused = 0;
    telling = setTimeout(tell, TELL_EVERY_MS).unref();
  }

  let held_back = 0;
  return {
    /** By client address. */
    connections: new Places({
      resource: 'connections',
      total: limits.max_connections,
      share: GENEROUS.share,
    }),
    bodies: new Places({ resource: 'bodies', total: limits.max_bodies, ...GENEROUS }),
    writes: new Places({ resource: 'writes', total: limits.max_writes, ...GENEROUS }),
    streams: new Places({
      resource: 'streams',
      total: limits.max_streams,
      share: QUARTER,
    }),
    /** In bytes. */
    unsent: new Places({ resource: 'unsent_bytes', total: limits.max_unsent_bytes, ...GENEROUS }),
    /** Counts a refusal that was caused by overload. */
    countRefusal(): void {
      refused += 1;
      if (telling === undefined) tell();
    },
    /** Delays the answer to a throttled client, unless too many clients are delayed already. */
    async holdBack(): Promise<void> {
      if (held_back >= MAX_HELD_BACK) return;
      held_back += 1;
      await wait(HELD_BACK_MS);
      held_back -= 1;
    },
  };
}
