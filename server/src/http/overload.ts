import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * A client over the limit of unknown keys is answered after a moment: one that asks again as soon as it is answered
 * would take the time of everybody else.
 */
const HELD_BACK_MS = 100;
const MOST_HELD_BACK = 1_000;

/** What keeps a process from taking on more than it can do. */
export interface Overload {
  /** Takes a write on until its answer is sent or its client gone; false: it is to be refused. */
  takeWrite(answer: ServerResponse): boolean;
  /** Lets a throttled client wait a moment, unless too many wait already. */
  holdBack(): Promise<void>;
}

/** `most_writes` may be under way at a time, and none is taken on while `isFull` says so. */
export function makeOverload(options: { most_writes: number; isFull: () => boolean }): Overload {
  let writes_under_way = 0;
  let held_back = 0;
  return {
    takeWrite(answer) {
      if (writes_under_way >= options.most_writes || options.isFull()) return false;
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
