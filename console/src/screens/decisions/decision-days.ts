import type { Decision, Overview } from '@purser/sdk';

/** Counts of decisions by kind for a UTC day. */
export interface DayCounts {
  day: string;
  allow: number;
  review: number;
  deny: number;
}

const KINDS = ['allow', 'review', 'deny'] as const;

/** Filters that the service's daily counts support. */
const COUNTED = ['agent', 'from', 'to', 'mode', 'decision', 'order'];
export const isCounted = (filters: Readonly<Record<string, string>>): boolean =>
  Object.keys(filters).every((name) => COUNTED.includes(name));

/** The days of an overview, limited to the mode and kinds of the filters. */
export function countedDays(
  by_day: Overview['by_day'],
  { mode, decision }: { mode?: string; decision?: string },
): DayCounts[] {
  const kinds = decision?.toLowerCase().split(',') ?? KINDS;
  return by_day.map((each) => {
    const counts = mode === 'SHADOW' ? each.shadow : mode === 'ENFORCE' ? each.enforce : each;
    const of = (kind: (typeof KINDS)[number]) => (kinds.includes(kind) ? counts[kind] : 0);
    return { day: each.day, allow: of('allow'), review: of('review'), deny: of('deny') };
  });
}

/** Counts of loaded decisions by day, oldest first. */
export function daysOfRows(rows: readonly Pick<Decision, 'created_at' | 'decision'>[]): DayCounts[] {
  const days = new Map<string, DayCounts>();
  for (const { created_at, decision } of rows) {
    const day = created_at.slice(0, 10);
    const counts = days.get(day) ?? { day, allow: 0, review: 0, deny: 0 };
    counts[decision.toLowerCase() as (typeof KINDS)[number]] += 1;
    days.set(day, counts);
  }
  return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}
