import { useEffect, useState } from 'react';

const PAUSE_MS = 350;

/**
 * What is typed in a field whose value is kept elsewhere, as in the address: `onTyped` is told when the typing pauses, or at
 * once by `tell`, and only of what differs from `value`.
 */
export function useTyped(value: string, onTyped: (typed: string) => void) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const tell = () => {
    if (typed !== value) onTyped(typed);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts the pause
  useEffect(() => {
    const timer = setTimeout(tell, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return { typed, setTyped, tell };
}
