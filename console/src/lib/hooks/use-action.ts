import { useRef, useState } from 'react';

/** The state of an action: running, and its last error. */
export interface Action<Args extends unknown[]> {
  run: (...args: Args) => Promise<void>;
  busy: boolean;
  error: unknown;
  clear: () => void;
}

/** Runs `work` once at a time and keeps its error for display beside the button. */
export function useAction<Args extends unknown[]>(work: (...args: Args) => Promise<unknown>): Action<Args> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const is_running = useRef(false);
  return {
    busy,
    error,
    clear: () => setError(null),
    async run(...args) {
      if (is_running.current) return;
      is_running.current = true;
      setBusy(true);
      setError(null);
      try {
        await work(...args);
      } catch (thrown) {
        setError(thrown);
      } finally {
        is_running.current = false;
        setBusy(false);
      }
    },
  };
}
