import { ApiError } from '@purser/rules/errors';
import { firstIdAt } from '@purser/rules/values/ids';
import { getWatermark } from '../followers/follower-rows.ts';
import type { Queryable } from '../storage/database.ts';
import { getHead } from '../storage/ledger.ts';
import { foldEvents } from './counter-rows.ts';
import { ALL_AGENTS, type CounterSheet, makeCounterSheet, type ReportCounter } from './counters.ts';
import { listReportFacts, loadReportEvents } from './fact-rows.ts';

const DAY_MS = 86_400_000;
/** Rows read at a time, so that memory stays flat however far the follower is behind. */
const EVENTS_AT_ONCE = 2_000;
const DECISIONS_AT_ONCE = 5_000;
/** Events after the watermark that a report aggregates itself. Only a restore or a stopped worker leaves so many. */
const MAX_TAIL_LENGTH = 250_000;

const dayOf = (time_ms: number) => new Date(time_ms).toISOString().slice(0, 10);

/** The whole UTC days of a period (null: there is none), and the rest of it. Milliseconds; `to` and `end` are exclusive. */
export function wholeDays(from_ms: number, to_ms: number) {
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
      "The report's totals are still being computed; request it again in a minute.",
      {
        retry_after_s: 60,
        reason: 'report_behind',
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

/**
 * Counts what the stored counters of a period's whole days do not hold: the decisions of parts of days at both ends, and
 * the events after the watermark. Together with the stored ones of `days` the result is exact. Must run in one snapshot.
 * Throws `unavailable` where the follower is too far behind.
 */
export async function countDirectly(
  db: Queryable,
  workspace_id: string,
  { agent_id, days, rest }: ReturnType<typeof wholeDays> & { agent_id: string | null },
): Promise<ReportCounter[]> {
  const slice = agent_id ?? ALL_AGENTS;
  const sheet = makeCounterSheet((agent) => (agent_id === null || agent === agent_id ? [slice] : []));
  for (const part of rest) await countPart(db, workspace_id, { agent_id, ...part }, sheet);
  if (days !== null) await countTail(db, workspace_id, days, sheet);
  return sheet.counters();
}
