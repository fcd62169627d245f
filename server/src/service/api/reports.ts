import type { Authority } from '@purser/contract/authority';
import { MAX_AGENTS } from '@purser/contract/reports';
import { CSV_TYPE } from '@purser/contract/route';
import { routes } from '@purser/contract/routes/reports';
import { MAX_CHANNELS } from '@purser/contract/values/channels';
import type { Agent } from '@purser/rules/domain/agents';
import { ApiError } from '@purser/rules/errors';
import { healthBody } from '@purser/rules/notices/channels';
import type { AssessLevels } from '@purser/rules/purpose/built-in-assessor';
import { showReading } from '@purser/rules/purpose/shown-reading';
import { csvLine } from '@purser/rules/values/csv';
import type pg from 'pg';
import { countSparedReviews } from '../../engine/directory/spared-reviews.ts';
import { countAskedQuestions } from '../../engine/reports/asked-questions.ts';
import { sumOverview } from '../../engine/reports/overview.ts';
import { loadOverviewSources } from '../../engine/reports/read-overview.ts';
import {
  loadReportSources,
  MAX_MERCHANTS,
  type ReportSources,
} from '../../engine/reports/read-shadow-report.ts';
import { blockersOf, keyMakerWarnings, type Warning } from '../../engine/reports/readiness.ts';
import {
  type CurrencyCount as CurrencyCounts,
  type KindCounts,
  type ShadowSums,
  sumCounters,
} from '../../engine/reports/shadow-report.ts';
import { countStandingAnswers, type ReportedStanding } from '../../engine/reports/standing-answers.ts';
import { getAgent } from '../../engine/storage/agents.ts';
import { loadAuthoritiesOf } from '../../engine/storage/authorities.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { listModelUsage, type ModelUsageRow } from '../../engine/storage/model-usage.ts';
import { listChannels } from '../../engine/storage/notices/channels.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { getLastVerification } from '../../engine/verification/last-verification.ts';
import { compareAttention } from '../decisions/report-attention.ts';
import { type CallOf, type Route, serve } from '../http/route.ts';
import type { Turns } from '../scheduling/turns.ts';
import { periodAsked } from './reports/report-period.ts';
import { attachment, wantsCsv } from './tables/csv-answers.ts';

/** The state of the workspace now, whatever period is asked for. */
async function stateNow(db: Queryable, workspace_id: string) {
  const all = await listChannels(db, workspace_id, { after: null, limit: MAX_CHANNELS });
  const failing_channels = all
    .map(({ channel, health }) => ({ channel, health: healthBody(channel, health) }))
    // What an administrator disabled is no failure.
    .filter(
      ({ channel, health }) =>
        health.state === 'FAILING' || (channel.disabled_reason ?? 'REQUESTED') !== 'REQUESTED',
    )
    .map(({ channel, health }) => ({ id: channel.channel_id, name: channel.name, health }));
  return { failing_channels, last_verification: await getLastVerification(db, workspace_id) };
}

/** The tables of a report as one table: a line for each row of each section and each of its currencies. */
function* csvOf(
  { from, to }: { from: string; to: string },
  sums: ShadowSums,
  standing: ReportedStanding,
  slugOf: (id: string) => string,
) {
  yield csvLine([
    'section',
    'name',
    'count',
    'allow',
    'review',
    'deny',
    'currency',
    'currency_count',
    'amount_minor',
    'from',
    'to',
    'amount_cut',
  ]);
  const lines = function* (
    section: string,
    rows: readonly (Partial<KindCounts> & { count: number; amounts: CurrencyCounts[]; name: string })[],
  ) {
    for (const { name, count, allow, review, deny, amounts } of rows) {
      for (const each of amounts.length === 0 ? [null] : amounts) {
        const money = [each?.currency, each?.count, each?.amount_minor];
        yield csvLine([section, name, count, allow, review, deny, ...money, from, to, each?.amount_cut]);
      }
    }
  };
  const { totals, by_reason, by_agent, by_merchant, by_day, outcomes, enforced } = sums;
  yield* lines('totals', [{ ...totals, name: '', amounts: totals.by_currency }]);
  yield* lines(
    'by_reason',
    by_reason.map((row) => ({ ...row, name: row.reason_code })),
  );
  yield* lines(
    'by_agent',
    by_agent.map((row) => ({ ...row, name: slugOf(row.agent_id) })),
  );
  yield* lines(
    'by_merchant',
    by_merchant.map((row) => ({ ...row, name: row.merchant })),
  );
  yield* lines(
    'by_standing_approval',
    standing.map((row) => ({ ...row, name: row.allowance.id })),
  );
  yield* lines(
    'by_day',
    by_day.map((row) => ({ ...row, name: row.day })),
  );
  yield* lines('executed_although_stopped', [{ ...outcomes.executed_although_stopped, name: '' }]);
  yield* lines('enforced', [{ ...enforced, name: '' }]);
}

