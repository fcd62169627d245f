import type { Decision, Overview } from '@purser/sdk';

/** Counts of decisions by value for each facet, the most frequent first. */
export type ValueCounts = Record<
  'decision' | 'mode' | 'reason' | 'agent' | 'currency',
  { value: string; count: number }[]
>;

/** Counts from the service's overview. */
export function countsOf({ by_decision, by_reason, by_agent, by_currency }: Overview): ValueCounts {
  const all = (mode: 'shadow' | 'enforce') => by_decision.reduce((sum, each) => sum + each[mode], 0);
  const counts: ValueCounts = {
    decision: by_decision.map(({ decision, count }) => ({ value: decision, count })),
    mode: (['shadow', 'enforce'] as const).map((mode) => ({ value: mode.toUpperCase(), count: all(mode) })),
    reason: by_reason.map(({ reason_code, count }) => ({ value: reason_code, count })),
    agent: by_agent.map(({ agent, count }) => ({ value: agent.slug, count })),
    currency: by_currency.map(({ currency, count }) => ({ value: currency, count })),
  };
  for (const param of Object.keys(counts) as (keyof ValueCounts)[]) {
    counts[param] = counts[param].filter(({ count }) => count > 0);
  }
  return counts;
}

/** Counts of loaded decisions. A decision counts for each of its reasons, as in the filter. */
export function countsOfRows(rows: readonly CountedRow[]): ValueCounts {
  const by = (valuesOf: (row: CountedRow) => readonly string[]) => {
    const counts = new Map<string, number>();
    for (const row of rows)
      for (const value of valuesOf(row)) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
  };
  return {
    decision: by(({ decision }) => [decision]),
    mode: by(({ mode }) => [mode]),
    reason: by(({ reason_codes }) => reason_codes),
    agent: by(({ agent }) => [agent.slug]),
    currency: by(({ currency }) => [currency]),
  };
}

type CountedRow = Pick<Decision, 'decision' | 'mode' | 'reason_codes' | 'agent' | 'currency'>;
