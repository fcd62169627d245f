import type { CountedLimit } from '@purser/contract/limit-standing';
import { routes } from '@purser/contract/routes/reports';
import { MAX_PARTS, MAX_SHARING_AGENTS, type SPENDING_BY } from '@purser/contract/values/reports';
import { alertPercentsOf, budgetsOf } from '@purser/rules/counters/shared-budgets';
import type { Agent } from '@purser/rules/domain/agents';
import { periodOf } from '@purser/rules/domain/budget';
import { ApiError } from '@purser/rules/errors';
import { budgetStandings } from '@purser/rules/policy/shared-budgets';
import { firstIdAt } from '@purser/rules/values/ids';
import type pg from 'pg';
import { lastDocuments } from '../../../engine/reports/last-documents.ts';
import { loadSpending, type SpendingCounters } from '../../../engine/reports/read-spending.ts';
import { type SpendingSeries, sumSpending } from '../../../engine/reports/spending.ts';
import { getAgent, listAgents, loadAgents } from '../../../engine/storage/agents.ts';
import { loadAuthoritiesOf } from '../../../engine/storage/authorities.ts';
import type { Queryable } from '../../../engine/storage/database.ts';
import { readClock } from '../../../engine/storage/workspaces.ts';
import { loadAgentStandings } from '../../decisions/agent-standings.ts';
import { readBudgets } from '../../decisions/shared-budgets.ts';
import { type Route, serve } from '../../http/route.ts';
import { periodAsked } from './report-period.ts';

const DAY_MS = 86_400_000;
/** Days that a curve has a point for, spread over its period. */
const MAX_POINTS = 31;
/** Agents whose decisions are looked at for a shared budget, the newest. */
const MAX_SHARING = 20;

/** A budget in its present period. */
interface Budget {
  name: string;
  currency: string;
  starts_ms: number;
  ends_ms: number;
  limit_minor: number;
  used_minor: number;
  percents: readonly number[];
  /** The agents that spend from it. */
  agent_ids: readonly string[];
  /** The amount that a decision's document has as remaining after the decision; undefined where it says nothing of this period. */
  remainingIn(document: ReservationDocument): number | undefined;
}

/** The part of a decision's document that says how budgets stood. */
interface ReservationDocument {
  decision_id: string;
  created_at: string;
  reservation: {
    period: string;
    currency: string;
    budget: { remaining_minor: number | null };
    limits?: CountedLimit[];
  };
}

async function monthlyBudget(
  db: Queryable,
  workspace_id: string,
  agent: Agent,
  now_ms: number,
): Promise<Budget | undefined> {
  const [standing] = await loadAgentStandings(db, workspace_id, [agent]);
  const budget = standing?.budgets.find(({ limit_minor }) => limit_minor !== null);
  if (budget === undefined || budget.limit_minor === null) return undefined;
  const { currency, limit_minor, held_minor, committed_minor } = budget;
  const period = periodOf(now_ms);
  const starts_ms = Date.parse(`${period}-01T00:00:00Z`);
  return {
    name: agent.slug,
    currency,
    starts_ms,
    ends_ms: new Date(starts_ms).setUTCMonth(new Date(starts_ms).getUTCMonth() + 1),
    limit_minor,
    used_minor: held_minor + committed_minor,
    percents: [],
    agent_ids: [agent.agent_id],
    remainingIn({ reservation }) {
      if (reservation.period !== period || reservation.currency !== currency) return undefined;
      return reservation.budget.remaining_minor ?? undefined;
    },
  };
}

/** The shared budgets, with those above them, that agents spend from by their authority of now; of the newest agents. */
async function sharedBudgetsOf(
  db: Queryable,
  workspace_id: string,
  all: Awaited<ReturnType<typeof readBudgets>>,
) {
  const agents = await listAgents(db, workspace_id, { after: null, limit: MAX_SHARING_AGENTS });
  const authorities = await loadAuthoritiesOf(db, workspace_id, agents);
  return new Map(
    agents.map(
      ({ agent_id }) => [agent_id, budgetsOf(authorities.get(agent_id)?.budgets ?? [], all)] as const,
    ),
  );
}

