/**
 * Clocks that differ by at most this many milliseconds agree. Also how far a chain may be ahead of the clock before time is
 * the clock's again.
 */
export const CLOCK_TOLERANCE_MS = 60_000;
