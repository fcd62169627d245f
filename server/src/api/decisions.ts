import Type, { type Static } from 'typebox';
import type { makeAuthorizeSpend } from '../decisions/authorize-spend.ts';
import type { DecisionView } from '../decisions/present-decisions.ts';
import { requestIdIn } from '../domain/decision-document.ts';
import type { Decision } from '../domain/decisions.ts';
import type { SpendRequest } from '../domain/spends.ts';
import { ApiError } from '../errors.ts';
import type { Call, Route } from '../http/route.ts';
import { Fields, QueryInteger } from '../http/schemas.ts';
import { originOf } from '../people/callers.ts';
import { DecisionBody, DecisionRequest } from './schemas/decisions.ts';

const IdParams = Fields({ id: Type.String() });

const MAX_WAIT_SECONDS = 25;

/** The query of `GET /v1/decisions/:id`. */
const DecisionQuery = Fields({
  wait_seconds: Type.Optional(
    QueryInteger(
      { min: 1, max: MAX_WAIT_SECONDS },
      { description: 'Wait so long for a change of its review or outcome before answering.' },
    ),
  ),
});

export interface DecisionRouteOptions {
  authorizeSpend: ReturnType<typeof makeAuthorizeSpend>;
  view: DecisionView;
}

/** The interval at which a decision is read again while a request waits for it to change. */
const LOOK_AGAIN_MS = 500;

/** Returns the parts of a decision whose change ends a wait, as text. */
const changesOf = ({ review_state, review, outcome_state, verified }: Decision): string =>
  [review_state, review?.review_id, outcome_state, verified].join(' ');

/** Makes the routes that create a decision and get one. */
export function makeDecisionRoutes(options: DecisionRouteOptions): Route[] {
  const { authorizeSpend, view } = options;
  return [
    {
      method: 'POST',
      path: '/v1/decisions',
      operationId: 'createDecision',
      tag: 'Decisions',
      summary: 'Ask whether a spend may be made',
      description:
        'Evaluates every stage of the authority, holds the money against the month and answers ALLOW, REVIEW or DENY with reasons. The same `idempotency-key` with the same body answers 200 with the first answer and `idempotent-replay: true`. A workspace key names the agent with `agent`; an agent key need not.',
      scopes: ['authorize'],
      idempotent: true,
      body: DecisionRequest,
      responses: {
        201: { description: 'The decision.', schema: DecisionBody },
        200: {
          description: 'A replay: the decision as it was first answered.',
          schema: DecisionBody,
          headers: {
            'idempotent-replay': '`true`',
            'idempotent-replay-of':
              'The `x-request-id` of the request that made the decision; missing of decisions made before it was kept.',
          },
        },
      },
      errors: ['agent_mismatch', 'agent_not_active', 'not_found', 'idempotency_conflict', 'agent_required'],
      handler: async (call: Call<unknown, unknown, SpendRequest>) => {
        const { caller } = call;
        const created = await authorizeSpend({
          caller,
          request: call.body,
          idempotency_key: call.headers['idempotency-key'] as string,
          request_hash: call.body_hash as Buffer,
          origin: originOf(call),
        });
        const json = view.answer(caller, created);
        if (!created.replayed) return { status: 201, json };
        // A client that lost the first answer recognises its own decision by this id.
        const made_by = requestIdIn(created.document);
        const of = made_by === undefined ? {} : { 'idempotent-replay-of': made_by };
        return { status: 200, json, headers: { 'idempotent-replay': 'true', ...of } };
      },
    },
    {
      method: 'GET',
      path: '/v1/decisions/:id',
      operationId: 'getDecision',
      tag: 'Decisions',
      summary: 'Get one decision',
      description:
        'As it stands now: `effective_decision`, `review_state`, `reservation` with the live counters of its month, and `outcome_state` follow what happened since.',
      scopes: ['read'],
      agentKey: 'own',
      params: IdParams,
      query: DecisionQuery,
      responses: { 200: { description: 'The decision.', schema: DecisionBody } },
      errors: ['not_found'],
      handler: async (call: Call<{ id: string }, Static<typeof DecisionQuery>, unknown>) => {
        const find = async () => {
          const found = await view.find(call.caller, call.params.id);
          if (found === undefined) throw new ApiError('not_found', 'There is no such decision.');
          return found;
        };
        let found = await find();
        const before = changesOf(found);
        for (let waits = ((call.query.wait_seconds ?? 0) * 1000) / LOOK_AGAIN_MS; waits > 0; waits--) {
          if (changesOf(found) !== before || !(await call.hold(LOOK_AGAIN_MS))) break;
          found = await find();
        }
        return { status: 200, body: found };
      },
    },
  ];
}
