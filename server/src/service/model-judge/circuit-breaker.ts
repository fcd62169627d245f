/** Keeps callers away from a service that fails. */
export interface CircuitBreaker {
  /** True if the caller may try now; it must then `record` the result. */
  mayTry(): boolean;
  /** True if `mayTry` would return false now. */
  isOpen(): boolean;
  record(worked: boolean): void;
}

export interface CircuitBreakerOptions {
  /** A clock that never runs backwards, ms. */
  now_ms: () => number;
  /** This many consecutive failures open it. */
  failures: number;
  /** Time that it stays open before the next try. */
  rest_ms: number;
  /** Called on each change of state. */
  onChange: (state: 'open' | 'closed') => void;
}

/**
 * Makes a circuit breaker that opens after `failures` consecutive failures. While it is open it allows one try per
 * `rest_ms`, and the first that works closes it.
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
      // The next caller may try only after this one has had time to get an answer.
      rests_until_ms = now_ms() + rest_ms;
      return true;
    },
    record(worked) {
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
