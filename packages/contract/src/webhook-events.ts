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
import {
  DELIVERED_EVENT_TYPES,
  type DeliveredEventType,
  EVENT_ROWS,
  TEST_EVENT_TYPE,
} from './values/webhooks.ts';

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

/** The data of each type of event, and the name of its body in the OpenAPI document. */
const DATA = {
  'decision.created': { name: 'DecisionCreatedEvent', data: DecisionBody },
  'decision.review.recorded': { name: 'ReviewRecordedEvent', data: aboutDecision(RecordedReviewBody) },
  'decision.label.recorded': { name: 'LabelRecordedEvent', data: aboutDecision(LabelBody) },
  'decision.outcome.recorded': { name: 'OutcomeRecordedEvent', data: aboutDecision(OutcomeBody) },
  'budget.threshold.reached': { name: 'BudgetThresholdReachedEvent', data: ReachedBudgetBody },
  'limit.threshold.reached': { name: 'LimitThresholdReachedEvent', data: ReachedLimitBody },
  'spend.unmatched': { name: 'SpendUnmatchedEvent', data: UnmatchedSpendBody },
  'allowance.requested': { name: 'AllowanceRequestedEvent', data: ChangedAllowanceBody },
  'allowance.decided': { name: 'AllowanceDecidedEvent', data: ChangedAllowanceBody },
  'allowance.revoked': { name: 'AllowanceRevokedEvent', data: ChangedAllowanceBody },
  'allowance.threshold.reached': { name: 'AllowanceThresholdReachedEvent', data: ReachedAllowanceBody },
  'webhook.test': { name: 'WebhookTestEvent', data: Fields({ endpoint_id: Id('webhook') }) },
} satisfies Record<DeliveredEventType, { name: string; data: TSchema }>;

const summaryOf = (type: DeliveredEventType) =>
  type === TEST_EVENT_TYPE ? 'A test event was requested for an endpoint' : EVENT_ROWS[type].summary;

/** The webhook events: the body of each type, and when it is sent. */
export const WEBHOOK_EVENTS = Object.fromEntries(
  DELIVERED_EVENT_TYPES.map((type) => {
    const { name, data } = DATA[type];
    return [type, { summary: summaryOf(type), body: Event<typeof type, TSchema>(name, type, data) }];
  }),
) as {
  [T in DeliveredEventType]: {
    summary: string;
    body: ReturnType<typeof Event<T, (typeof DATA)[T]['data']>>;
  };
};
