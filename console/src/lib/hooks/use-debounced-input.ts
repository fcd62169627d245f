import { useEffect, useState } from 'react';

const PAUSE_MS = 350;

/**
 * The text of a field whose value is stored elsewhere, such as in the URL. `onTyped` is called after a pause in typing, or at
 * once by `flush`, and only if the text differs from `value`.
 */
export function useDebouncedInput(value: string, onTyped: (typed: string) => void) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const flush = () => {
    if (typed !== value) onTyped(typed);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the pause
  useEffect(() => {
    const timer = setTimeout(flush, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return { typed, setTyped, flush };
}
