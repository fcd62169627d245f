/** How old what is shared may be. */
const MAX_AGE_MS = 1_000;

/**
 * Makes something at most once a second, however often and by however many it is asked for: whoever comes meanwhile gets
 * what the last one got, or waits for it, also for its failure. `now_ms` is a clock that never runs backwards.
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
