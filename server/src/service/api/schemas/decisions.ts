import { MODES } from '@purser/rules/domain/agents';
import { EVIDENCE_EFFECTS, PURPOSE_ASSESSMENTS } from '@purser/rules/domain/assessment';
import {
  DECISIONS,
  OUTCOME_STATES,
  REASON_CODES,
  REVIEW_STATES,
  type Remedy,
  STAGE_OUTCOMES,
  STAGES,
} from '@purser/rules/domain/decisions';
import { RESERVATION_STATUSES } from '@purser/rules/domain/reservations';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import Type, { type TProperties } from 'typebox';
import {
  AgentRef,
  AmountMinor,
  Currency,
  Fields,
  FreeObject,
  Id,
  LimitMinor,
  Line,
  LongText,
  Nullable,
  OneOf,
  PayeeId,
  Timestamp,
  TimestampIn,
} from '../../http/schemas.ts';
import { CountedLimitBody } from './limits.ts';
import { CapabilityBody, LabelBody, ReviewBody } from './records.ts';

const MAX_TRACE_STEPS = 25;
const MAX_CONTEXT_BYTES = 8_192;

const Action = Fields(
  {
    type: Line(
      { max: TEXT_LENGTHS.name },
      { description: 'An open list: `purchase`, `subscription`, `top_up`, …', examples: ['purchase'] },
    ),
    merchant: Line(
      { max: TEXT_LENGTHS.merchant },
      { description: 'Who would be paid.', examples: ['Hetzner Online'] },
    ),
    amount_minor: AmountMinor({
      description: "In minor units of the currency's own exponent.",
      examples: [5440],
    }),
    currency: Currency({ examples: ['EUR'] }),
    description: Type.Optional(
      LongText(
        { max: TEXT_LENGTHS.description },
        { description: 'What, and why.', examples: ['1x CCX33 for staging'] },
      ),
    ),
    payee_id: Type.Optional(PayeeId()),
    category: Type.Optional(
      Line({ max: TEXT_LENGTHS.name }, { description: 'The declared category: an untrusted claim.' }),
    ),
  },
  { $id: 'Action' },
);

const TraceStep = Fields(
  {
    step: LongText({ min: 1, max: TEXT_LENGTHS.description }, { description: 'What was done.' }),
    kind: Type.Optional(Line({ max: TEXT_LENGTHS.name })),
    tool: Type.Optional(Line({ max: TEXT_LENGTHS.merchant })),
    at: Type.Optional(TimestampIn()),
  },
  { $id: 'TraceStep' },
);

/** The body of `POST /v1/decisions`. */
export const DecisionRequest = Fields(
  {
    action: Action,
    task: Type.Optional(
      LongText({ max: TEXT_LENGTHS.task }, { description: "This run's task as the agent states it." }),
    ),
    trace: Type.Optional(Type.Array(TraceStep, { maxItems: MAX_TRACE_STEPS })),
    limitable: Type.Optional(Type.Boolean({ description: 'May the amount be capped?' })),
    min_amount_minor: Type.Optional(
      AmountMinor({ description: 'The lowest amount acceptable when capping; 1 when left out.' }),
    ),
    agent: Type.Optional(AgentRef()),
    context: Type.Optional(
      FreeObject(
        { max_bytes: MAX_CONTEXT_BYTES },
        { description: "The customer's own data: stored with the decision, never judged." },
      ),
    ),
  },
  {
    $id: 'DecisionRequest',
    examples: [
      {
        agent: 'infra-bot',
        action: {
          type: 'purchase',
          merchant: 'Hetzner Online',
          amount_minor: 5440,
          currency: 'EUR',
          description: '1x CCX33 for staging',
        },
      },
    ],
  },
);

const remedy = (type: Remedy['type'], more: TProperties = {}) =>
  Fields({
    type: Type.Literal(type),
    ...more,
    clears: Type.Array(OneOf(REASON_CODES), { description: 'Reasons that are gone then.' }),
    then: OneOf(DECISIONS, { description: 'What would be decided then, if nothing else changed.' }),
  });

const RemedyBody = Type.Union(
  [
    remedy('REDUCE_AMOUNT', {
      max_amount_minor: AmountMinor({
        description:
          'Of all amounts that would pass, the largest, if that same amount was not asked for shortly before.',
      }),
    }),
    remedy('RETRY_AT', {
      at: Timestamp({ description: 'The earliest moment, if nobody spends meanwhile.' }),
    }),
    remedy('USE_CURRENCY', {
      currency: Type.String({ description: 'With the same number of minor units.', examples: ['EUR'] }),
    }),
    remedy('CHOOSE_OTHER_MERCHANT'),
    remedy('WAIT_FOR_REVIEW', {
      expires_at: Nullable(Timestamp({ description: 'Null: it waits for as long as it takes.' })),
    }),
    remedy('ASK_OPERATOR'),
  ],
  {
    $id: 'Remedy',
    description:
      'What the caller can do about a decision that is not ALLOW. REDUCE_AMOUNT, RETRY_AT, USE_CURRENCY and CHOOSE_OTHER_MERCHANT stand here only where they alone take the decision out of DENY, or RETRY_AT out of REVIEW; ASK_OPERATOR where nothing else does. A spend that repeats another one has no smaller amount.',
  },
);

