import { type TProperties, Type } from 'typebox';
import { AttentionBody } from './purpose/attention.ts';
import { AboutBody, QUESTION_KINDS } from './purpose/questions.ts';
import { REASON_CODES } from './reasons.ts';
import { HealthBody } from './routes/notices/channels.ts';
import { AgentRef, Fields, Id, LimitMinor, Nullable, OneOf, QueryBound, Timestamp } from './schema.ts';
import { AGENT_STATUSES, MODES } from './values/agents.ts';
import { MAX_CHANNELS } from './values/channels.ts';
import { DECISIONS, LABELS, OUTCOME_STATES, PURPOSE_ASSESSMENTS } from './values/decisions.ts';
import {
  BLOCKER_CODES,
  MAX_EXAMPLES,
  MAX_MERCHANTS,
  MAX_QUESTIONS,
  MAX_SPARED_MERCHANTS,
  MAX_STANDING_APPROVALS,
  STOPS,
  WARNING_CODES,
} from './values/reports.ts';

/** Length of the period if `from` is omitted. */
export const DEFAULT_DAYS = 30;

/** Agents in a report. */
export const MAX_AGENTS = 100;

const Day = () => Type.String({ format: 'date', examples: ['2026-11-21'] });

const Count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) });

const Share = (description: string) => Nullable(Type.Number({ minimum: 0, maximum: 1, description }));

const Amount = () =>
  LimitMinor({
    description: 'A sum of requested amounts, at most 9007199254740991: see `amount_cut`.',
  });

const Summed = () => ({
  amount_minor: Amount(),
  amount_cut: Type.Optional(
    Type.Literal(true, {
      description: 'Set if the sum exceeds `amount_minor`, which was capped; otherwise omitted.',
    }),
  ),
});

const CountAmount = () => Fields({ count: Count(), ...Summed() });

export const CurrencyCount = <P extends TProperties>(more: P) =>
  Fields({ ...more, currency: Type.String({ examples: ['EUR'] }), count: Count(), ...Summed() });

const Amounts = () => Type.Array(CurrencyCount({}), { description: 'By currency.' });

const Kinds = { count: Count(), allow: Count(), review: Count(), deny: Count() };

const AgentName = () => Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) });

const LabelCounts = () =>
  Fields({ PURPOSE_ALIGNED: Count(), PURPOSE_MISALIGNED: Count(), PURPOSE_UNCLEAR: Count() });

