import type { Decision } from '@purser/sdk';

export type { Decision };

/** Holds an answer against what every decision has. Throws where it is none, so that nothing is read as a permission. */
export function decisionIn(body: unknown): Decision {
  const { decision_id, effective_decision, mode } = (body ?? {}) as Partial<Decision>;
  if (typeof decision_id !== 'string' || effective_decision === undefined || mode === undefined) {
    throw new Error('the answer is no decision');
  }
  return body as Decision;
}
