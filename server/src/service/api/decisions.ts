import { routes } from '@purser/contract/routes/decisions';
import type { makeAuthorizeSpend } from '../decisions/authorize-spend.ts';
import type { DecisionView } from '../decisions/present-decisions.ts';
import { type Route, serve, storedJson } from '../http/route.ts';
import { originOf } from '../people/callers.ts';

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
      const answer = view.answer(caller, created);
      const json = storedJson(answer.json);
      if (!created.replayed) return { status: 201, json };
      // A client that lost the first answer recognises its own decision by this id.
      const of = answer.made_by === null ? {} : { 'idempotent-replay-of': answer.made_by };
      return { status: 200, json, headers: { 'idempotent-replay': 'true', ...of } };
    }),
  ];
}