const Money = (description: string) => LimitMinor({ description });
const Observed = Type.Union([Type.String(), Type.Integer(), Type.Null()]);

/** A decision as the API answers it. */
export const DecisionBody = Fields(
  {
    decision_id: Id('decision'),
    decision: OneOf(DECISIONS, { description: 'What was decided; never changes.' }),
    effective_decision: OneOf(DECISIONS, { description: 'What is in force: in SHADOW always ALLOW.' }),
    review_state: Nullable(OneOf(REVIEW_STATES)),
    reason_code: OneOf(REASON_CODES, { description: 'The first of `reason_codes`.' }),
    reason_codes: Type.Array(OneOf(REASON_CODES), {
      description: 'All reasons, by severity, then by stage.',
    }),
    requested_amount_minor: AmountMinor(),
    authorized_amount_minor: Money(
      '0 on DENY and on a pending REVIEW; below the request when it was capped.',
    ),
    currency: Type.String({ examples: ['EUR'] }),
    mode: OneOf(MODES),
    explanation: Type.String({
      description: 'One or two sentences for people.',
      examples: ['Requested USD 120.00, over the per-transaction limit of USD 100.00.'],
    }),
    policy_trace: Type.Array(
      Fields(
        {
          stage: OneOf(STAGES),
          name: Type.Optional(
            Type.String({
              description: "Which of the authority's limits it is about, where the stage judges by several.",
            }),
          ),
          outcome: OneOf(STAGE_OUTCOMES),
          reason_code: Nullable(OneOf(REASON_CODES)),
          observed: Observed,
          limit: Observed,
          detail: Type.String(),
        },
        { $id: 'StageFinding' },
      ),
      { description: 'Every stage in order; one that the authority does not speak of may be left out.' },
    ),
    remedies: Type.Optional(
      Type.Array(RemedyBody, {
        description:
          'What the caller can do about it; empty on ALLOW. Decisions that were made before there were any have none.',
      }),
    ),
    purpose: Fields(
      {
        assessment: OneOf(PURPOSE_ASSESSMENTS),
        confidence: Type.Number({ minimum: 0, maximum: 1 }),
        method: Type.String({
          description: 'Which assessor spoke, `+model/…` with it when the opinion of a model counted.',
          examples: ['built-in/1', 'built-in/1+model/judge-1'],
        }),
        rationale: Type.String(),
        evidence: Type.Array(
          Fields({ field: Type.String(), text: Type.String(), effect: OneOf(EVIDENCE_EFFECTS) }),
        ),
      },
      { $id: 'PurposeAssessment' },
    ),
    authority_version: Nullable(Type.Integer({ minimum: 1 })),
    authority_hash: Nullable(Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })),
    directory_version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Of the merchants listed for the agent when it was made; left out where none ever were.',
      }),
    ),
    reservation: Fields(
      {
        reservation_id: Nullable(Id('reservation')),
        status: OneOf(RESERVATION_STATUSES),
        amount_minor: Money('What is held, or was spent and not given back, or was held when it was let go.'),
        currency: Type.String(),
        period: Type.String({
          pattern: '^\\d{4}-\\d{2}$',
          examples: ['2026-11'],
          description: 'The calendar month (UTC).',
        }),
        expires_at: Nullable(Timestamp({ description: 'Null: the hold stays until something settles it.' })),
        budget: Fields({
          limit_minor: Nullable(Money('The monthly budget; null: none.')),
          held_minor: Money('Held in this month, this hold included.'),
          committed_minor: Money('Spent in this month.'),
          remaining_minor: Nullable(Money('What is left; null: no budget is set.')),
        }),
        limits: Type.Optional(
          Type.Array(CountedLimitBody, {
            description:
              'The limits over time that the decision counts in, as they stood after it; left out where there are none.',
          }),
        ),
      },
      { $id: 'Reservation' },
    ),
    capability: Nullable(CapabilityBody),
    agent: Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) }),
    action: Action,
    task: Nullable(Type.String()),
    trace: Nullable(Type.Array(TraceStep)),
    limitable: Type.Boolean(),
    min_amount_minor: Nullable(AmountMinor()),
    context: Nullable(Type.Object({}, { additionalProperties: true })),
    review: Nullable(ReviewBody),
    label: Nullable(LabelBody),
    outcome_state: OneOf(OUTCOME_STATES),
    verified: Type.Boolean({
      description: "Whether all of the outcome, refunds included, is the payment rail's word.",
    }),
    created_at: Timestamp(),
    requested_by: Fields({ key_id: Id('api_key'), principal_id: Nullable(Type.String()) }),
    request_id: Type.Optional(
      Type.String({ description: 'The `x-request-id` of the request that made it.' }),
    ),
  },
  { $id: 'Decision' },
);
