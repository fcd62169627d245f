import { useSyncExternalStore } from 'react';

/** One clock for the whole page. It ticks every second while components show times. */
let now_ms = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  now_ms = Date.now();
  timer ??= setInterval(() => {
    now_ms = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The current time in milliseconds, in steps of `step_ms`, so that a component renders only when its text can change. */
export function useNow(step_ms = 1000): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now_ms / step_ms) * step_ms);
}
