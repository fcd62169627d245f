/** Keeps callers from something that does not answer. */
export interface CircuitBreaker {
  /** Whether to try now; whoever is told so must `note` how it went. */
  mayTry(): boolean;
  /** Whether `mayTry` would say no now. */
  isOpen(): boolean;
  note(worked: boolean): void;
}

export interface CircuitBreakerOptions {
  /** A clock that never runs backwards, ms. */
  now_ms: () => number;
  /** So many failures one after another open it. */
  failures: number;
  /** How long it stays open before one try is let through. */
  rest_ms: number;
  /** Told of each change. */
  onChange: (state: 'open' | 'closed') => void;
}

/**
 * Opens after `failures` failures in a row; from then on one try is let through per `rest_ms`, and the first that
 * works closes it.
 */
export function makeCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { now_ms, rest_ms, onChange } = options;
  let failed = 0;
  let rests_until_ms: number | null = null;
  const isOpen = () => rests_until_ms !== null && now_ms() < rests_until_ms;
  return {
    isOpen,
    mayTry() {
      if (isOpen()) return false;
      if (rests_until_ms === null) return true;
      // This caller tries; the next one may when it has had time to answer.
      rests_until_ms = now_ms() + rest_ms;
      return true;
    },
    note(worked) {
      if (worked) {
        failed = 0;
        if (rests_until_ms !== null) onChange('closed');
        rests_until_ms = null;
        return;
      }
      failed += 1;
      if (failed < options.failures) return;
      if (rests_until_ms === null) onChange('open');
      rests_until_ms = now_ms() + rest_ms;
    },
  };
}
