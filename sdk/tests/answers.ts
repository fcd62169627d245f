/** Has the shape of every object that the service answers with: for tests that are not about what is in it. */
export const ANSWER = {
  decision_id: 'dec_1',
  mode: 'ENFORCE',
  effective_decision: 'DENY',
  review_state: null,
  outcome_state: 'NONE',
  requested_amount_minor: 1,
  authorized_amount_minor: 0,
  currency: 'EUR',
  capability: null,
  status: 'CONSUMED',
  amount_minor: 1,
  outcome_id: 'out_1',
  type: 'SPEND_FAILED',
  data: [],
  next_cursor: null,
};

/** A success as the service answers it, by the method. */
export function success({ method }: RequestInit, body: unknown = ANSWER): Response {
  if (method === 'DELETE') return new Response(null, { status: 204 });
  return Response.json(body, { headers: { 'x-request-id': 'req_told' } });
}
