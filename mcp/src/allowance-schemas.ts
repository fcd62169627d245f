import { compiled, nullable, object } from './schemas.ts';

const majorOrNull = (description: string) => ({ ...nullable('string'), description });

export const AllowancesOutput = compiled(
  object({
    allowances: {
      type: 'array',
      items: object({
        allowance: { type: 'string', description: 'The id to name in request_spend.' },
        name: nullable('string'),
        purpose: nullable('string'),
        currency: { type: 'string' },
        remaining: { type: 'string', description: 'What is left in its period, in major units.' },
        period: { type: 'string', description: 'TOTAL: the amount is for all time.' },
        per_purchase_limit: majorOrNull('In major units; null for no limit of its own.'),
        purchases_left: { ...nullable('integer'), description: 'In its period; null for no limit.' },
        merchants: { ...nullable('array'), items: { type: 'string' }, description: 'Null for any.' },
        expires_at: { type: 'string' },
      }),
    },
    more: { type: 'boolean', description: 'True if there are more than are shown.' },
  }),
);
