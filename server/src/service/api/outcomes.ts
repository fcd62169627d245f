import { route } from '@purser/contract/route';
import { MAX_REPORTS, OUTCOME_SOURCES, OUTCOME_TYPES, outcomeBody } from '@purser/rules/domain/outcomes';
import { ApiError, invalidField } from '@purser/rules/errors';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import { instantMs } from '@purser/rules/values/timestamps';
import type pg from 'pg';
import Type from 'typebox';
import { createOutcome } from '../../engine/commands/create-outcome.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { getDecision } from '../../engine/storage/decisions.ts';
import { listOutcomesOfDecisions } from '../../engine/storage/outcomes.ts';
import { type Route, serve } from '../http/route.ts';
import { AmountMinor, Currency, Fields, Line, OneOf, page, TimestampIn } from '../http/schemas.ts';
import { originOf } from '../people/callers.ts';
import { OutcomeBody } from './schemas/records.ts';

const IdParams = Fields({ id: Type.String() });

const OutcomeRequest = Fields(
  {
    type: OneOf(OUTCOME_TYPES),
    amount_minor: Type.Optional(
      AmountMinor({
        description:
          'The total spent so far, or the amount of this refund. Required for SPEND_EXECUTED and PARTIALLY_REFUNDED; a full refund returns the rest.',
      }),
    ),
    currency: Type.Optional(
      Currency({ description: "Must be the decision's currency, which is the default." }),
    ),
    external_reference: Type.Optional(
      Line(
        { max: TEXT_LENGTHS.merchant },
        { description: 'The reference in the payment system.', examples: ['ch_3MtwBw'] },
      ),
    ),
    occurred_at: Type.Optional(
      TimestampIn({ description: 'Defaults to now; at most 5 minutes in the future.' }),
    ),
    source: Type.Optional(
      OneOf(OUTCOME_SOURCES, {
        description: 'Defaults to CLIENT_REPORTED; PAYMENT_RAIL needs a key with the scope `consume`.',
      }),
    ),
  },
  { $id: 'OutcomeRequest', examples: [{ type: 'SPEND_EXECUTED', amount_minor: 5440 }] },
);

const AMOUNT_REQUIRED = ['SPEND_EXECUTED', 'PARTIALLY_REFUNDED'];

const routes = {
  createOutcome: route({
    method: 'POST',
    path: '/v1/decisions/:id/outcomes',
    operationId: 'createOutcome',
    tag: 'Outcomes',
    summary: 'Report what happened to a spend',
    description: `Settles the hold: an executed amount is committed, a failed or cancelled spend returns its amount to the budget, and refunds return to the month of the spend. After a capability was consumed, only reports by the payment rail can lower the amount that counts. An exact repeat answers 200 with the stored record. Reports by the payment rail override those of a client. If the rail captures more later, it reports SPEND_EXECUTED again with the whole amount: a higher amount raises what counts (flag ADJUSTED), even after refunds; the same amount with another reference is recorded and counts nothing more; a lower one is refused. A source may make ${MAX_REPORTS} reports per decision. An agent's held and spent amounts in a month and currency cannot exceed 9,007,199,254,740,991 in total: a report beyond that is refused and changes nothing.`,
    scopes: ['authorize', 'consume', 'admin'],
    params: IdParams,
    body: OutcomeRequest,
    responses: {
      201: { description: 'The outcome.', schema: OutcomeBody },
      200: { description: 'An exact repeat: the recorded outcome.', schema: OutcomeBody },
    },
    errors: ['not_found', 'outcome_conflict', 'currency_mismatch'],
  }),
  listOutcomes: route({
    method: 'GET',
    path: '/v1/decisions/:id/outcomes',
    operationId: 'listOutcomes',
    tag: 'Outcomes',
    summary: 'List the outcomes of a decision',
    description: 'Newest first; all of them.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    responses: {
      200: { description: 'The outcomes.', schema: page(OutcomeBody, { $id: 'OutcomePage' }) },
    },
    errors: ['not_found'],
  }),
};

/** Makes the routes for outcomes. */
export function makeOutcomeRoutes(options: { db: pg.Pool; lane: Lane }): Route[] {
  const { db, lane } = options;
  return [
    serve(routes.createOutcome)(async (call) => {
      const { type, amount_minor, currency, external_reference, occurred_at, source } = call.body;
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
        },
        originOf(call),
      );
      const body = outcomeBody(outcome);
      return repeated ? { status: 200, body } : { status: 201, body };
    }),
    serve(routes.listOutcomes, { shares: 'reads' })(async (call) => {
      const { workspace_id, agent_id } = call.caller;
      const decision = await getDecision(db, workspace_id, call.params.id, agent_id);
      if (decision === undefined) throw new ApiError('not_found', 'No such decision.');
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
