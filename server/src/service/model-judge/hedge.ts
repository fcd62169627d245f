import type { ModelAnswer } from './model-client.ts';

/** One attempt to get an answer within `timeout_ms`. */
export type Attempt = (timeout_ms: number, signal: AbortSignal) => Promise<ModelAnswer>;

export interface HedgeOptions {
  /** A clock that never runs backwards, ms. */
  now_ms: () => number;
  /** Resolves after `wait_ms`, or at once when the signal is aborted. */
  wait: (wait_ms: number, signal: AbortSignal) => Promise<void>;
}

/** Asks with at most two attempts, and tells how long answers take. */
export interface Hedge {
  /**
   * Returns one answer: that of the first attempt which is answered; the other is cancelled. The second attempt begins
   * when the first one failed in a way that may pass, not before a `retry-after` of it is over, or when it takes longer
   * than answers do. `mayRepeat` is asked before it and returns what is called after it, or null: there is no second one.
   * `timeout_ms` is for both together.
   */
  ask(attempt: Attempt, mayRepeat: () => (() => void) | null, timeout_ms: number): Promise<ModelAnswer>;
}

/** Answers whose times say how long the model takes. */
const TIMES_KEPT = 50;
/** An attempt that takes longer than this share of the answers is repeated. */
const USUAL = 0.95;
/** Until enough answers came, and at the latest, the second attempt begins after this share of the time. */
const LATEST = 0.5;
const MIN_TIMES = 10;
/**
 * The second attempt begins after this share of the time at the earliest: a pause of this process is no sign that the model
 * is slow.
 */
const EARLIEST = 0.1;
/** The pause before the second attempt where none was asked for, as a share of the time. */
const PAUSE = 0.1;
const MAX_PAUSE_MS = 200;

/** Failures after which the same question may well be answered. */
function mayPass(answer: ModelAnswer): boolean {
  if (answer.kind === 'http_error')
    return answer.status === 408 || answer.status === 429 || answer.status >= 500;
  return answer.kind === 'unreachable';
}

/** Makes it for one endpoint. */
export function makeHedge({ now_ms, wait }: HedgeOptions): Hedge {
  const times: number[] = [];

  function noteTime(took_ms: number): void {
    times.push(took_ms);
    if (times.length > TIMES_KEPT) times.shift();
  }

  function usualMs(timeout_ms: number): number {
    const latest = timeout_ms * LATEST;
    if (times.length < MIN_TIMES) return latest;
    const sorted = [...times].sort((a, b) => a - b);
    const usual = sorted[Math.floor(sorted.length * USUAL)] as number;
    return Math.min(latest, Math.max(timeout_ms * EARLIEST, usual));
  }

  return {
    async ask(attempt, mayRepeat, timeout_ms) {
      const began_ms = now_ms();
      const left_ms = () => timeout_ms - (now_ms() - began_ms);
      const both = new AbortController();
      const tryOnce = async (): Promise<ModelAnswer> => {
        const answer = await attempt(Math.max(1, left_ms()), both.signal);
        // From the beginning of the first attempt: or what is cut off by the second one would make it begin ever earlier.
        if (answer.kind === 'answered') noteTime(now_ms() - began_ms);
        return answer;
      };
      try {
        const waited = new AbortController();
        const first = tryOnce();
        const early = await Promise.race([first, wait(usualMs(timeout_ms), waited.signal).then(() => null)]);
        waited.abort();
        if (early !== null) {
          if (!mayPass(early)) return early;
          const asked_ms = early.kind === 'http_error' ? early.retry_after_ms : null;
          const pause_ms = asked_ms ?? Math.min(MAX_PAUSE_MS, timeout_ms * PAUSE);
          if (pause_ms >= left_ms()) return early;
          const done = mayRepeat();
          if (done === null) return early;
          try {
            await wait(pause_ms, both.signal);
            return await tryOnce();
          } finally {
            done();
          }
        }
        const done = mayRepeat();
        if (done === null) return await first;
        const second = tryOnce().finally(done);
        const one = await Promise.race([first, second]);
        if (one.kind === 'answered') return one;
        const [of_first, of_second] = await Promise.all([first, second]);
        return of_second.kind === 'answered' ? of_second : of_first;
      } finally {
        both.abort();
      }
    },
  };
}
