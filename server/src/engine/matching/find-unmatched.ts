import type { UnmatchedSpendBody } from '@purser/contract/history/coverage';
import { UNMATCHED_STATES } from '@purser/contract/values/coverage';
import { askedSpend } from '@purser/rules/matching/asked-spend';
import { groupSpends, paidSpend, type SpendLines } from '@purser/rules/matching/lines';
import { nearestDecisions } from '@purser/rules/matching/nearest';
import type { CoverageSettings } from '@purser/rules/matching/spends';
import { firstIdAt } from '@purser/rules/values/ids';
import type { Queryable } from '../storage/database.ts';
import { loadAskedSpends } from './asked-rows.ts';
import { askedSpan } from './match-range.ts';
import { loadHolders, loadSpendsOfLines } from './match-rows.ts';

/** Everything that is recorded now. */
const NOW = { seq: Number.MAX_SAFE_INTEGER, place: '~' };

/** Returns the workspaces with an endpoint for `spend.unmatched`, and since when the first of them is there. */
export async function findUnmatchedReceivers(
  db: Queryable,
): Promise<{ workspace_id: string; since: string }[]> {
  const result = await db.query<{ workspace_id: string; since: string }>({
    name: 'find_unmatched_receivers',
    text: `select e.workspace_id, min(e.created_at) as since from webhook_endpoints e
      where 'spend.unmatched' = any(e.events) group by e.workspace_id`,
  });
  return result.rows;
}

/**
 * Returns lines that nobody asked for, or that were not allowed, once their grace is over, at most `limit`, oldest first: those
 * that were recorded since `since` and not reported yet.
 */
export async function findUnmatchedLines(
  db: Queryable,
  workspace_id: string,
  { since, grace_seconds, limit }: { since: string; grace_seconds: number; limit: number },
): Promise<string[]> {
  const result = await db.query<{ line_id: string }>({
    name: 'find_unmatched_lines',
    text: `select m.line_id from line_matches m where m.workspace_id = $1 and m.state = any($2)
        and m.state in ('NEVER_ASKED', 'REFUSED', 'LATE', 'EXCLUDED', 'UNASSIGNED') and m.line_id >= $3
        and m.ends_at + make_interval(secs => $4) <= (select clock_timestamp())
        and not exists (select from unmatched_lines u where u.workspace_id = $1 and u.line_id = m.line_id)
      order by m.line_id limit $5`,
    values: [workspace_id, UNMATCHED_STATES, firstIdAt('line', Date.parse(since)), grace_seconds, limit],
  });
  return result.rows.map(({ line_id }) => line_id);
}

/** Returns, by line, the decisions that are nearest to its spend. `own`: by line, the decision that was refused. */
export async function findNearest(
  db: Queryable,
  workspace_id: string,
  lines: readonly { line_id: string; decision_id: string | null }[],
  settings: CoverageSettings,
): Promise<Map<string, UnmatchedSpendBody['nearest']>> {
  const own = new Map(lines.map(({ line_id, decision_id }) => [line_id, decision_id]));
  const loaded = await loadSpendsOfLines(db, workspace_id, [...own.keys()], NOW);
  const found = new Map<string, UnmatchedSpendBody['nearest']>();
  for (const spend of groupSpends(loaded)) {
    const nearest = await nearestOf(db, workspace_id, spend, settings, own);
    for (const { line_id } of spend.lines) if (own.has(line_id)) found.set(line_id, nearest);
  }
  return found;
}

async function nearestOf(
  db: Queryable,
  workspace_id: string,
  spend: SpendLines,
  settings: CoverageSettings,
  own: ReadonlyMap<string, string | null>,
): Promise<UnmatchedSpendBody['nearest']> {
  const { agent_id, occurred_at } = spend.first;
  if (agent_id === null) return [];
  const at_ms = Date.parse(occurred_at);
  const range = { workspace_id, agent_id, from_ms: at_ms, to_ms: at_ms, settings, upto: NOW };
  const refused =
    spend.lines.map(({ line_id }) => own.get(line_id) ?? null).find((id) => id !== null) ?? null;
  const asked = await loadAskedSpends(db, workspace_id, agent_id, askedSpan(range), []);
  const holders = await loadHolders(
    db,
    workspace_id,
    asked.map(({ decision_id }) => decision_id),
  );
  const taken = new Set(
    holders.flatMap(({ spend_key, decision_id }) => (spend_key === spend.key ? [] : [decision_id])),
  );
  return nearestDecisions(paidSpend(spend), asked.map(askedSpend), settings, { taken, own: refused });
}
