import type { ShownAllowance } from '@purser/contract/allowances/fields';
import {
  allowanceStatusAt,
  type LoadedAllowance,
  termsOf,
  totalUse,
} from '@purser/rules/counters/allowances';
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

const ref = (id: string | null, slug: string | null) => (id === null ? null : { id, slug: slug as string });
const parsed = <T>(json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T));

/** An allowance as the API shows it at a moment. */
export function allowanceBody(row: FoundAllowance & LoadedAllowance, now_ms: number): ShownAllowance {
  const { merchants, payee_ids, action_types, purpose, expected_items, answers, labels } = termsOf(row);
  const [counted] = allowanceStandings([row], now_ms);
  const { counter_id, held_minor, ...standing } = counted as NonNullable<typeof counted>;
  const total = totalUse(row, now_ms);
  const { created_by_key_id: key_id, created_by_principal_id: principal_id } = row;
  return {
    id: row.allowance_id,
    status: allowanceStatusAt(row, now_ms),
    source: row.source,
    agent: ref(row.agent_id, row.agent_slug),
    budget: ref(row.budget_id, row.budget_slug),
    parent: row.parent_id,
    currency: row.currency,
    amount_minor: row.amount_minor,
    period: row.period,
    time_zone: row.time_zone,
    per_spend_limit_minor: row.per_spend_limit_minor,
    max_count: row.max_count,
    merchants: merchants === undefined ? null : [...merchants],
    payee_ids: payee_ids === undefined ? null : [...payee_ids],
    action_types: action_types === undefined ? null : [...action_types],
    expires_at: row.expires_at,
    purpose: purpose ?? null,
    expected_items: expected_items === undefined ? null : [...expected_items],
    answers: [...answers],
    automatic: row.automatic,
    labels: { ...labels },
    name: row.name,
    external_id: row.external_id,
    standing,
    total: { used_minor: total.amount_minor, used_count: total.count },
    last_used_at: row.last_used_at,
    created_at: row.created_at,
    created_by: { key_id, principal_id },
    issuer_id: row.issuer_id,
    request: parsed<NonNullable<ShownAllowance['request']>>(row.request),
    decided: parsed<NonNullable<ShownAllowance['decided']>>(row.decided),
    revoked: parsed<NonNullable<ShownAllowance['revoked']>>(row.revoked),
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
