import { MODES } from '@purser/rules/domain/agents';
import { DECISIONS, REASON_CODES } from '@purser/rules/domain/decisions';
import type { DeliveredEventType } from '@purser/rules/domain/webhooks';
import Type, { type TProperties, type TSchema } from 'typebox';
import { Fields, Id, OneOf, Timestamp } from '../../http/schemas.ts';
import { ReachedBudgetBody } from './budgets.ts';
import { DecisionBody } from './decisions.ts';
import { LabelBody, OutcomeBody, RecordedReviewBody } from './records.ts';

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

function Event(name: string, type: DeliveredEventType, data: TSchema): TSchema {
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

const aboutDecision = (record: { properties: TProperties }) =>
  Fields({ ...record.properties, decision: DecisionBrief });

/** The webhook events: the body of each type, and when it is sent. */
export const WEBHOOK_EVENTS: Record<DeliveredEventType, { summary: string; body: TSchema }> = {
  'decision.created': {
    summary: 'A decision was made',
    body: Event('DecisionCreatedEvent', 'decision.created', DecisionBody),
  },
  'decision.review.recorded': {
    summary: 'A review was recorded',
    body: Event('ReviewRecordedEvent', 'decision.review.recorded', aboutDecision(RecordedReviewBody)),
  },
  'decision.label.recorded': {
    summary: 'A label was recorded',
    body: Event('LabelRecordedEvent', 'decision.label.recorded', aboutDecision(LabelBody)),
  },
  'decision.outcome.recorded': {
    summary: 'An outcome was reported',
    body: Event('OutcomeRecordedEvent', 'decision.outcome.recorded', aboutDecision(OutcomeBody)),
  },
  'budget.threshold.reached': {
    summary: 'Usage of a shared budget reached 80 or 100 percent',
    body: Event('BudgetThresholdReachedEvent', 'budget.threshold.reached', ReachedBudgetBody),
  },
  'webhook.test': {
    summary: 'A test event was requested for an endpoint',
    body: Event('WebhookTestEvent', 'webhook.test', Fields({ endpoint_id: Id('webhook') })),
  },
};
