import type { Simulation } from '@purser/sdk';

export const KINDS = ['ALLOW', 'REVIEW', 'DENY'] as const;
export type Kind = (typeof KINDS)[number];

/** A changed decision; what people said of it and what became of it come with it. */
export type ChangedDecision = Simulation['changed'][number];

/** Of replayed decisions: how many went from one kind to which. What did not change is on the diagonal. */
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

/** The two numbers by which a rule is judged, of all decisions that would have been another and that people labelled. */
export function judgedBy({ by_label }: Pick<Simulation, 'by_label'>): {
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
