import { Amount, Currency, compiled, nullable, object, text } from './schemas.ts';

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

const AllowanceId = { type: 'string', pattern: '^alw_[0-9A-Za-z]{1,60}$' };
const ExpiresAt = (description: string) => ({ ...text(40, description), examples: ['2026-12-31T00:00:00Z'] });

export interface RequestAllowanceInput {
  name: string;
  amount: string;
  currency: string;
  purpose: string;
  merchants?: string[];
  max_purchases?: number;
  expires_at?: string;
}
export const RequestAllowance = compiled<RequestAllowanceInput>(
  object(
    {
      name: text(128, 'A stable name for this request. Use the same name to send the same request again.'),
      amount: Amount('The most that may be spent in all, in major units: "200.00".'),
      currency: Currency,
      purpose: text(2_000, 'What it is for, for the person who decides.'),
      merchants: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: text(200, 'A merchant that may be paid.'),
        description: 'Who may be paid. Left out: any merchant.',
      },
      max_purchases: { type: 'integer', minimum: 1, maximum: 1_000_000, description: 'The most purchases.' },
      expires_at: ExpiresAt('When it ends, as RFC 3339. Default: in 7 days.'),
    },
    ['merchants', 'max_purchases', 'expires_at'],
  ),
);
export const RequestedAllowanceOutput = compiled(
  object({
    allowance: { type: 'string', description: 'The id to name in request_spend once it is granted.' },
    status: { type: 'string', description: 'REQUESTED until a person decides it, then OPEN or DENIED.' },
    decide_by: { ...nullable('string'), description: 'When it expires undecided.' },
  }),
);

export const ListAllowanceRequests = compiled<{ limit?: number; cursor?: string }>(
  object(
    {
      limit: { type: 'integer', minimum: 1, maximum: 50, description: 'Default: 20.' },
      cursor: text(2_000, 'next_cursor of the previous response.'),
    },
    ['limit', 'cursor'],
  ),
);
const names = { ...nullable('array'), items: { type: 'string' }, description: 'Null for any.' };
export const AllowanceRequestsOutput = compiled(
  object({
    requests: {
      type: 'array',
      items: object({
        allowance: { type: 'string' },
        agent: nullable('string'),
        amount: { type: 'string', description: 'In major units, for each period.' },
        currency: { type: 'string' },
        period: { type: 'string', description: 'TOTAL: the amount is for all time.' },
        per_purchase_limit: majorOrNull('In major units; null for no limit of its own.'),
        max_purchases: { ...nullable('integer'), description: 'In its period; null for no limit.' },
        expires_at: { type: 'string' },
        decide_by: { ...nullable('string'), description: 'When it expires undecided.' },
        agent_says: object({
          name: nullable('string'),
          purpose: { type: 'string' },
          merchants: names,
          payee_ids: names,
        }),
      }),
    },
    next_cursor: nullable('string'),
  }),
);

export interface DecideAllowanceRequestInput {
  allowance: string;
  action: 'ALLOW' | 'DENY';
  amount?: string;
  expires_at?: string;
  purpose?: string;
  comment?: string;
}
export const DecideAllowanceRequest = compiled<DecideAllowanceRequestInput>(
  object(
    {
      allowance: { ...AllowanceId, description: 'An allowance of list_allowance_requests.' },
      action: { type: 'string', enum: ['ALLOW', 'DENY'] },
      amount: Amount('A lower amount than was asked for, in major units. Only with ALLOW.'),
      expires_at: ExpiresAt('An earlier end than was asked for, as RFC 3339. Only with ALLOW.'),
      purpose: text(2_000, 'What it is for, in the words of the person. Only with ALLOW.'),
      comment: text(2_000, 'A note for the record.'),
    },
    ['amount', 'expires_at', 'purpose', 'comment'],
  ),
);
export const DecidedAllowanceOutput = compiled(
  object({
    allowance: { type: 'string' },
    status: { type: 'string' },
    amount: { type: 'string', description: 'In major units.' },
    currency: { type: 'string' },
    expires_at: { type: 'string' },
  }),
);