/** The shadow report. */
export const ReportBody = Fields(
  {
    from: Timestamp({ description: 'Start: decisions made at or after this time …' }),
    to: Timestamp({ description: '… and before this time.' }),
    agent: Nullable(AgentName()),
    generated_at: Timestamp(),
    totals: Fields({
      ...Kinds,
      by_currency: Type.Array(
        CurrencyCount({ allow: CountAmount(), review: CountAmount(), deny: CountAmount() }),
      ),
    }),
    by_reason: Type.Array(
      Fields({
        reason_code: OneOf(REASON_CODES),
        count: Count('Decisions with this reason among their `reason_codes`.'),
        first_count: Count('Decisions with this reason as `reason_code`.'),
        amounts: Amounts(),
        examples: Type.Array(
          Fields({
            decision_id: Id('decision'),
            agent: AgentName(),
            decision: OneOf(DECISIONS),
            merchant: Type.String(),
            amount_minor: LimitMinor({ description: 'As requested.' }),
            currency: Type.String(),
            created_at: Timestamp(),
          }),
          { maxItems: MAX_EXAMPLES, description: 'The newest, newest first.' },
        ),
      }),
      { description: 'Most decisions first.' },
    ),
    by_agent: Type.Array(
      Fields({
        agent: AgentName(),
        mode: OneOf(MODES, { description: 'Its current value.' }),
        status: OneOf(AGENT_STATUSES),
        authority_version: Nullable(Type.Integer({ minimum: 1 })),
        ...Kinds,
        amounts: Amounts(),
      }),
      { maxItems: MAX_AGENTS, description: `Most decisions first, at most ${MAX_AGENTS}.` },
    ),
    by_merchant: Type.Array(Fields({ merchant: Type.String(), ...Kinds, amounts: Amounts() }), {
      maxItems: MAX_MERCHANTS,
      description: `Names as given by the agents; most decisions first, at most ${MAX_MERCHANTS}.`,
    }),
    by_standing_approval: Type.Array(
      Fields({
        allowance: Fields({ id: Id('allowance'), name: Nullable(Type.String()) }),
        agent: AgentName(),
        count: Count('Decisions that would have been a review without it.'),
        amounts: Amounts(),
      }),
      {
        maxItems: MAX_STANDING_APPROVALS,
        description: `Standing approvals that answered reviews ahead; most decisions first, at most ${MAX_STANDING_APPROVALS}.`,
      },
    ),
    by_day: Type.Array(
      Fields({
        day: Day(),
        ...Kinds,
        amounts: Amounts(),
      }),
      { description: 'UTC days with decisions, oldest first.' },
    ),
    labels: Fields({
      labeled: Count('Decisions with a current label; the newest one counts.'),
      coverage: Share('The labelled share of the decisions.'),
      matrix: Fields(
        { PURPOSE_ALIGNED: LabelCounts(), PURPOSE_MISALIGNED: LabelCounts(), PURPOSE_UNCLEAR: LabelCounts() },
        {
          description: `Assessments by the service (${PURPOSE_ASSESSMENTS.length} rows) against labels by people (${LABELS.length} columns).`,
        },
      ),
      precision: Share(
        'Of the decisions assessed as misaligned and labelled aligned or misaligned, the share labelled misaligned.',
      ),
      recall: Share('Of the decisions labelled misaligned, the share assessed as misaligned.'),
      misaligned_allowed: Count('Decisions labelled misaligned that would have been allowed.'),
    }),
    reviews: Fields({
      count: Count('Decisions that would have needed a review. In SHADOW a review never expires.'),
      pending: Count(),
      allowed: Count(),
      denied: Count(),
      by_key_maker: Count(
        'Current reviews by the person who created the requesting key, directly or through other keys.',
      ),
      median_seconds: Nullable(
        Type.Number({
          minimum: 0,
          description: 'Time from the decision to its first review, in whole seconds.',
        }),
      ),
    }),
    outcomes: Fields({
      by_state: Type.Array(Fields({ outcome_state: OneOf(OUTCOME_STATES), count: Count() }), {
        description: 'Decisions with a reported outcome.',
      }),
      executed_although_stopped: Fields(
        {
          count: Count(),
          amounts: Amounts(),
          by_stop: Type.Array(CurrencyCount({ stop: OneOf(STOPS) })),
          by_state: Type.Array(CurrencyCount({ outcome_state: OneOf(OUTCOME_STATES) })),
        },
        {
          description:
            'Spends executed although they would have been denied, or needed a review that did not allow them. Amounts are as executed, before refunds.',
        },
      ),
    }),
    questions: Fields(
      {
        count: Count('Questions that were asked, each once.'),
        answered: Count('Those that have an answer now.'),
        decisions: Count('Decisions that asked at least one.'),
        top: Type.Array(
          Fields({
            agent: AgentName(),
            question_id: Id('question'),
            kind: OneOf(QUESTION_KINDS),
            merchant: Type.String(),
            about: Nullable(AboutBody),
            sentence: Type.String({ description: 'The question to a reviewer.' }),
            asked: Count('Decisions of the period that asked it.'),
          }),
          { maxItems: MAX_QUESTIONS, description: 'Open questions to answer first, most asked first.' },
        ),
        spared_share: Share(
          'Of the decisions that asked anything, the share that asks nothing more once these are answered.',
        ),
        message: Type.String({
          examples: [
            '38 questions in 14 days; answer these 12, and 91 % of what was asked would not be asked again.',
          ],
        }),
      },
      {
        description:
          'The questions of the decisions, without those that were settled before; at most the newest 50,000 records.',
      },
    ),
    attention: AttentionBody,
    enforced: Fields(
      { count: Count(), amounts: Amounts() },
      {
        description: 'Decisions made in ENFORCE in this period; counted only here.',
      },
    ),
    purpose_model: Fields(
      {
        calls: Count(),
        input_tokens: Count('Includes cached tokens.'),
        cached_tokens: Count(),
        output_tokens: Count(),
        costs: Type.Array(
          Fields({
            currency: Type.String({ examples: ['USD'] }),
            cost_micros: Count('Millionths of a unit of the currency.'),
          }),
          { description: 'At the configured prices; empty if none are configured.' },
        ),
        by_day: Type.Array(
          Fields({
            day: Type.String({ format: 'date' }),
            calls: Count(),
            input_tokens: Count(),
            output_tokens: Count(),
          }),
          { description: 'UTC days with calls, oldest first.' },
        ),
      },
      {
        description:
          'Usage of the purpose model on the days of the period, in both modes and for all agents; a few seconds old.',
      },
    ),
    readiness: Fields({
      ready: Type.Boolean({ description: 'True if nothing speaks against ENFORCE.' }),
      blockers: Type.Array(
        Fields({
          code: OneOf(BLOCKER_CODES),
          message: Type.String(),
          observed: Nullable(Type.Number({ description: 'The measured value; shares are 0 to 1.' })),
          bound: Nullable(Type.Number({ description: 'The minimum or maximum it should have.' })),
          agents: Type.Array(Type.String(), { description: 'Slugs of the agents concerned.' }),
        }),
      ),
      warnings: Type.Array(
        Fields({
          code: OneOf(WARNING_CODES),
          message: Type.String(),
          agents: Type.Array(Type.String(), { description: 'Slugs of the agents concerned.' }),
          sentences: Type.Array(Type.String(), { maxItems: 20, description: 'Of their authorities.' }),
        }),
        { description: 'Findings worth a look before ENFORCE; none of them speaks against it.' },
      ),
      merchants: Type.Array(
        Fields({
          agent: Type.String({ description: 'Its slug.' }),
          merchants: Type.Array(Type.String(), {
            maxItems: MAX_SPARED_MERCHANTS,
            description:
              'Unlisted merchants where nobody rejected a spend, by the number of reviews that listing would save.',
          }),
          spared: Count('Reviews there caused only by an unclear purpose.'),
          reviews: Count("The agent's reviews in the period; at most the newest 10,000."),
          message: Type.String({
            examples: ['Confirming these 12 merchants would save 214 of 260 reviews.'],
          }),
        }),
        { description: 'The reviews that listing merchants would save, for each agent with any.' },
      ),
    }),
  },
  {
    $id: 'ShadowReport',
    description: 'Decisions made in SHADOW, by creation time; reviews, labels and outcomes are current.',
  },
);

