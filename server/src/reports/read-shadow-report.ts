import type pg from 'pg';
import type { Agent } from '../domain/agents.ts';
import type { DecisionKind } from '../domain/decisions.ts';
import type { Workspace } from '../domain/workspace.ts';
import { ApiError } from '../errors.ts';
import { getWatermark } from '../followers/follower-rows.ts';
import { loadAgents } from '../storage/agents.ts';
import type { Client, Queryable } from '../storage/database.ts';
import { getHead } from '../storage/ledger.ts';
import { inTransaction } from '../storage/transactions.ts';
import { loadWorkspace } from '../storage/workspaces.ts';
import { firstIdAt } from '../values/ids.ts';
import { foldEvents, loadCounters, loadMerchantCounters } from './counter-rows.ts';
import {
  ALL_AGENTS,
  type CounterSheet,
  makeCounterSheet,
  newestByReason,
  type ReportCounter,
} from './counters.ts';
import { listReportFacts, loadReportEvents } from './fact-rows.ts';

const DAY_MS = 86_400_000;
/** Rows read at a time, so that memory stays flat however far the follower is behind. */
const EVENTS_AT_ONCE = 2_000;
const DECISIONS_AT_ONCE = 5_000;
/** Events after the watermark that a report aggregates itself. Only a restore or a stopped worker leaves so many. */
const MAX_TAIL_LENGTH = 250_000;
/** Merchants in a report. */
export const MAX_MERCHANTS = 20;

/** A decision as an example of a reason. */
export interface ReportExample {
  decision_id: string;
  agent_id: string;
  decision: DecisionKind;
  merchant: string;
  requested_amount_minor: number;
  currency: string;
  created_at: string;
}

/** Everything that a report is made of, from one snapshot. */
export interface ReportSources {
  counters: ReportCounter[];
  /** By id: the agents of the counters, and the requested one. */
  agents: Map<string, Agent>;
  examples: Map<string, ReportExample>;
  workspace: Workspace;
}

const dayOf = (time_ms: number) => new Date(time_ms).toISOString().slice(0, 10);

/** The whole UTC days of a period, and the rest of it. Milliseconds; `to` and `end` are exclusive. */
function wholeDays(from_ms: number, to_ms: number) {
  const first_ms = Math.ceil(from_ms / DAY_MS) * DAY_MS;
  const end_ms = Math.floor(to_ms / DAY_MS) * DAY_MS;
  if (first_ms >= end_ms) return { days: null, rest: [{ from_ms, to_ms }] };
  const rest = [
    { from_ms, to_ms: first_ms },
    { from_ms: end_ms, to_ms },
  ].filter((part) => part.from_ms < part.to_ms);
  return { days: { first: dayOf(first_ms), end: dayOf(end_ms) }, rest };
}

/** Counts the decisions of a part of a day one by one. */
async function countPart(
  db: Queryable,
  workspace_id: string,
  part: { agent_id: string | null; from_ms: number; to_ms: number },
  sheet: CounterSheet,
): Promise<void> {
  // One character shorter, and so before the smallest id of that time.
  let after = firstIdAt('decision', part.from_ms).slice(0, -1);
  const before = firstIdAt('decision', part.to_ms);
  for (;;) {
    const range = { agent_id: part.agent_id, after, before, limit: DECISIONS_AT_ONCE };
    const page = await listReportFacts(db, workspace_id, range);
    for (const facts of page) sheet.add(facts);
    const last = page.at(-1);
    if (last === undefined || page.length < DECISIONS_AT_ONCE) return;
    after = last.decision_id;
  }
}

/** Aggregates the events after the watermark. */
async function countTail(
  db: Queryable,
  workspace_id: string,
  days: { first: string; end: string },
  sheet: CounterSheet,
): Promise<void> {
  const within = (facts: { created_at: string }) =>
    facts.created_at >= days.first && facts.created_at.slice(0, 10) < days.end;
  const narrowed: CounterSheet = {
    add: (facts) => within(facts) && sheet.add(facts),
    correct: (facts, before) => within(facts) && sheet.correct(facts, before),
    counters: sheet.counters,
  };
  const progress = { counted: new Set<string>() };
  let after = await getWatermark(db, 'report', workspace_id);
  const head_seq = (await getHead(db, workspace_id))?.seq ?? 0;
  if (head_seq - after > MAX_TAIL_LENGTH) {
    throw new ApiError(
      'unavailable',
      'The decisions are being added up; ask for the report again in a minute.',
      {
        retry_after_s: 60,
      },
    );
  }
  while (after < head_seq) {
    const upto = Math.min(head_seq, after + EVENTS_AT_ONCE);
    const events = await loadReportEvents(db, workspace_id, { after, upto });
    await foldEvents(db, workspace_id, events, progress, narrowed);
    after = upto;
  }
}

async function loadExamples(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<ReportExample[]> {
  const result = await db.query<ReportExample & { workspace_id: string }>({
    name: 'load_report_examples',
    text: `select decision_id, agent_id, decision, merchant, requested_amount_minor, currency, created_at
      from decisions where workspace_id = $1 and decision_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/**
 * Loads the sources of a report on the decisions made from `from` up to, but not including, `to` (ISO UTC), from one
 * snapshot. The result is exact: events after the watermark are aggregated at read time. `agent_id` null means all agents.
 * Undefined where the workspace does not exist. Throws `unavailable` where the follower is too far behind.
 */
export async function loadReportSources(
  pool: pg.Pool,
  workspace_id: string,
  options: { agent_id: string | null; from: string; to: string },
): Promise<ReportSources | undefined> {
  const { agent_id } = options;
  const { days, rest } = wholeDays(Date.parse(options.from), Date.parse(options.to));
  const slice = agent_id ?? ALL_AGENTS;
  return inTransaction(pool, { reading: true }, async (client: Client) => {
    const sheet = makeCounterSheet((agent) => (agent_id === null || agent === agent_id ? [slice] : []));
    for (const part of rest) await countPart(client, workspace_id, { agent_id, ...part }, sheet);
    if (days !== null) await countTail(client, workspace_id, days, sheet);
    const counters = sheet.counters();
    if (days !== null) {
      const also = new Set(counters.flatMap((each) => (each.measure === 'merchants' ? each.name : [])));
      const range = { slice, ...days };
      counters.push(
        ...(await loadCounters(client, workspace_id, range)),
        ...(await loadMerchantCounters(client, workspace_id, range, {
          max: MAX_MERCHANTS,
          also: [...also],
        })),
      );
    }
    const example_ids = new Set([...newestByReason(counters).values()].flat());
    const examples = await loadExamples(client, workspace_id, [...example_ids]);
    const agent_ids = new Set(counters.flatMap((each) => (each.measure === 'agents' ? each.name : [])));
    if (agent_id !== null) agent_ids.add(agent_id);
    const agents = await loadAgents(client, workspace_id, [...agent_ids]);
    const workspace = await loadWorkspace(client, workspace_id);
    if (workspace === undefined) return undefined;
    return {
      counters,
      agents: new Map(agents.map((agent) => [agent.agent_id, agent])),
      examples: new Map(examples.map((example) => [example.decision_id, example])),
      workspace,
    };
  });
}