/** Counters by agent as counters by shared budget: each in the budgets of its agent that have its currency. */
const byBudget =
  (sharing: Awaited<ReturnType<typeof sharedBudgetsOf>>) =>
  ({ all, parts }: SpendingCounters): SpendingCounters => ({
    all,
    parts: parts.flatMap((each) =>
      (sharing.get(each.name) ?? [])
        .filter(({ currency }) => currency === each.currency)
        .map(({ slug }) => ({ ...each, name: slug })),
    ),
  });

async function sharedBudget(
  db: Queryable,
  workspace_id: string,
  ref: string,
  now_ms: number,
): Promise<Budget | undefined> {
  const all = await readBudgets(db, workspace_id);
  const budget = all.find(({ budget_id, slug }) => budget_id === ref || slug === ref);
  if (budget === undefined) return undefined;
  const [standing] = budgetStandings([budget], now_ms);
  const { window, used_minor } = standing as NonNullable<typeof standing>;
  const sharing = await sharedBudgetsOf(db, workspace_id, all);
  const is_total = window.type === 'TOTAL';
  return {
    name: budget.slug,
    currency: budget.currency,
    starts_ms: Date.parse(is_total ? budget.created_at : window.starts_at),
    ends_ms: Date.parse(window.ends_at),
    limit_minor: budget.limit_minor,
    used_minor: used_minor,
    percents: alertPercentsOf(budget),
    agent_ids: [...sharing]
      .filter(([, budgets]) => budgets.some(({ budget_id }) => budget_id === budget.budget_id))
      .slice(0, MAX_SHARING)
      .map(([agent_id]) => agent_id),
    remainingIn({ reservation }) {
      const counted = reservation.limits?.find(({ counter_id }) => counter_id === budget.budget_id);
      if (counted === undefined || (!is_total && counted.window.starts_at !== window.starts_at))
        return undefined;
      return counted.remaining_minor ?? undefined;
    },
  };
}

/** Remainders after the last decision of each day, oldest first. */
async function pointsOf(db: Queryable, workspace_id: string, budget: Budget, now_ms: number) {
  const { starts_ms, agent_ids } = budget;
  const days = Math.max(1, Math.ceil((now_ms - starts_ms) / DAY_MS));
  const step_ms = Math.ceil(days / MAX_POINTS) * DAY_MS;
  const ends: string[] = [];
  for (let end_ms = starts_ms + step_ms; end_ms < now_ms + step_ms; end_ms += step_ms)
    ends.push(firstIdAt('decision', Math.min(end_ms, now_ms + 1)));
  const found = await lastDocuments(db, workspace_id, {
    agent_ids,
    after: firstIdAt('decision', starts_ms),
    ends,
  });
  const points = new Map<string, { at: string; remaining_minor: number }>();
  for (const { end, document } of found) {
    const decision = JSON.parse(document) as ReservationDocument;
    const remaining_minor = budget.remainingIn(decision);
    const known = points.get(end);
    if (remaining_minor === undefined || (known !== undefined && known.at >= decision.created_at)) continue;
    points.set(end, { at: decision.created_at, remaining_minor: Math.max(0, remaining_minor) });
  }
  const by_time = [...points.values()].sort((a, b) => (a.at < b.at ? -1 : 1));
  // The last of several days is the same where a day had none.
  return by_time.filter(({ at }, i) => at !== by_time[i - 1]?.at);
}

