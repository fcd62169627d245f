/** JSON Schemas of what `review_spend` takes. */
import { BUDGET_PERIODS } from '@purser/contract/values/budgets';
import { Amount, compiled, DecisionId, type DecisionInput, object, text } from './schemas.ts';

type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

export interface ReviewSpendInput extends DecisionInput {
  action: 'ALLOW' | 'DENY';
  reason_code: string;
  comment?: string;
  questions?: string[];
  remember?: 'ALWAYS' | 'NEVER';
  up_to?: { amount: string; period?: BudgetPeriod; expires_at: string };
}
export const ReviewSpend = compiled<ReviewSpendInput>(
  object(
    {
      decision_id: { ...DecisionId, description: 'A decision_id of list_pending_reviews.' },
      action: {
        type: 'string',
        enum: ['ALLOW', 'DENY'],
        description: 'ALLOW first asks the person at this client, and does nothing without their consent.',
      },
      reason_code: {
        type: 'string',
        pattern: '^[A-Z0-9_]{1,64}$',
        description: 'Reason code in upper case: WITHIN_TASK, TOO_EXPENSIVE, NOT_NEEDED, …',
      },
      comment: text(2_000, 'Why, in words.'),
      questions: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Of a DENY: the ids of the questions of the decision that it rejects; otherwise its open ones, the merchant only if nothing else was asked.',
      },
      remember: {
        type: 'string',
        enum: ['ALWAYS', 'NEVER'],
        description:
          'ALWAYS, with ALLOW, also lists the merchant as allowed; NEVER, with DENY, as blocked. Only where get_review_sheet offers it under remember.',
      },
      up_to: {
        ...object(
          {
            amount: Amount('The most in each period, in major units: "500.00".'),
            period: { type: 'string', enum: BUDGET_PERIODS, description: 'Default: MONTH.' },
            expires_at: {
              type: 'string',
              pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2})$',
              description: 'When it ends, in ISO 8601: "2027-01-31T00:00:00Z".',
            },
          },
          ['period'],
        ),
        description:
          'With ALLOW: later purchases like this one need no review up to this amount. Only where get_review_sheet offers it under remember.UP_TO.',
      },
    },
    ['comment', 'questions', 'remember', 'up_to'],
  ),
);
