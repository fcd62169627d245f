import { type Static, Type } from 'typebox';
import { AmountMinor, Id, Nullable, OneOf, Timestamp } from '../schema.ts';
import { COVERAGE_RULES, LINE_STATES } from '../values/coverage.ts';
import { LINE_KINDS, LINE_PRECISIONS } from '../values/history.ts';

const AgentName = Type.Object({ id: Id('agent'), slug: Type.String() }, { additionalProperties: false });

/** One movement of money as a rail reports it. */
export const LineBody = Type.Object(
  {
    line_id: Id('line'),
    feed: Type.String({ description: 'The account or rail.', examples: ['stripe_issuing'] }),
    import_id: Nullable(Id('import')),
    rail_id: Nullable(Id('rail')),
    line_number: Nullable(Type.Integer({ description: 'Its place in the file.' })),
    kind: OneOf(LINE_KINDS),
    merchant: Type.String(),
    payee_id: Nullable(Type.String()),
    instrument: Nullable(
      Type.String({
        description: 'What paid: a card, an account, a project.',
        examples: ['stripe_issuing:ic_1', 'iban:DE02120300000000202051'],
      }),
    ),
    amount_minor: AmountMinor(),
    currency: Type.String(),
    merchant_amount_minor: Nullable(AmountMinor()),
    merchant_currency: Nullable(Type.String()),
    occurred_at: Timestamp({ description: 'Of a `DAY`: 12:00 UTC.' }),
    precision: OneOf(LINE_PRECISIONS),
    external_reference: Nullable(Type.String()),
    authorization: Nullable(Type.String()),
    description: Nullable(Type.String()),
    category: Nullable(Type.String()),
    agent: Nullable(AgentName),
    coverage: Nullable(
      Type.Object(
        {
          state: OneOf(LINE_STATES),
          rule: Nullable(OneOf(COVERAGE_RULES, { description: 'Null where a person matched it.' })),
          decision_id: Nullable(Type.String()),
          resolution_id: Nullable(Type.String()),
        },
        {
          additionalProperties: false,
          description:
            'Whether a decision asked for it; null for refunds, and until it was compared, which takes seconds. `HISTORY`: it was paid before its agent was created.',
        },
      ),
    ),
    observed_decision_id: Nullable(
      Type.String({
        description: 'The decision that was made of this payment, because its agent in SHADOW had not asked.',
      }),
    ),
    recorded_at: Timestamp(),
  },
  {
    additionalProperties: false,
    $id: 'Line',
    description:
      'One movement of money as a payment rail reports it. It is no decision: it counts in no budget, limit, report or track record.',
  },
);
export type LineBody = Static<typeof LineBody>;

/** An instrument, and whose it is. */
export const InstrumentBody = Type.Object(
  {
    instrument: Type.String(),
    agent: Nullable(AgentName),
    from: Nullable(Timestamp({ description: 'From when on; null: for all times, or assigned to nobody.' })),
    lines: Type.Integer({ minimum: 0, description: 'The number of its lines.' }),
  },
  { additionalProperties: false, $id: 'Instrument' },
);
export type InstrumentBody = Static<typeof InstrumentBody>;
