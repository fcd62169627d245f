import type { Simulation } from '@purser/sdk';

export const KINDS = ['ALLOW', 'REVIEW', 'DENY'] as const;
export type Kind = (typeof KINDS)[number];

/** A changed decision; what people said of it and what became of it come with it. */
export type ChangedDecision = Simulation['changed'][number] & {
  label?: string | null;
  outcome_state?: string;
};

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

/** The two numbers by which a rule is judged, of the changed decisions that people labelled. */
export function judgedBy(changed: readonly ChangedDecision[]): {
  stopped_wrongly: number;
  passed_wrongly: number;
} {
  const count = (label: string, from_allow: boolean) =>
    changed.filter(
      (each) =>
        each.label === label &&
        (each.current.decision === 'ALLOW') === from_allow &&
        (each.draft.decision === 'ALLOW') !== from_allow,
    ).length;
  return {
    stopped_wrongly: count('PURPOSE_ALIGNED', true),
    passed_wrongly: count('PURPOSE_MISALIGNED', false),
  };
}
