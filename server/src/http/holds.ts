import type { Exchange } from './exchange.ts';
import { makeShares } from './shares.ts';

/** Requests that are held back at once, each workspace and key its share of them; one more is answered as things stand. */
const MAX_HELD = 1_000;

/** Requests that wait because they asked to. */
export interface Holds {
  /**
   * Waits for `ms`, during which the request's deadline does not run; `resume` sets it again. Resolves with false, at
   * once or sooner, when the service stops, the request has ended, or too many wait already.
   */
  hold(exchange: Exchange, ms: number, resume: () => void): Promise<boolean>;
  /** The service stops: whoever waits is answered now. */
  release(): void;
}

/** Holds requests back, each with one timer. */
export function makeHolds(): Holds {
  const places = makeShares({ resource: 'waits', total: MAX_HELD, workspace_share: 0.8, key_share: 0.6 });
  const held = new Set<() => void>();
  let released = false;
  return {
    hold: (exchange, ms, resume) =>
      new Promise((resolve) => {
        const leave = released ? null : places.tryTake(exchange.holder);
        if (leave === null) return resolve(false);
        exchange.clearDeadline();
        const end = (waited: boolean) => {
          if (!held.delete(stop)) return;
          clearTimeout(timer);
          leave();
          resume();
          resolve(waited);
        };
        const stop = () => end(false);
        const timer = setTimeout(end, ms, true);
        held.add(stop);
        exchange.hold(stop);
      }),
    release() {
      released = true;
      for (const stop of held) stop();
    },
  };
}
