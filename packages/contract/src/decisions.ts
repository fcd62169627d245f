import { type Static, type TProperties, Type } from 'typebox';
import { DecisionAllowanceBody, StandingApprovalBody } from './allowances/fields.ts';
import { type CountedLimit, CountedLimitBody } from './limit-standing.ts';
import { TEXT_LENGTHS } from './limits.ts';
import { QuestionBody } from './purpose/questions.ts';
import { REASON_CODES } from './reasons.ts';
import { type Capability, CapabilityBody, LabelBody, ReviewBody } from './records.ts';
import { ReviewProgressBody, ReviewTierBody } from './reviews/progress.ts';
import {
  AgentRef,
  AllowanceRef,
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
} from './schema.ts';
import { STAGES } from './stages.ts';
import { MODES } from './values/agents.ts';
import {
  DECISIONS,
  EVIDENCE_EFFECTS,
  OUTCOME_STATES,
  PURPOSE_ASSESSMENTS,
  RESERVATION_STATUSES,
  REVIEW_STATES,
  STAGE_OUTCOMES,
} from './values/decisions.ts';

const MAX_TRACE_STEPS = 25;

const MAX_CONTEXT_BYTES = 8_192;

const ActionBody = Fields(
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
        { description: 'What is bought, and why.', examples: ['1x CCX33 for staging'] },
      ),
    ),
    payee_id: Type.Optional(PayeeId()),
    category: Type.Optional(
      Line(
        { max: TEXT_LENGTHS.name },
        { description: 'The category that the agent declares: an untrusted claim.' },
      ),
    ),
  },
  { $id: 'Action' },
);

/** The spend an agent proposes. `merchant`, `payee_id`, `amount_minor` and `currency` say what would be paid. */
export interface Action extends Static<typeof ActionBody> {}

const TraceStepBody = Fields(
  {
    step: LongText({ min: 1, max: TEXT_LENGTHS.description }, { description: 'What was done.' }),
    kind: Type.Optional(Line({ max: TEXT_LENGTHS.name })),
    tool: Type.Optional(Line({ max: TEXT_LENGTHS.merchant })),
    at: Type.Optional(TimestampIn()),
  },
  { $id: 'TraceStep' },
);

/** One step of an agent's run, as the agent describes it. Untrusted. */
export interface TraceStep extends Static<typeof TraceStepBody> {}

