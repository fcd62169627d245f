import { type Static, Type } from 'typebox';
import { Fields, Nullable, OneOf } from '../schema.ts';
import { MANDATE_FORMATS } from '../values/allowances.ts';

/** The part of a mandate that Purser cannot check: the payer compares it with the payment. */
export const MandateBody = Fields(
  {
    format: OneOf(MANDATE_FORMATS),
    reference: Nullable(
      Type.String({ description: 'The checkout that it is bound to: `conditional_transaction_id`.' }),
    ),
    instruments: Nullable(
      Type.Array(
        Fields({
          id: Type.String(),
          type: Type.String(),
          description: Nullable(Type.String()),
        }),
        { description: 'The payment instruments that it permits, as far as they were disclosed; null: any.' },
      ),
    ),
    pisps: Nullable(
      Type.Array(
        Fields({
          legal_name: Type.String(),
          brand_name: Type.String(),
          domain_name: Type.String(),
        }),
        {
          description:
            'The payment initiation service providers that it permits, as far as they were disclosed; null: any.',
        },
      ),
    ),
  },
  { description: 'What a mandate says and Purser cannot check: compare it with the payment.' },
);
export type Mandate = Static<typeof MandateBody>;
