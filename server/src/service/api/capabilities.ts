import { routes } from '@purser/contract/routes/capabilities';
import { consumptionBody } from '@purser/rules/domain/capabilities';
import { ApiError } from '@purser/rules/errors';
import { consumeCapability } from '../../engine/commands/consume-capability.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { type Route, serve } from '../http/route.ts';
import type { CapabilityTokens } from '../installation/secrets.ts';
import { originOf } from '../people/callers.ts';

/** Makes the route that consumes a capability at the payment point. */
export function makeCapabilityRoutes(options: { lane: Lane; tokens: CapabilityTokens }): Route[] {
  const { lane, tokens } = options;
  return [
    serve(routes.consumeCapability)(async (call) => {
      const { token, amount_minor, currency, payee_id, merchant, external_reference } = call.body;
      const { workspace_id } = call.caller;
      const capability_id = tokens.open(workspace_id, token);
      if (capability_id === null) throw new ApiError('not_found', 'No such capability.');
      const { replayed, consumption, agent } = await lane.submit(
        workspace_id,
        consumeCapability,
        {
          capability_id,
          amount_minor,
          currency,
          payee_id: payee_id ?? null,
          merchant: merchant ?? null,
          external_reference: external_reference ?? null,
          idempotency_key: call.headers['idempotency-key'] as string,
          request_hash: call.body_hash as Buffer,
        },
        originOf(call),
      );
      const body = consumptionBody(consumption, agent);
      return replayed
        ? { status: 200, body, headers: { 'idempotent-replay': 'true' } }
        : { status: 201, body };
    }),
  ];
}
