import { MAX_USAGE_BYTES, type UsageLine } from '@purser/contract/models/fields';
import { routes } from '@purser/contract/routes/outcomes';
import { outcomeBody } from '@purser/rules/domain/outcomes';
import { ApiError, invalidField } from '@purser/rules/errors';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { instantMs } from '@purser/rules/values/timestamps';
import type pg from 'pg';
import { createOutcome } from '../../engine/commands/create-outcome.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { getDecision } from '../../engine/storage/decisions.ts';
import { listOutcomesOfDecisions } from '../../engine/storage/outcomes.ts';
import { isWithinAllowance } from '../allowances/may-see.ts';
import { type Route, serve } from '../http/route.ts';
import { originOf } from '../people/callers.ts';

const AMOUNT_REQUIRED = ['SPEND_EXECUTED', 'PARTIALLY_REFUNDED'];

const noDecision = () => new ApiError('not_found', 'No such decision.');

/** The usage of a report as JSON text. Throws ApiError `invalid_request`: it is the payment rail's, and bounded. */
function usageText(source: string | undefined, usage: readonly UsageLine[] | undefined): string | null {
  if (usage === undefined) return null;
  if (source !== 'PAYMENT_RAIL')
    throw invalidField('usage', 'is reported by the payment rail only: source must be PAYMENT_RAIL');
  const text = canonicalJson(usage);
  if (Buffer.byteLength(text) > MAX_USAGE_BYTES)
    throw invalidField('usage', `must be at most ${MAX_USAGE_BYTES} bytes of JSON`);
  return text;
}

/** Makes the routes for outcomes. */
export function makeOutcomeRoutes(options: { db: pg.Pool; lane: Lane }): Route[] {
  const { db, lane } = options;
  return [
    serve(routes.createOutcome)(async (call) => {
      const { type, amount_minor, currency, external_reference, occurred_at, source, usage } = call.body;
      const { caller } = call;
      if (amount_minor === undefined && AMOUNT_REQUIRED.includes(type)) {
        throw invalidField('amount_minor', `is required for ${type}`);
      }
      if (source === 'PAYMENT_RAIL' && !caller.scopes.includes('consume')) {
        throw new ApiError(
          'insufficient_scope',
          'Only a key with the scope consume may report as PAYMENT_RAIL; omit source.',
        );
      }
      const used = usageText(source, usage);
      // Which allowance a decision was made under never changes, so it is looked up before the lane.
      if (!(await isWithinAllowance(db, caller, call.params.id))) throw noDecision();
      const { repeated, outcome } = await lane.submit(
        caller.workspace_id,
        createOutcome,
        {
          decision_id: call.params.id,
          only_agent: caller.agent_id,
          type,
          amount_minor: amount_minor ?? null,
          currency: currency ?? null,
          external_reference: external_reference ?? null,
          occurred_at:
            occurred_at === undefined ? null : new Date(instantMs(occurred_at) as number).toISOString(),
          source: source ?? 'CLIENT_REPORTED',
          usage: used,
        },
        originOf(call),
      );
      const body = outcomeBody(outcome);
      return repeated ? { status: 200, body } : { status: 201, body };
    }),
    serve(routes.listOutcomes, { shares: 'reads' })(async (call) => {
      const { workspace_id, agent_id } = call.caller;
      const decision = await getDecision(db, workspace_id, call.params.id, agent_id);
      if (decision === undefined || !(await isWithinAllowance(db, call.caller, call.params.id)))
        throw noDecision();
      const outcomes = await listOutcomesOfDecisions(db, workspace_id, [call.params.id]);
      return {
        status: 200,
        body: {
          data: outcomes.reverse().map(outcomeBody),
          next_cursor: null,
        },
      };
    }),
  ];
}
