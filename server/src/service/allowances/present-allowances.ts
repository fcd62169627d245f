import type { ShownAllowance } from '@purser/contract/allowances/fields';
import { allowanceSettings } from '@purser/rules/allowances/settings';
import { allowanceStatusAt, type LoadedAllowance, totalUse } from '@purser/rules/counters/allowances';
import { counterChanges } from '@purser/rules/counters/counted-in';
import { Counters } from '@purser/rules/counters/counters-in-memory';
import { afterExpiry } from '@purser/rules/domain/decision-states';
import { allowanceStandings, loadedAllowances } from '@purser/rules/policy/allowances';
import { type FoundAllowance, readAllowances } from '../../engine/allowances/find-allowances.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadCountedDueHolds } from '../../engine/storage/decision-states.ts';
import { loadWholeCounters } from '../../engine/storage/derived/counters.ts';
import { withoutWorkspace } from '../../engine/storage/rows.ts';
import { readClock } from '../../engine/storage/workspaces.ts';

/** An allowance as the API shows it at a moment. */
export function allowanceBody(row: FoundAllowance & LoadedAllowance, now_ms: number): ShownAllowance {
  const [counted] = allowanceStandings([row], now_ms);
  const { counter_id, held_minor, ...standing } = counted as NonNullable<typeof counted>;
  const total = totalUse(row, now_ms);
  return {
    ...allowanceSettings(row, allowanceStatusAt(row, now_ms)),
    standing,
    total: { used_minor: total.amount_minor, used_count: total.count },
    last_used_at: row.last_used_at,
  };
}

/** Returns allowances as they stand now: without holds that have expired, whether the sweep has recorded their expiry or not. */
export async function presentAllowances(
  db: Queryable,
  workspace_id: string,
  rows: readonly FoundAllowance[],
): Promise<ShownAllowance[]> {
  if (rows.length === 0) return [];
  const wanted = rows.map(({ allowance_id }) => ({ workspace_id, counter_id: allowance_id }));
  const counters = new Counters((await loadWholeCounters(db, wanted)).map(withoutWorkspace));
  // These come after the counters: what is released in between is then in both, and counts.
  for (const state of await loadCountedDueHolds(db, workspace_id)) {
    for (const row of counterChanges(state, afterExpiry(state), '')) counters.add(row);
  }
  const now_ms = await readClock(db);
  return loadedAllowances(rows, counters).map((each, i) =>
    allowanceBody({ ...(rows[i] as FoundAllowance), ...each }, now_ms),
  );
}

/** Returns one allowance as it is now; it must exist. */
export async function shownAllowance(
  db: Queryable,
  workspace_id: string,
  allowance_id: string,
): Promise<ShownAllowance> {
  const rows = await readAllowances(db, workspace_id, [allowance_id]);
  const [body] = await presentAllowances(db, workspace_id, rows);
  return body as ShownAllowance;
}
