import { invalidate } from './live.ts';

/** A first delivery attempt usually ends within one of these delays. Milliseconds. */
const WAITS_MS = [600, 2_000, 6_000, 15_000];

/**
 * Refetches queries a few times over the next seconds, for results that follow the service's response and that no ledger
 * event announces.
 */
export function refetchSoon(...queryKey: readonly string[]): void {
  for (const wait_ms of WAITS_MS) {
    setTimeout(() => void invalidate(...queryKey), wait_ms);
  }
}
