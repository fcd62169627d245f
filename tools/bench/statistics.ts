/** What several measurements of the same thing come to. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** The middle value; of an even number of them the mean of the middle two. NaN when there is none. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return Number.NaN;
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)] as number;
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Median, least and greatest; NaN when there are no values. */
export function spreadOf(values: readonly number[]): Spread {
  const least = values.length === 0 ? Number.NaN : Math.min(...values);
  const greatest = values.length === 0 ? Number.NaN : Math.max(...values);
  return { median: medianOf(values), min: least, max: greatest };
}

/** Each value to the one of the same place, so that what disturbed the machine disturbed both. */
export function ratiosOf(values: readonly number[], bases: readonly number[]): number[] {
  const count = Math.min(values.length, bases.length);
  return Array.from({ length: count }, (_, i) => (values[i] as number) / (bases[i] as number));
}

/** The mean of each two neighbours: what a baseline was around the rounds between its measurements. */
export function betweenOf(values: readonly number[]): number[] {
  return values.slice(1).map((value, i) => (value + (values[i] as number)) / 2);
}

/**
 * How much greater the last fifth of a series is than the second fifth, on average: 1 is flat. The first fifth is
 * the warming up. NaN for fewer than five values.
 */
export function growthOf(series: readonly number[]): number {
  const fifth = Math.floor(series.length / 5);
  if (fifth === 0) return Number.NaN;
  const meanOf = (part: readonly number[]) => part.reduce((sum, value) => sum + value, 0) / part.length;
  return meanOf(series.slice(-fifth)) / meanOf(series.slice(fifth, 2 * fifth));
}
