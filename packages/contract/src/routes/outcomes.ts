import { Type } from 'typebox';
import { TEXT_LENGTHS } from '../limits.ts';
import { UsageBody } from '../models/fields.ts';
import { OutcomeBody } from '../records.ts';
import { route } from '../route.ts';
import { AmountMinor, Currency, Fields, Line, OneOf, page, TimestampIn } from '../schema.ts';
import { MAX_REPORTS, OUTCOME_SOURCES, OUTCOME_TYPES } from '../values/decisions.ts';

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
    usage: Type.Optional(UsageBody),
  },
  { $id: 'OutcomeRequest', examples: [{ type: 'SPEND_EXECUTED', amount_minor: 5440 }] },
);

export const routes = {
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
