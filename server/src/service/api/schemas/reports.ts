import { AGENT_STATUSES, MODES } from '@purser/rules/domain/agents';
import { PURPOSE_ASSESSMENTS } from '@purser/rules/domain/assessment';
import { DECISIONS, OUTCOME_STATES, REASON_CODES } from '@purser/rules/domain/decisions';
import { LABELS } from '@purser/rules/domain/labels';
import Type, { type TProperties } from 'typebox';
import { MAX_SPARED_MERCHANTS } from '../../../engine/directory/spared-reviews.ts';
import { MAX_EXAMPLES } from '../../../engine/reports/counters.ts';
import { MAX_MERCHANTS } from '../../../engine/reports/read-shadow-report.ts';
import { BLOCKER_CODES, WARNING_CODES } from '../../../engine/reports/readiness.ts';
import { STOPS } from '../../../engine/reports/shadow-report.ts';
import {
  AgentRef,
  Fields,
  Id,
  LimitMinor,
  Nullable,
  OneOf,
  QueryBound,
  Timestamp,
} from '../../http/schemas.ts';

/** Of the period, where `from` is left out. */
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
      description: 'Set where the sum is larger than `amount_minor`, which was cut; left out otherwise.',
    }),
  ),
});
const CountAmount = () => Fields({ count: Count(), ...Summed() });
const CurrencyCount = <P extends TProperties>(more: P) =>
  Fields({ ...more, currency: Type.String({ examples: ['EUR'] }), count: Count(), ...Summed() });
const Amounts = () => Type.Array(CurrencyCount({}), { description: 'By currency.' });
const Kinds = { count: Count(), allow: Count(), review: Count(), deny: Count() };
const AgentName = () => Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) });
const LabelCounts = () =>
  Fields({ PURPOSE_ALIGNED: Count(), PURPOSE_MISALIGNED: Count(), PURPOSE_UNCLEAR: Count() });

