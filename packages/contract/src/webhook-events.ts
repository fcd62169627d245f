import { type TProperties, type TSchema, Type } from 'typebox';
import { ChangedAllowanceBody, ReachedAllowanceBody } from './allowances/fields.ts';
import { ReachedBudgetBody, ReachedLimitBody } from './budgets.ts';
import { DecisionBody } from './decisions.ts';
import { UnmatchedSpendBody } from './history/coverage.ts';
import { REASON_CODES } from './reasons.ts';
import { LabelBody, OutcomeBody, RecordedReviewBody } from './records.ts';
import { Fields, Id, OneOf, Timestamp } from './schema.ts';
import { MODES } from './values/agents.ts';
import { DECISIONS } from './values/decisions.ts';
import { type DeliveredEventType, EVENT_ROWS } from './values/webhooks.ts';

const DecisionBrief = Fields(
  {
    decision_id: Id('decision'),
    agent: Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) }),
    mode: OneOf(MODES),
    decision: OneOf(DECISIONS),
    effective_decision: OneOf(DECISIONS),
    reason_code: OneOf(REASON_CODES),
  },
  { $id: 'DecisionBrief', description: "The decision that an event's record refers to, in brief." },
);

function Event<const T extends DeliveredEventType, D extends TSchema>(name: string, type: T, data: D) {
  return Fields(
    {
      id: Id('event', { description: 'The same on every retry and at every endpoint; deduplicate on it.' }),
      type: Type.Literal(type),
      created_at: Timestamp(),
      data,
    },
    { $id: name },
  );
}

const aboutDecision = <P extends TProperties>(record: { properties: P }) =>
  Fields({ ...record.properties, decision: DecisionBrief });

/** The webhook events: the body of each type, and when it is sent. */
export const WEBHOOK_EVENTS = {
  'decision.created': {
    summary: EVENT_ROWS['decision.created'].summary,
    body: Event('DecisionCreatedEvent', 'decision.created', DecisionBody),
  },
  'decision.review.recorded': {
    summary: EVENT_ROWS['decision.review.recorded'].summary,
    body: Event('ReviewRecordedEvent', 'decision.review.recorded', aboutDecision(RecordedReviewBody)),
  },
  'decision.label.recorded': {
    summary: EVENT_ROWS['decision.label.recorded'].summary,
    body: Event('LabelRecordedEvent', 'decision.label.recorded', aboutDecision(LabelBody)),
  },
  'decision.outcome.recorded': {
    summary: EVENT_ROWS['decision.outcome.recorded'].summary,
    body: Event('OutcomeRecordedEvent', 'decision.outcome.recorded', aboutDecision(OutcomeBody)),
  },
  'budget.threshold.reached': {
    summary: EVENT_ROWS['budget.threshold.reached'].summary,
    body: Event('BudgetThresholdReachedEvent', 'budget.threshold.reached', ReachedBudgetBody),
  },
  'limit.threshold.reached': {
    summary: EVENT_ROWS['limit.threshold.reached'].summary,
    body: Event('LimitThresholdReachedEvent', 'limit.threshold.reached', ReachedLimitBody),
  },
  'spend.unmatched': {
    summary: EVENT_ROWS['spend.unmatched'].summary,
    body: Event('SpendUnmatchedEvent', 'spend.unmatched', UnmatchedSpendBody),
  },
  'allowance.requested': {
    summary: EVENT_ROWS['allowance.requested'].summary,
    body: Event('AllowanceRequestedEvent', 'allowance.requested', ChangedAllowanceBody),
  },
  'allowance.decided': {
    summary: EVENT_ROWS['allowance.decided'].summary,
    body: Event('AllowanceDecidedEvent', 'allowance.decided', ChangedAllowanceBody),
  },
  'allowance.revoked': {
    summary: EVENT_ROWS['allowance.revoked'].summary,
    body: Event('AllowanceRevokedEvent', 'allowance.revoked', ChangedAllowanceBody),
  },
  'allowance.threshold.reached': {
    summary: EVENT_ROWS['allowance.threshold.reached'].summary,
    body: Event('AllowanceThresholdReachedEvent', 'allowance.threshold.reached', ReachedAllowanceBody),
  },
  'webhook.test': {
    summary: 'A test event was requested for an endpoint',
    body: Event('WebhookTestEvent', 'webhook.test', Fields({ endpoint_id: Id('webhook') })),
  },
} satisfies Record<DeliveredEventType, { summary: string; body: TSchema }>;
