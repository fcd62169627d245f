import { DecisionBody, DecisionRequest } from '../decisions.ts';
import { route } from '../route.ts';

export const routes = {
  createDecision: route({
    method: 'POST',
    path: '/v1/decisions',
    operationId: 'createDecision',
    tag: 'Decisions',
    summary: 'Request a decision about a spend',
    description:
      "Evaluates every stage of the authority, holds the amount against this month's budget and answers ALLOW, REVIEW or DENY with reasons. The same `idempotency-key` with the same body answers 200 with the first response and `idempotent-replay: true`. A workspace key must name the agent in `agent`; an agent key need not.",
    scopes: ['authorize'],
    idempotent: true,
    body: DecisionRequest,
    responses: {
      201: { description: 'The decision.', schema: DecisionBody },
      200: {
        description: 'A replay: the decision as first returned.',
        schema: DecisionBody,
        headers: {
          'idempotent-replay': '`true`',
          'idempotent-replay-of':
            'The `x-request-id` of the request that made the decision; absent for decisions made before it was recorded.',
        },
      },
    },
    errors: [
      'agent_mismatch',
      'allowance_mismatch',
      'agent_not_active',
      'not_found',
      'idempotency_conflict',
      'agent_required',
    ],
  }),
};