function csvAnswer(
  period: { from: string; to: string },
  sums: ShadowSums,
  standing: ReportedStanding,
  { agents }: ReportSources,
) {
  const content = [...csvOf(period, sums, standing, (id) => agents.get(id)?.slug ?? id)].join('');
  return {
    status: 200 as const,
    text: { content, content_type: CSV_TYPE },
    headers: attachment('shadow-report.csv'),
  };
}

function present(sums: ShadowSums, sources: ReportSources) {
  const { agents, examples } = sources;
  const agentOf = (agent_id: string) => agents.get(agent_id) as Agent;
  const nameOf = (agent_id: string) => ({ id: agent_id, slug: agentOf(agent_id).slug });
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
      const { mode, status, authority_version } = agentOf(agent_id);
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

/** The UTC days of a period, both inclusive. */
function daysOf({ from, to }: { from: string; to: string }): { from: string; to: string } {
  return { from: from.slice(0, 10), to: new Date(Date.parse(to) - 1).toISOString().slice(0, 10) };
}

/** Sums of what the model was used for. The driver gives large numbers as texts. */
function modelUsed(rows: readonly ModelUsageRow[]) {
  const sum = (name: 'calls' | 'input_tokens' | 'cached_tokens' | 'output_tokens', of = rows) =>
    of.reduce((total, row) => total + Number(row[name]), 0);
  const currencies = [...new Set(rows.flatMap(({ currency }) => currency || []))].sort();
  return {
    calls: sum('calls'),
    input_tokens: sum('input_tokens'),
    cached_tokens: sum('cached_tokens'),
    output_tokens: sum('output_tokens'),
    costs: currencies.map((currency) => ({
      currency,
      cost_micros: rows
        .filter((row) => row.currency === currency)
        .reduce((total, { cost_micros }) => total + Number(cost_micros), 0),
    })),
    by_day: [...new Set(rows.map(({ day }) => day))].map((day) => {
      const of = rows.filter((row) => row.day === day);
      return {
        day,
        calls: sum('calls', of),
        input_tokens: sum('input_tokens', of),
        output_tokens: sum('output_tokens', of),
      };
    }),
  };
}

const MAX_SENTENCES = 20;
/** Authorities that are read for warnings; reading one takes some milliseconds. */
const MAX_READ = 20;

/** By authority, which is the same object while it is cached. */
const sentences_of = new WeakMap<Authority, string[]>();
function notUnderstood(authority: Authority): string[] {
  const known = sentences_of.get(authority);
  if (known !== undefined) return known;
  const sentences = showReading(authority).not_understood.map(({ text }) => text);
  sentences_of.set(authority, sentences);
  return sentences;
}

/** Warnings about sentences of authorities that the assessor did not understand. */
async function warningsAbout(
  db: Queryable,
  workspace_id: string,
  agents: readonly Agent[],
): Promise<Warning[]> {
  const active = agents.filter(({ status }) => status !== 'revoked').slice(0, MAX_READ);
  const authorities = await loadAuthoritiesOf(db, workspace_id, active);
  const found = active.flatMap(({ agent_id, slug }) => {
    const authority = authorities.get(agent_id);
    const sentences = authority === undefined ? [] : notUnderstood(authority);
    return sentences.length === 0 ? [] : [{ slug, sentences }];
  });
  if (found.length === 0) return [];
  return [
    {
      code: 'PURPOSE_NOT_UNDERSTOOD',
      message: 'Some sentences of the authority gave no rule and have no effect: reword them.',
      agents: found.map(({ slug }) => slug).sort(),
      sentences: found.flatMap(({ sentences }) => sentences).slice(0, MAX_SENTENCES),
    },
  ];
}

interface ReportOptions {
  db: Queryable;
  reports_db: pg.Pool;
  assessLevels: AssessLevels;
  turns: Turns;
}

/** Makes the routes for reports. `reports_db` has connections of its own, so that reports delay nothing else. */
export function makeReportRoutes({ db, reports_db, assessLevels, turns }: ReportOptions): Route[] {
  const comparing = { db: reports_db, assessLevels, turns };

  /** The scope of a report. */
  async function askedFor({
    caller,
    query,
  }: CallOf<typeof routes.getShadowReport | typeof routes.getOverview>) {
    const clock_ms = await readClock(db);
    const period = periodAsked(query, clock_ms);
    const agent = query.agent === undefined ? null : await getAgent(db, caller.workspace_id, query.agent);
    if (agent === undefined) throw new ApiError('not_found', 'No such agent.');
    const head = {
      ...period,
      agent: agent === null ? null : { id: agent.agent_id, slug: agent.slug },
      generated_at: new Date(clock_ms).toISOString(),
    };
    return { period, agent_id: agent?.agent_id ?? null, head };
  }

  return [
    serve(routes.getShadowReport, { takes_long: true, shares: 'reports' })(async (call) => {
      const { workspace_id } = call.caller;
      const { agent_id, period, head } = await askedFor(call);
      const sources = await loadReportSources(reports_db, workspace_id, { agent_id, ...period });
      if (sources === undefined) throw new ApiError('not_found', 'No such workspace.');
      const sums = sumCounters(sources.counters, { max_merchants: MAX_MERCHANTS, agent_id });
      const asked = { agent_id, ...period };
      const standing = await countStandingAnswers(reports_db, workspace_id, asked, sources.agents);
      if (wantsCsv(call.headers)) return csvAnswer(period, sums, standing, sources);
      const merchants = await countSparedReviews(reports_db, workspace_id, asked, sources.agents);
      const questions = await countAskedQuestions(reports_db, workspace_id, asked, sources.agents);
      const attention = await compareAttention(comparing, workspace_id, asked);
      const warnings: Warning[] = [
        ...(await warningsAbout(reports_db, workspace_id, [...sources.agents.values()])),
        ...keyMakerWarnings(sums.reviews),
      ];
      const blockers = blockersOf(sums, [...sources.agents.values()], sources.workspace);
      return {
        status: 200,
        body: {
          ...head,
          ...present(sums, sources),
          by_standing_approval: standing,
          questions,
          attention,
          purpose_model: modelUsed(await listModelUsage(reports_db, workspace_id, daysOf(period))),
          readiness: { ready: blockers.length === 0, blockers, warnings, merchants },
        },
      };
    }),
    serve(routes.getOverview, { takes_long: true, shares: 'reports' })(async (call) => {
      const { workspace_id } = call.caller;
      const asked = await askedFor(call);
      const { agent_id } = asked;
      const sources = await loadOverviewSources(reports_db, workspace_id, { agent_id, ...asked.period });
      const { by_agent, ...sums } = sumOverview(sources.counters, {
        max_merchants: MAX_MERCHANTS,
        agent_id,
      });
      return {
        status: 200,
        body: {
          ...asked.head,
          ...sums,
          by_agent: by_agent.slice(0, MAX_AGENTS).map(({ agent_id: id, ...counts }) => {
            const { slug, mode, status } = sources.agents.get(id) as Agent;
            return { agent: { id, slug }, mode, status, ...counts };
          }),
          pending_reviews: sources.pending_reviews,
          ...(await stateNow(reports_db, workspace_id)),
        },
      };
    }),
  ];
}
