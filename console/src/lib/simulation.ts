import type { Simulation } from '@purser/sdk';

export const KINDS = ['ALLOW', 'REVIEW', 'DENY'] as const;
export type Kind = (typeof KINDS)[number];

/** A changed decision with its label and outcome. */
export type ChangedDecision = Simulation['changed'][number];

/** Counts replayed decisions by their kind before and after. Unchanged ones are on the diagonal. */
export function matrixOf({ current, transitions }: Simulation): Record<Kind, Record<Kind, number>> {
  const before: Record<Kind, number> = { ALLOW: current.allow, REVIEW: current.review, DENY: current.deny };
  const matrix = Object.fromEntries(
    KINDS.map((from) => [from, { ALLOW: 0, REVIEW: 0, DENY: 0, [from]: before[from] }]),
  ) as Record<Kind, Record<Kind, number>>;
  for (const { from, to, count } of transitions) {
    if (from === to) continue;
    matrix[from][to] += count;
    matrix[from][from] -= count;
  }
  return matrix;
}

/** Labelled decisions that would change in the wrong direction. */
export function wronglyChanged({ by_label }: Pick<Simulation, 'by_label'>): {
  stopped_wrongly: number;
  passed_wrongly: number;
} {
  const count = (wanted: string, side: 'from' | 'to') =>
    by_label
      .filter((each) => each.label === wanted && each[side] === 'ALLOW')
      .reduce((sum, each) => sum + each.count, 0);
  return {
    stopped_wrongly: count('PURPOSE_ALIGNED', 'from'),
    passed_wrongly: count('PURPOSE_MISALIGNED', 'to'),
  };
}
