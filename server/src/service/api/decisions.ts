import { route } from '@purser/contract/route';
import { requestIdIn } from '@purser/rules/domain/decision-document';
import type { makeAuthorizeSpend } from '../decisions/authorize-spend.ts';
import type { DecisionView } from '../decisions/present-decisions.ts';
import { type Route, serve, storedJson } from '../http/route.ts';
import { originOf } from '../people/callers.ts';
import { DecisionBody, DecisionRequest } from './schemas/decisions.ts';

const routes = {
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
    errors: ['agent_mismatch', 'agent_not_active', 'not_found', 'idempotency_conflict', 'agent_required'],
  }),
};

/** Makes the route that decides a spend. */
export function makeDecisionRoutes(options: {
  authorizeSpend: ReturnType<typeof makeAuthorizeSpend>;
  view: DecisionView;
}): Route[] {
  const { authorizeSpend, view } = options;
  return [
    serve(routes.createDecision)(async (call) => {
      const { caller } = call;
      const created = await authorizeSpend({
        caller,
        request: call.body,
        idempotency_key: call.headers['idempotency-key'] as string,
        request_hash: call.body_hash as Buffer,
        origin: originOf(call),
      });
      const json = storedJson(view.answer(caller, created));
      if (!created.replayed) return { status: 201, json };
      // A client that lost the first answer recognises its own decision by this id.
      const made_by = requestIdIn(created.document);
      const of = made_by === undefined ? {} : { 'idempotent-replay-of': made_by };
      return { status: 200, json, headers: { 'idempotent-replay': 'true', ...of } };
    }),
  ];
}
