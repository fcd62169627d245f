import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * A client over the limit of unknown keys is answered after a moment: one that asks again as soon as it is answered
 * would take the time of everybody else.
 */
const HELD_BACK_MS = 100;
const MOST_HELD_BACK = 1_000;

/** Logging each would take a third of what a refusal costs (measured: the stack trace alone 10 µs). */
const TELL_EVERY_MS = 1_000;

/** What keeps a process from taking on more than it can do. */
export interface Overload {
  /** Takes a write on until its answer is sent or its client gone; false: it is to be refused, and is counted. */
  takeWrite(answer: ServerResponse): boolean;
  /** Lets a throttled client wait a moment, unless too many wait already. */
  holdBack(): Promise<void>;
}

export interface OverloadOptions {
  /** So many writes may be under way at a time. */
  most_writes: number;
  /** None is taken on while it says so. */
  isFull: () => boolean;
  /** Told of writes that were refused: of the first at once, then of how many there were in each second. */
  onRefused: (count: number) => void;
}

/** Makes it; it keeps no process alive. */
export function makeOverload(options: OverloadOptions): Overload {
  let writes_under_way = 0;
  let refused = 0;
  let telling: NodeJS.Timeout | undefined;

  function tell(): void {
    telling = undefined;
    if (refused === 0) return;
    options.onRefused(refused);
    refused = 0;
    telling = setTimeout(tell, TELL_EVERY_MS).unref();
  }

  let held_back = 0;
  return {
    takeWrite(answer) {
      if (writes_under_way >= options.most_writes || options.isFull()) {
        refused += 1;
        if (telling === undefined) tell();
        return false;
      }
      writes_under_way += 1;
      answer.once('close', () => {
        writes_under_way -= 1;
      });
      return true;
    },
    async holdBack() {
      if (held_back >= MOST_HELD_BACK) return;
      held_back += 1;
      await wait(HELD_BACK_MS);
      held_back -= 1;
    },
  };
}
