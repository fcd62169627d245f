import { type Decision, isDecision } from '@purser/sdk';

export type { Decision };

/**
 * The decision that an answer is; with `decision_id`, that very one. Throws where it is none, so that nothing is read as a
 * permission.
 */
export function decisionIn(body: unknown, decision_id?: string): Decision {
  if (isDecision(body) && (decision_id ?? body.decision_id) === body.decision_id) return body;
  throw new Error('the response is not a decision');
}

/** The decisions of a page, and where the next one begins. Throws where an answer is no page of decisions. */
export function decisionsIn(body: unknown): { data: Decision[]; next_cursor: string | null } {
  const { data, next_cursor } = (body ?? {}) as { data?: unknown; next_cursor?: unknown };
  const is_cursor = next_cursor === null || typeof next_cursor === 'string';
  if (!Array.isArray(data) || !is_cursor) throw new Error('the response is not a page of decisions');
  return { data: data.map((each) => decisionIn(each)), next_cursor };
}
