import { useEffect, useState } from 'react';

/** Pause after the last change. */
const PAUSE_MS = 400;

/** A text after a pause without changes. */
export function useDebounced(text: string | null): string | null {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    if (text === null) return;
    const timer = setTimeout(() => setDebounced(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
