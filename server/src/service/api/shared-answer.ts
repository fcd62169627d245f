/** The greatest age of a shared result. */
const MAX_AGE_MS = 1_000;

/**
 * Makes a function that computes a result at most once a second, however often it is called. Calls in between get the
 * last result, or wait for the one in progress, whether it succeeds or fails. `now_ms` is a clock that never runs
 * backwards.
 */
export function sharedAnswer<T>(make: () => Promise<T>, now_ms: () => number): () => Promise<T> {
  let last: { began_ms: number; is_settled: boolean; answer: Promise<T> } | null = null;
  return () => {
    if (last === null || (last.is_settled && now_ms() - last.began_ms >= MAX_AGE_MS)) {
      const made = { began_ms: now_ms(), is_settled: false, answer: make() };
      const settle = () => {
        made.is_settled = true;
      };
      made.answer.then(settle, settle);
      last = made;
    }
    return last.answer;
  };
}