/** The body of `POST /v1/decisions`. */
export const DecisionRequest = Fields(
  {
    action: ActionBody,
    task: Type.Optional(
      LongText({ max: TEXT_LENGTHS.task }, { description: "The task of this run, in the agent's words." }),
    ),
    trace: Type.Optional(Type.Array(TraceStepBody, { maxItems: MAX_TRACE_STEPS })),
    limitable: Type.Optional(Type.Boolean({ description: 'May the amount be capped?' })),
    min_amount_minor: Type.Optional(
      AmountMinor({ description: 'The lowest amount acceptable when capped; defaults to 1.' }),
    ),
    agent: Type.Optional(AgentRef()),
    allowance: Type.Optional(
      AllowanceRef({
        description: 'The allowance that it is spent under: it counts toward it and all above.',
      }),
    ),
    context: Type.Optional(
      FreeObject(
        { max_bytes: MAX_CONTEXT_BYTES },
        { description: "The customer's own data: stored with the decision, never assessed." },
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

/** The body of `POST /v1/decisions` after validation and text normalisation. Everything in it is untrusted. */
export interface SpendRequest extends Static<typeof DecisionRequest> {}

const remedy = <const T extends string, More extends TProperties>(type: T, more: More) =>
  Fields({
    type: Type.Literal(type),
    ...more,
    clears: Type.Array(OneOf(REASON_CODES), { description: 'Reasons that would no longer apply.' }),
    then: OneOf(DECISIONS, { description: 'The decision after this change, if nothing else changed.' }),
  });

const RemedyBody = Type.Union(
  [
    remedy('REDUCE_AMOUNT', {
      max_amount_minor: AmountMinor({
        description:
          'The largest amount that would pass, unless the same amount was requested shortly before.',
      }),
    }),
    remedy('RETRY_AT', {
      at: Timestamp({
        description: 'The earliest time that would work, if nothing is spent in the meantime.',
      }),
    }),
    remedy('USE_CURRENCY', {
      currency: Type.String({
        description: 'The currency to use, with the same number of minor units.',
        examples: ['EUR'],
      }),
    }),
    remedy('CHOOSE_OTHER_MERCHANT', {}),
    remedy('WAIT_FOR_REVIEW', {
      expires_at: Nullable(Timestamp({ description: 'Null if the review never expires.' })),
    }),
    remedy('REQUEST_ALLOWANCE', {
      amount_minor: AmountMinor({ description: 'An allowance of exactly this amount would be enough.' }),
    }),
    remedy('ASK_OPERATOR', {}),
  ],
  {
    $id: 'Remedy',
    description:
      'What the caller can do about a decision other than ALLOW. REDUCE_AMOUNT, RETRY_AT, USE_CURRENCY, CHOOSE_OTHER_MERCHANT and REQUEST_ALLOWANCE are given only if that single change turns a DENY into something better, or RETRY_AT turns a REVIEW into ALLOW; ASK_OPERATOR only if nothing else helps. A duplicate spend gets no smaller amount.',
  },
);

const Money = (description: string) => LimitMinor({ description });

const Observed = Type.Union([Type.String(), Type.Integer(), Type.Null()]);

/**
 * A remedy for a decision other than ALLOW: the reasons that it clears, and the decision if nothing else changed. All
 * but the last two alone take a DENY away.
 */
export type Remedy = Static<typeof RemedyBody>;

const StageFindingBody = Fields(
  {
    stage: OneOf(STAGES),
    name: Type.Optional(
      Type.String({
        description: 'The limit that the result is about, if the stage checks several.',
      }),
    ),
    outcome: OneOf(STAGE_OUTCOMES),
    reason_code: Nullable(OneOf(REASON_CODES)),
    observed: Observed,
    limit: Observed,
    detail: Type.String(),
  },
  { $id: 'StageFinding' },
);

/** An entry of `policy_trace`: the result of one stage. Amounts are minor units of the request's currency. */
export interface StageFinding extends Static<typeof StageFindingBody> {}

const ASSESSMENT = {
  assessment: OneOf(PURPOSE_ASSESSMENTS),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  method: Type.String({
    description: "The assessor, with `+model/…` if a model's opinion counted.",
    examples: ['built-in/1', 'built-in/1+model/judge-1'],
  }),
  rationale: Type.String(),
  evidence: Type.Array(
    Fields({ field: Type.String(), text: Type.String(), effect: OneOf(EVIDENCE_EFFECTS) }),
  ),
};

/** A judgement of whether a spend fits the purpose, with its evidence. */
export interface Assessment extends Static<ReturnType<typeof Fields<typeof ASSESSMENT>>> {}

const AssessmentBody = Fields(
  {
    ...ASSESSMENT,
    questions: Type.Optional(
      Type.Array(QuestionBody, {
        description:
          'What the spend raised, settled questions included; omitted by decisions made before questions.',
      }),
    ),
  },
  { $id: 'PurposeAssessment' },
);

/** The judgement of a decision, with the questions that it asked. */
export interface DecisionPurpose extends Static<typeof AssessmentBody> {}

const ReservationBody = Fields(
  {
    reservation_id: Nullable(Id('reservation')),
    status: OneOf(RESERVATION_STATUSES),
    amount_minor: Money('The amount held, or spent and not refunded, or held until its release.'),
    currency: Type.String(),
    period: Type.String({
      pattern: '^\\d{4}-\\d{2}$',
      examples: ['2026-11'],
      description: 'The calendar month (UTC).',
    }),
    expires_at: Nullable(Timestamp({ description: 'Null if the hold stays until it is settled.' })),
    budget: Fields({
      limit_minor: Nullable(Money('The monthly budget; null if there is none.')),
      held_minor: Money('Held this month, including this hold.'),
      committed_minor: Money('Spent this month.'),
      remaining_minor: Nullable(Money('The remaining amount; null if no budget is set.')),
    }),
    limits: Type.Optional(
      Type.Array(CountedLimitBody, {
        description:
          'The limits over time that the decision counts toward, with their usage after it; omitted if there are none.',
      }),
    ),
  },
  { $id: 'Reservation' },
);

/** The money held for a decision against its agent's month. Amounts are minor units of `currency`. */
export interface Reservation extends Omit<Static<typeof ReservationBody>, 'limits'> {
  limits?: CountedLimit[];
}

const ObservedBody = Fields(
  {
    rail_id: Id('rail'),
    authorization: Type.String({
      description: "The rail's own name of the authorization, or of a capture without one.",
      examples: ['iauth_1CmMk2IyNTgGDVfzFKlCMg0d'],
    }),
    occurred_at: Timestamp(),
  },
  { $id: 'ObservedAuthorization' },
);

/** A decision as the API answers it. */
export const DecisionBody = Fields(
  {
    decision_id: Id('decision'),
    decision: OneOf(DECISIONS, { description: 'The original decision; never changes.' }),
    effective_decision: OneOf(DECISIONS, { description: 'The decision in effect: always ALLOW in SHADOW.' }),
    review_state: Nullable(OneOf(REVIEW_STATES)),
    reason_code: OneOf(REASON_CODES, { description: 'The first of `reason_codes`.' }),
    reason_codes: Type.Array(OneOf(REASON_CODES), {
      description: 'All reasons, by severity, then by stage.',
    }),
    requested_amount_minor: AmountMinor(),
    authorized_amount_minor: Money(
      '0 on DENY and on a pending REVIEW; less than requested if the amount was capped.',
    ),
    currency: Type.String({ examples: ['EUR'] }),
    mode: OneOf(MODES),
    observed: Type.Optional(ObservedBody),
    explanation: Type.String({
      description: 'One or two sentences for people.',
      examples: ['Requested USD 120.00, over the per-transaction limit of USD 100.00.'],
    }),
    policy_trace: Type.Array(StageFindingBody, {
      description: 'Every stage in order; a stage that the authority does not use may be omitted.',
    }),
    remedies: Type.Optional(
      Type.Array(RemedyBody, {
        description:
          'What the caller can do about it; empty on ALLOW. Absent from decisions made before remedies were introduced.',
      }),
    ),
    purpose: AssessmentBody,
    authority_version: Nullable(Type.Integer({ minimum: 1 })),
    authority_hash: Nullable(Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })),
    directory_version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "Version of the agent's merchant list when the decision was made; omitted if nothing was ever listed.",
      }),
    ),
    review_tier: Type.Optional(ReviewTierBody),
    review_policy_version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Version of the review policy that applied to a REVIEW in ENFORCE when the decision was made; omitted if there was none.',
      }),
    ),
    lease: Type.Optional(
      Type.Literal(true, {
        description:
          'Money for model calls that a gateway leases in advance under `model_usage`; omitted for every other spend.',
      }),
    ),
    reservation: ReservationBody,
    capability: Nullable(CapabilityBody),
    agent: Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) }),
    action: ActionBody,
    task: Nullable(Type.String()),
    trace: Nullable(Type.Array(TraceStepBody)),
    limitable: Type.Boolean(),
    min_amount_minor: Nullable(AmountMinor()),
    standing_approval: Type.Optional(StandingApprovalBody),
    allowance: Type.Optional(DecisionAllowanceBody),
    context: Nullable(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }))),
    review: Nullable(ReviewBody),
    review_progress: Type.Optional(ReviewProgressBody),
    label: Nullable(LabelBody),
    outcome_state: OneOf(OUTCOME_STATES),
    verified: Type.Boolean({
      description: 'True if the whole outcome, refunds included, was reported by the payment rail.',
    }),
    created_at: Timestamp(),
    requested_by: Fields({
      key_id: Type.String({
        pattern: '^(key|rail)_[0-9A-HJKMNP-TV-Z]{26}$',
        description: 'The key that asked; of an observed authorization, the rail.',
        examples: ['key_01KAJ5F0V8Z3M2Q9X7T4R6N1BD'],
      }),
      principal_id: Nullable(Type.String()),
    }),
    request_id: Type.Optional(
      Type.String({ description: 'The `x-request-id` of the request that made it.' }),
    ),
  },
  { $id: 'Decision' },
);

/** A decision as the API returns it, without its capability's token. Issued remedies never change. */
export interface Decision
  extends Omit<Static<typeof DecisionBody>, 'remedies' | 'reservation' | 'capability'> {
  reservation: Reservation;
  remedies?: readonly Remedy[];
  capability: Capability | null;
}
