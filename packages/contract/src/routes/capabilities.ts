import { Type } from 'typebox';
import { TEXT_LENGTHS } from '../limits.ts';
import { route } from '../route.ts';
import { AmountMinor, Currency, Fields, Id, Line, Nullable, PayeeId, Timestamp } from '../schema.ts';

const ConsumeRequest = Fields(
  {
    token: Line({ max: 512 }, { description: "The `token` of a decision's capability." }),
    amount_minor: AmountMinor(),
    currency: Currency({ examples: ['EUR'] }),
    payee_id: Type.Optional(
      PayeeId({ description: 'Required if the decision named a payee, and must be the same.' }),
    ),
    merchant: Type.Optional(
      Line(
        { max: TEXT_LENGTHS.merchant },
        { description: 'As the payment names it; additions by a card descriptor are ignored.' },
      ),
    ),
    external_reference: Type.Optional(
      Line({ max: TEXT_LENGTHS.merchant }, { description: 'The reference in the payment system.' }),
    ),
  },
  { $id: 'ConsumeRequest' },
);

const ConsumptionBody = Fields(
  {
    capability_id: Id('capability'),
    decision_id: Id('decision'),
    agent: Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) }),
    status: Type.Literal('CONSUMED'),
    amount_minor: AmountMinor(),
    currency: Type.String({ examples: ['EUR'] }),
    payee_id: Nullable(Type.String()),
    consumed_at: Timestamp(),
  },
  { $id: 'Consumption' },
);

export const routes = {
  consumeCapability: route({
    method: 'POST',
    path: '/v1/capabilities/consume',
    operationId: 'consumeCapability',
    tag: 'Capabilities',
    summary: 'Consume a capability right before the payment',
    description:
      'Exactly one of any number of concurrent consumers succeeds. The same `idempotency-key` with the same body answers 200 with `idempotent-replay: true`. Pay only after a 201 or 200, then report the outcome.',
    scopes: ['consume'],
    idempotent: true,
    body: ConsumeRequest,
    responses: {
      201: { description: 'Consumed: make the payment.', schema: ConsumptionBody },
      200: {
        description: 'A replay: this request consumed it earlier.',
        schema: ConsumptionBody,
        headers: { 'idempotent-replay': '`true`' },
      },
    },
    errors: [
      'not_found',
      'agent_not_active',
      'idempotency_conflict',
      'capability_used',
      'capability_expired',
      'capability_revoked',
      'authority_changed',
      'payee_mismatch',
      'merchant_mismatch',
      'currency_mismatch',
      'amount_exceeds_authorized',
    ],
  }),
};