const Modes = { shadow: Count('Made in SHADOW.'), enforce: Count('Made in ENFORCE.') };

/** The overview of both modes. */
export const OverviewBody = Fields(
  {
    from: Timestamp({ description: 'Start: decisions made at or after this time …' }),
    to: Timestamp({ description: '… and before this time.' }),
    agent: Nullable(AgentName()),
    generated_at: Timestamp(),
    by_day: Type.Array(
      Fields({
        day: Day(),
        ...Kinds,
        shadow: Fields(Kinds),
        enforce: Fields(Kinds),
        amounts: Amounts(),
      }),
      { description: 'UTC days with decisions, oldest first.' },
    ),
    by_decision: Type.Array(
      Fields({ decision: OneOf(DECISIONS), count: Count(), ...Modes, amounts: Amounts() }),
    ),
    by_reason: Type.Array(
      Fields({
        reason_code: OneOf(REASON_CODES),
        count: Count('Decisions with this reason among their `reason_codes`.'),
        first_count: Count('Decisions with this reason as `reason_code`.'),
        ...Modes,
        amounts: Amounts(),
      }),
      { description: 'Most decisions first.' },
    ),
    by_agent: Type.Array(
      Fields({
        agent: AgentName(),
        mode: OneOf(MODES, { description: 'Its current value.' }),
        status: OneOf(AGENT_STATUSES),
        ...Kinds,
        ...Modes,
        amounts: Amounts(),
        by_day: Type.Array(Fields({ day: Day(), count: Count() }), {
          description: 'UTC days with decisions, oldest first.',
        }),
      }),
      { maxItems: MAX_AGENTS, description: `Most decisions first, at most ${MAX_AGENTS}.` },
    ),
    by_merchant: Type.Array(Fields({ merchant: Type.String(), ...Kinds, ...Modes, amounts: Amounts() }), {
      maxItems: MAX_MERCHANTS,
      description: `Names as given by the agents; most decisions first, at most ${MAX_MERCHANTS}.`,
    }),
    by_currency: Type.Array(
      CurrencyCount({ allow: CountAmount(), review: CountAmount(), deny: CountAmount() }),
    ),
    pending_reviews: Fields(
      {
        count: Count(),
        amounts: Amounts(),
        next_expires_at: Nullable(
          Timestamp({ description: 'When the first of them expires; null if none does.' }),
        ),
      },
      { description: 'Reviews pending now, regardless of the period.' },
    ),
    failing_channels: Type.Array(
      Fields({
        id: Id('channel'),
        name: Type.String(),
        health: HealthBody,
      }),
      {
        maxItems: MAX_CHANNELS,
        description: 'Channels that are failing, or that the service disabled, now.',
      },
    ),
    last_verification: Nullable(
      Fields(
        {
          checked_at: Timestamp(),
          valid: Type.Boolean(),
          events_checked: Count(),
          first_break_seq: Nullable(Type.Integer({ minimum: 0 })),
        },
        {
          description:
            'Result of the last verification of the whole history, for all agents; null if there was none. It is not a proof: verify again for one.',
        },
      ),
    ),
  },
  { $id: 'Overview', description: 'Decisions of both modes, by creation time.' },
);

/** The query of both. */
export const ReportQuery = Fields({
  from: Type.Optional(
    QueryBound('from', { description: `Defaults to ${DEFAULT_DAYS} UTC days before \`to\`.` }),
  ),
  to: Type.Optional(QueryBound('to', { description: 'Defaults to the end of the current UTC day.' })),
  agent: Type.Optional(AgentRef()),
});
