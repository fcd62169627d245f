import { useEffect, useState } from 'react';

/** After the last key. */
const PAUSE_MS = 400;

/** A text once it has stood still for a moment. */
export function useSettled(text: string | null): string | null {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    if (text === null) return;
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
