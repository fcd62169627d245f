import type pg from 'pg';
import Type, { type Static, type TProperties } from 'typebox';
import { AGENT_STATUSES, MODES } from '../domain/agents.ts';
import { PURPOSE_ASSESSMENTS } from '../domain/assessment.ts';
import { DECISIONS, OUTCOME_STATES, REASON_CODES } from '../domain/decisions.ts';
import { LABELS } from '../domain/labels.ts';
import { ApiError, invalidField } from '../errors.ts';
import type { Call, Route } from '../http/route.ts';
import { AgentRef, Fields, Id, LimitMinor, Nullable, OneOf, QueryBound, Timestamp } from '../http/schemas.ts';
import { MAX_EXAMPLES } from '../reports/counters.ts';
import { loadReportSources, MAX_MERCHANTS, type ReportSources } from '../reports/read-shadow-report.ts';
import { BLOCKER_CODES, blockersOf } from '../reports/readiness.ts';
import { type ShadowSums, STOPS, sumCounters } from '../reports/shadow-report.ts';
import { getAgent } from '../storage/agents.ts';
import type { Queryable } from '../storage/database.ts';
import { readClock } from '../storage/workspaces.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const MAX_AGENTS = 100;

const Count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) });
const Share = (description: string) => Nullable(Type.Number({ minimum: 0, maximum: 1, description }));
const Amount = () =>
  LimitMinor({
    description: 'A sum of requested amounts; 9007199254740991 stands for itself and all above it.',
  });
const CountAmount = () => Fields({ count: Count(), amount_minor: Amount() });
const CurrencyCount = <P extends TProperties>(more: P) =>
  Fields({ ...more, currency: Type.String({ examples: ['EUR'] }), count: Count(), amount_minor: Amount() });
const Amounts = () => Type.Array(CurrencyCount({}), { description: 'By currency.' });
const Kinds = { count: Count(), allow: Count(), review: Count(), deny: Count() };
const AgentName = () => Fields({ id: Id('agent'), slug: Type.String({ examples: ['infra-bot'] }) });
const LabelCounts = () =>
  Fields({ PURPOSE_ALIGNED: Count(), PURPOSE_MISALIGNED: Count(), PURPOSE_UNCLEAR: Count() });

const ReportBody = Fields(
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
        day: Type.String({ format: 'date', examples: ['2026-11-21'] }),
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
    }),
  },
  {
    $id: 'ShadowReport',
    description:
      'Decisions made in SHADOW, by the moment of their making; reviews, labels and outcomes as they stand now.',
  },
);

const ReportQuery = Fields({
  from: Type.Optional(
    QueryBound('from', { description: `${DEFAULT_DAYS} UTC days up to \`to\` when left out.` }),
  ),
  to: Type.Optional(QueryBound('to', { description: 'The end of the present UTC day when left out.' })),
  agent: Type.Optional(AgentRef()),
});

/** The period asked for; without one, the last days up to the end of this one. */
function periodAsked(query: Static<typeof ReportQuery>, clock_ms: number): { from: string; to: string } {
  const to_ms = query.to === undefined ? (Math.floor(clock_ms / DAY_MS) + 1) * DAY_MS : Date.parse(query.to);
  const from_ms =
    query.from === undefined
      ? Math.floor((to_ms - 1) / DAY_MS) * DAY_MS - (DEFAULT_DAYS - 1) * DAY_MS
      : Date.parse(query.from);
  if (from_ms >= to_ms) {
    throw query.to === undefined
      ? invalidField('from', 'must not be after today')
      : invalidField('to', 'must be after from');
  }
  if (to_ms - from_ms > MAX_DAYS * DAY_MS) {
    throw invalidField('from', `must be at most ${MAX_DAYS} days before to`);
  }
  return { from: new Date(from_ms).toISOString(), to: new Date(to_ms).toISOString() };
}

function present(sums: ShadowSums, sources: ReportSources): Record<string, unknown> {
  const { agents, examples } = sources;
  const nameOf = (agent_id: string) => ({ id: agent_id, slug: agents.get(agent_id)?.slug as string });
  const { totals, by_reason, by_agent, by_merchant, by_day, labels, reviews, outcomes, enforced } = sums;
  return {
    totals,
    by_reason: by_reason.map(({ example_ids, ...reason }) => ({
      ...reason,
      examples: example_ids.flatMap((id) => {
        const example = examples.get(id);
        if (example === undefined) return [];
        const { agent_id, requested_amount_minor: amount_minor, ...rest } = example;
        return [{ ...rest, agent: nameOf(agent_id), amount_minor }];
      }),
    })),
    by_agent: by_agent.slice(0, MAX_AGENTS).map(({ agent_id, ...counts }) => {
      const { mode, status, authority_version } = agents.get(agent_id) ?? {};
      return { agent: nameOf(agent_id), mode, status, authority_version, ...counts };
    }),
    by_merchant,
    by_day,
    labels,
    reviews,
    outcomes,
    enforced,
  };
}

/** What SHADOW showed. `reports_db`: connections of its own, so that reports hold nothing else up. */
export function makeReportRoutes(options: { db: Queryable; reports_db: pg.Pool }): Route[] {
  const { db, reports_db } = options;
  return [
    {
      method: 'GET',
      path: '/v1/reports/shadow',
      operationId: 'getShadowReport',
      tag: 'Reports',
      summary: 'Get the shadow report',
      description:
        'What the service would have done with the spends of a period: by currency, reason, agent, merchant and day, how people reviewed and labelled it, what was spent all the same, and what speaks against ENFORCE. Exact at every moment. Periods of whole UTC days (`from=2026-11-01&to=2026-11-30`) are read fastest.',
      scopes: ['read'],
      takes_long: true,
      shares: 'reports',
      query: ReportQuery,
      responses: { 200: { description: 'The report.', schema: ReportBody } },
      errors: ['not_found'],
      handler: async (call: Call<unknown, Static<typeof ReportQuery>, unknown>) => {
        const { workspace_id } = call.caller;
        const clock_ms = await readClock(db);
        const period = periodAsked(call.query, clock_ms);
        const { agent: ref } = call.query;
        const agent = ref === undefined ? null : await getAgent(db, workspace_id, ref);
        if (agent === undefined) throw new ApiError('not_found', 'There is no such agent.');
        const agent_id = agent?.agent_id ?? null;
        const sources = await loadReportSources(reports_db, workspace_id, { agent_id, ...period });
        if (sources === undefined) throw new ApiError('not_found', 'There is no such workspace.');
        const sums = sumCounters(sources.counters, { max_merchants: MAX_MERCHANTS, agent_id });
        const blockers = blockersOf(sums, [...sources.agents.values()], sources.workspace);
        return {
          status: 200,
          body: {
            ...period,
            agent: agent === null ? null : { id: agent.agent_id, slug: agent.slug },
            generated_at: new Date(clock_ms).toISOString(),
            ...present(sums, sources),
            readiness: { ready: blockers.length === 0, blockers },
          },
        };
      },
    },
  ];
}