async function burnDownOf(db: Queryable, workspace_id: string, budget: Budget, now_ms: number) {
  const { name, currency, starts_ms, ends_ms, limit_minor, used_minor, percents } = budget;
  const remaining_minor = Math.max(0, limit_minor - used_minor);
  const up_ms = used_minor === 0 ? ends_ms : starts_ms + ((now_ms - starts_ms) * limit_minor) / used_minor;
  const at = (time_ms: number) => new Date(time_ms).toISOString();
  return {
    name,
    currency,
    starts_at: at(starts_ms),
    ends_at: at(ends_ms),
    limit_minor,
    used_minor,
    points: [
      { at: at(starts_ms), remaining_minor: limit_minor },
      ...(await pointsOf(db, workspace_id, budget, now_ms)),
      { at: at(now_ms), remaining_minor },
    ],
    used_up_at: up_ms < ends_ms ? at(up_ms) : null,
    thresholds: percents.map((percent) => Math.floor((limit_minor * (100 - percent)) / 100)),
    generated_at: at(now_ms),
  };
}

/** Loads the counters of a spending report; those by shared budget are put together from those by agent. */
async function loadDivided(
  db: pg.Pool,
  workspace_id: string,
  by: (typeof SPENDING_BY)[number],
  asked: Omit<Parameters<typeof loadSpending>[2], 'by'>,
) {
  if (by !== 'budget') return loadSpending(db, workspace_id, { ...asked, by });
  const sharing = await sharedBudgetsOf(db, workspace_id, await readBudgets(db, workspace_id));
  const names = [...sharing].filter(([, budgets]) => budgets.length > 0).map(([agent_id]) => agent_id);
  const { now, before } = await loadSpending(db, workspace_id, { ...asked, by: 'agent', names });
  return { now: byBudget(sharing)(now), before: byBudget(sharing)(before) };
}

/** Makes the routes for amounts over time. `reports_db` has connections of its own, so that reports delay nothing else. */
export function makeSpendingRoutes({ db, reports_db }: { db: Queryable; reports_db: pg.Pool }): Route[] {
  return [
    serve(routes.getSpending, { takes_long: true, shares: 'reports' })(async ({ caller, query }) => {
      const { workspace_id } = caller;
      const { by = 'agent' } = query;
      const clock_ms = await readClock(db);
      const period = periodAsked(query, clock_ms);
      const agent = query.agent === undefined ? null : await getAgent(db, workspace_id, query.agent);
      if (agent === undefined) throw new ApiError('not_found', 'No such agent.');
      const agent_id = agent?.agent_id ?? null;
      const asked = { agent_id, mode: query.mode, ...period, max_parts: MAX_PARTS };
      const { now, before } = await loadDivided(reports_db, workspace_id, by, asked);
      const { totals, parts } = sumSpending(now, before, { max_parts: MAX_PARTS });
      const ids = by === 'agent' ? [...new Set(parts.map(({ name }) => name))] : [];
      const slugs = new Map(
        (await loadAgents(reports_db, workspace_id, ids)).map((each) => [each.agent_id, each.slug]),
      );
      const named = (part: SpendingSeries & { name: string }) => ({
        ...part,
        name: slugs.get(part.name) ?? part.name,
      });
      const head = {
        ...period,
        agent: agent && { id: agent.agent_id, slug: agent.slug },
        generated_at: new Date(clock_ms).toISOString(),
        by,
      };
      return { status: 200, body: { ...head, totals, parts: parts.map(named) } };
    }),
    serve(routes.getAgentBurnDown, { shares: 'reads' })(async ({ caller: { workspace_id }, params }) => {
      const now_ms = await readClock(db);
      const agent = await getAgent(reports_db, workspace_id, params.id);
      if (agent === undefined) throw new ApiError('not_found', 'No such agent.');
      const budget = await monthlyBudget(reports_db, workspace_id, agent, now_ms);
      const data = budget === undefined ? [] : [await burnDownOf(reports_db, workspace_id, budget, now_ms)];
      return { status: 200, body: { data, next_cursor: null } };
    }),
    serve(routes.getBudgetBurnDown, { shares: 'reads' })(async ({ caller: { workspace_id }, params }) => {
      const now_ms = await readClock(db);
      const budget = await sharedBudget(reports_db, workspace_id, params.id, now_ms);
      if (budget === undefined) throw new ApiError('not_found', 'No such shared budget.');
      return { status: 200, body: await burnDownOf(reports_db, workspace_id, budget, now_ms) };
    }),
  ];
}
