import type { Authority } from '@purser/contract/authority';
import type { LimitStanding } from '@purser/contract/limit-standing';
import type { VelocityLimit } from '@purser/contract/velocity-limits';
import { changesIn, counterChanges } from '@purser/rules/counters/counted-in';
import { type CounterUse, countsAt, storedSlot } from '@purser/rules/counters/counters';
import { monthStanding } from '@purser/rules/counters/limit-alerts';
import { budgetsOf } from '@purser/rules/counters/shared-budgets';
import { slotAt } from '@purser/rules/counters/windows';
import type { Agent } from '@purser/rules/domain/agents';
import { budgetStatus, NOTHING_SPENT, periodOf } from '@purser/rules/domain/budget';
import { actionIn } from '@purser/rules/domain/decision-document';
import { afterExpiry, isExpired } from '@purser/rules/domain/decision-states';
import type { NamedStanding } from '@purser/rules/domain/reservations';
import { countersOfAgent, namesOfSubjects, type SpendCounter, standing } from '@purser/rules/policy/counters';
import { joinedSlots } from '@purser/rules/policy/past-spends';
import { budgetStandings } from '@purser/rules/policy/shared-budgets';
import { loadAuthoritiesOf } from '../../engine/storage/authorities.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadDueHolds } from '../../engine/storage/decision-states.ts';
import { listRecentPayees } from '../../engine/storage/decisions.ts';
import { listBudgets } from '../../engine/storage/derived/budgets.ts';
import { listCountedSince, listMostUsedSubjects } from '../../engine/storage/derived/counters.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { readBudgets } from './shared-budgets.ts';

/** The number of merchants or payees shown for a per-subject limit, most used first. */
const MAX_SUBJECTS = 20;
/** The newest decisions of the agent in which the names of subjects are found. */
const MAX_DECISIONS = 1_000;

/** How the limits over time of an agent stand now: of its month first, then those of its authority in their order. */
export async function loadAgentLimits(
  db: Queryable,
  workspace_id: string,
  agent: Agent,
): Promise<NamedStanding[]> {
  const authority = (await loadAuthoritiesOf(db, workspace_id, [agent])).get(agent.agent_id);
  if (authority === undefined) return [];
  const now_ms = await readClock(db);
  const standings = [
    ...(await monthOf(db, workspace_id, agent.agent_id, authority, now_ms)),
    ...(await velocityOf(db, workspace_id, agent.agent_id, authority, now_ms)),
    ...(await sharedBudgetsOf(db, workspace_id, authority, now_ms)),
  ];
  return withNames(db, workspace_id, agent.agent_id, standings);
}

/** A subject is folded, so it is shown by the name under which it was last asked for. */
async function withNames(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  standings: readonly LimitStanding[],
): Promise<NamedStanding[]> {
  const has_subjects = standings.some(({ subject }) => subject !== null);
  const newest = has_subjects ? await listRecentPayees(db, workspace_id, agent_id, MAX_DECISIONS) : [];
  const names = namesOfSubjects(
    newest.map(({ merchant, action_part }) => ({ merchant, payee_id: actionIn(action_part).payee_id })),
  );
  return standings.map((each) => ({
    ...each,
    subject_name: each.subject === null ? null : (names.get(each.subject) ?? null),
  }));
}

const iso = (ms: number) => new Date(ms).toISOString();

async function monthOf(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  { currency, monthly_budget_minor: limit_minor }: Authority,
  now_ms: number,
): Promise<LimitStanding[]> {
  if (limit_minor === undefined) return [];
  const of = { agent_id, period: periodOf(now_ms), currency };
  const [counter] = await listBudgets(db, workspace_id, [of]);
  return [monthStanding(budgetStatus(counter ?? NOTHING_SPENT, limit_minor), now_ms)];
}

async function velocityOf(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  authority: Authority,
  now_ms: number,
): Promise<LimitStanding[]> {
  const { velocity_limits = [] } = authority;
  const of_agent = countersOfAgent(authority, agent_id);
  const counterOf = ({ name }: VelocityLimit) => of_agent.get(name) as SpendCounter;
  const wanted = velocity_limits.map((limit) => ({
    counter_id: counterOf(limit).counter_id,
    by_count: limit.limit_amount_minor === undefined,
  }));
  const page = { now: iso(now_ms), limit: MAX_SUBJECTS };
  const uses = new Map<string, Map<string, CounterUse>>(
    wanted.map(({ counter_id }) => [counter_id, new Map()]),
  );
  for (const { counter_id, subject, ...use } of await listMostUsedSubjects(db, workspace_id, wanted, page)) {
    uses.get(counter_id)?.set(subject, use);
  }
  const cut = wanted.length === 0 ? [] : await listCountedSince(db, workspace_id, agent_id);
  // Expired holds do not count, whether the sweep has recorded their expiry or not.
  const expired = wanted.length === 0 ? [] : await loadDueHolds(db, [{ workspace_id, agent_id }]);
  for (const { state, counted } of expired.filter((each) => isExpired(each.state, now_ms))) {
    const after = afterExpiry(state);
    const joined = counted === null ? [] : joinedSlots(counted.decision, counted.joining);
    const rows = [counterChanges(state, after, page.now), changesIn(joined, state, after, page.now)];
    for (const row of rows.flat()) {
      const use = uses.get(row.counter_id)?.get(row.subject);
      if (use === undefined || !countsAt(storedSlot(row), now_ms)) continue;
      use.count += row.count;
      use.amount_minor += row.held_minor;
    }
  }
  return velocity_limits.flatMap((limit) => {
    const { counter_id, window } = counterOf(limit);
    const used = uses.get(counter_id) as Map<string, CounterUse>;
    const { per = 'AGENT' } = limit;
    if (per === 'AGENT' && used.size === 0) used.set('', { count: 0, amount_minor: 0 });
    const { starts_ms, ends_ms } =
      window.type === 'ROLLING'
        ? { starts_ms: now_ms - window.window_seconds * 1000, ends_ms: now_ms }
        : slotAt(window, now_ms);
    const shown = { type: window.type, starts_at: iso(starts_ms), ends_at: iso(ends_ms) };
    const counted_since = sinceOf(cut, counter_id, starts_ms);
    return [...used].map(([subject, use]) => {
      const { counter_id: _, ...stands } = standing({ counter_id, subject }, limit, use, shown);
      return { ...stands, counted_since };
    });
  });
}

async function sharedBudgetsOf(
  db: Queryable,
  workspace_id: string,
  authority: Authority,
  now_ms: number,
): Promise<LimitStanding[]> {
  if (authority.budgets === undefined) return [];
  const all = await readBudgets(db, workspace_id);
  const named = new Set(budgetsOf(authority.budgets, all).map(({ budget_id }) => budget_id));
  const shown = all.filter(({ budget_id }) => named.has(budget_id));
  return budgetStandings(shown, now_ms).map(({ counter_id, held_minor, ...limit }) => limit);
}

/** Since when a counter counts that does not know all of its window; null where it does. */
function sinceOf(
  cut: Awaited<ReturnType<typeof listCountedSince>>,
  counter_id: string,
  starts_ms: number,
): string | null {
  const found = cut.find(({ counter_ids }) => counter_ids.includes(counter_id));
  return found !== undefined && Date.parse(found.counted_since) > starts_ms ? found.counted_since : null;
}
