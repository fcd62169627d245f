import { makeOld } from './live.ts';

/** A first attempt to deliver has mostly ended by one of these. Milliseconds. */
const WAITS_MS = [600, 2_000, 6_000, 15_000];

/**
 * Has queries fetched again some times in the next seconds: for what happens after the service's answer, and which the
 * chain of events does not tell.
 */
export function refetchSoon(...queryKey: readonly string[]): void {
  for (const wait_ms of WAITS_MS) {
    setTimeout(() => void makeOld(...queryKey), wait_ms);
  }
}
