import { setTimeout as wait } from 'node:timers/promises';
import { makeShares } from './shares.ts';

/** How much the server takes on, and how long it waits for clients. Tests lay smaller values over these. */
export interface Limits {
  /** Connections at a time; of one client address at most 80 % of them. */
  max_connections: number;
  /** Requests of one connection that may wait behind the one that is being answered. */
  max_pipelined: number;
  /** Headers of one request. */
  max_headers: number;
  /** Requests at a time whose body is still coming in. */
  max_bodies: number;
  /** Writes at a time, from the moment their body is there until they are answered. */
  max_writes: number;
  /** Answers at a time of which nobody knows the length beforehand; of one workspace at most a quarter. */
  max_streams: number;
  /** Bytes of all answers that their clients have not taken yet. */
  max_unsent_bytes: number;
  /** A client that takes nothing of its answer for so long is cut off. */
  stall_ms: number;
  /** One that has not taken all of its answer after so long is cut off, however steadily it reads. */
  max_delivery_ms: number;
}

export const LIMITS: Limits = {
  max_connections: 10_000,
  max_pipelined: 16,
  max_headers: 200,
  max_bodies: 1_000,
  // Enough for full batches while others commit; what comes beyond would only wait longer.
  max_writes: 1_000,
  max_streams: 16,
  max_unsent_bytes: 256 * 1024 * 1024,
  stall_ms: 30_000,
  max_delivery_ms: 600_000,
};

/**
 * A client over the limit of unknown keys is answered after a moment: one that asks again as soon as it is answered
 * would take the time of everybody else.
 */
const HELD_BACK_MS = 100;
const MAX_HELD_BACK = 1_000;

/** Logging each would take a third of what a refusal costs (measured: the stack trace alone 10 µs). */
const TELL_EVERY_MS = 1_000;

/** Of what there is in hundreds a single tenant gets the greater part while nobody else wants any, and so its key. */
const GENEROUS = { workspace_share: 0.8, key_share: 0.6 };
/** A stream lasts as long as its client takes: of those most stay free for others. */
const QUARTER = 0.25;
const MAX_WAITING_FOR_STREAMS = 50;

/** What a process takes on, and its bounds. Everything in it is shared fairly among those who ask. */
export type Admission = ReturnType<typeof makeAdmission>;

/** Makes it; it keeps no process alive. `onRefused` is told of the first refusal, then of how many each second had. */
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
    connections: makeShares({
      resource: 'connections',
      total: limits.max_connections,
      workspace_share: GENEROUS.workspace_share,
    }),
    bodies: makeShares({ resource: 'bodies', total: limits.max_bodies, ...GENEROUS }),
    writes: makeShares({ resource: 'writes', total: limits.max_writes, ...GENEROUS }),
    streams: makeShares({
      resource: 'streams',
      total: limits.max_streams,
      workspace_share: QUARTER,
      max_waiting: MAX_WAITING_FOR_STREAMS,
    }),
    /** In bytes. */
    unsent: makeShares({ resource: 'unsent_bytes', total: limits.max_unsent_bytes, ...GENEROUS }),
    /** Counts something that was refused because there is too much of it. */
    countRefusal(): void {
      refused += 1;
      if (telling === undefined) tell();
    },
    /** Lets a throttled client wait a moment, unless too many wait already. */
    async holdBack(): Promise<void> {
      if (held_back >= MAX_HELD_BACK) return;
      held_back += 1;
      await wait(HELD_BACK_MS);
      held_back -= 1;
    },
  };
}