/** The shadow report. */
export const ReportBody = Fields(
  {
    from: Timestamp({ description: 'Decisions made at or after this moment …' }),
    to: Timestamp({ description: '… and before this one.' }),
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
        count: Count('Decisions with it among their `reason_codes`.'),
        first_count: Count('Decisions whose `reason_code` it is.'),
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
        mode: OneOf(MODES, { description: 'As it is now.' }),
        status: OneOf(AGENT_STATUSES),
        authority_version: Nullable(Type.Integer({ minimum: 1 })),
        ...Kinds,
        amounts: Amounts(),
      }),
      { maxItems: MAX_AGENTS, description: `Most decisions first, at most ${MAX_AGENTS}.` },
    ),
    by_merchant: Type.Array(Fields({ merchant: Type.String(), ...Kinds, amounts: Amounts() }), {
      maxItems: MAX_MERCHANTS,
      description: `As the agents named them; most decisions first, at most ${MAX_MERCHANTS}.`,
    }),
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
          description: `What the service assessed (${PURPOSE_ASSESSMENTS.length} rows) → the label that people gave (${LABELS.length} columns).`,
        },
      ),
      precision: Share(
        'Of those assessed as misaligned and labelled aligned or misaligned: the share labelled misaligned.',
      ),
      recall: Share('Of those labelled misaligned: the share assessed as misaligned.'),
      misaligned_allowed: Count('Labelled misaligned, and yet it would have been allowed.'),
    }),
    reviews: Fields({
      count: Count('Decisions that would have gone to a person. In SHADOW a review never runs out.'),
      pending: Count(),
      allowed: Count(),
      denied: Count(),
      by_key_maker: Count(
        'Reviews that stand, and were given by the person who made the requesting key, or is at the root of its making.',
      ),
      median_seconds: Nullable(
        Type.Number({ minimum: 0, description: 'From the decision to its first review, by whole seconds.' }),
      ),
    }),
    outcomes: Fields({
      by_state: Type.Array(Fields({ outcome_state: OneOf(OUTCOME_STATES), count: Count() }), {
        description: 'Decisions of which an outcome was reported.',
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
            'Executed, though it would have been denied, or sent to a person who did not allow it. Amounts are what was executed, before refunds.',
        },
      ),
    }),
    enforced: Fields(
      { count: Count(), amounts: Amounts() },
      {
        description: 'Decisions made in ENFORCE in this period: counted here and nowhere else in the report.',
      },
    ),
    purpose_model: Fields(
      {
        calls: Count(),
        input_tokens: Count('With the cached ones.'),
        cached_tokens: Count(),
        output_tokens: Count(),
        costs: Type.Array(
          Fields({
            currency: Type.String({ examples: ['USD'] }),
            cost_micros: Count('Millionths of a unit of the currency.'),
          }),
          { description: 'At the prices that were set; empty where none were.' },
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
          'What the model that judges purpose was used for, in both modes and for all agents, on the days of the period; some seconds old.',
      },
    ),
    readiness: Fields({
      ready: Type.Boolean({ description: 'Whether nothing speaks against ENFORCE.' }),
      blockers: Type.Array(
        Fields({
          code: OneOf(BLOCKER_CODES),
          message: Type.String(),
          observed: Nullable(Type.Number({ description: 'What was found; shares are 0 to 1.' })),
          bound: Nullable(Type.Number({ description: 'The least or most that it should be.' })),
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
        { description: 'What speaks for a look before ENFORCE, and against nothing.' },
      ),
      merchants: Type.Array(
        Fields({
          agent: Type.String({ description: 'Its slug.' }),
          merchants: Type.Array(Type.String(), {
            maxItems: MAX_SPARED_MERCHANTS,
            description: 'Not listed yet, and nobody found a spend there wrong; those that spare most first.',
          }),
          spared: Count('Reviews there that nothing asked for but an unclear purpose.'),
          reviews: Count("The agent's reviews in the period; of more than 10,000 the newest."),
          message: Type.String({
            examples: ['Confirming these 12 merchants would spare 214 of 260 reviews.'],
          }),
        }),
        { description: 'What listing merchants would spare people, by agent, where it would anything.' },
      ),
    }),
  },
  {
    $id: 'ShadowReport',
    description:
      'Decisions made in SHADOW, by the moment of their making; reviews, labels and outcomes as they stand now.',
  },
);

const Modes = { shadow: Count('Made in SHADOW.'), enforce: Count('Made in ENFORCE.') };
/** The overview of both modes. */
export const OverviewBody = Fields(
  {
    from: Timestamp({ description: 'Decisions made at or after this moment …' }),
    to: Timestamp({ description: '… and before this one.' }),
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
        count: Count('Decisions with it among their `reason_codes`.'),
        first_count: Count('Decisions whose `reason_code` it is.'),
        ...Modes,
        amounts: Amounts(),
      }),
      { description: 'Most decisions first.' },
    ),
    by_agent: Type.Array(
      Fields({
        agent: AgentName(),
        mode: OneOf(MODES, { description: 'As it is now.' }),
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
      description: `As the agents named them; most decisions first, at most ${MAX_MERCHANTS}.`,
    }),
    by_currency: Type.Array(
      CurrencyCount({ allow: CountAmount(), review: CountAmount(), deny: CountAmount() }),
    ),
    pending_reviews: Fields(
      {
        count: Count(),
        amounts: Amounts(),
        next_expires_at: Nullable(
          Timestamp({ description: 'When the first of them runs out; null: none does.' }),
        ),
      },
      { description: 'What waits for a person now, whenever it was asked for.' },
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
            'What the last verification of the whole history found, of all agents; null: there was none. It proves nothing: verify anew.',
        },
      ),
    ),
  },
  { $id: 'Overview', description: 'Decisions of both modes, by the moment of their making.' },
);

/** The query of both. */
export const ReportQuery = Fields({
  from: Type.Optional(
    QueryBound('from', { description: `${DEFAULT_DAYS} UTC days up to \`to\` when left out.` }),
  ),
  to: Type.Optional(QueryBound('to', { description: 'The end of the present UTC day when left out.' })),
  agent: Type.Optional(AgentRef()),
});
