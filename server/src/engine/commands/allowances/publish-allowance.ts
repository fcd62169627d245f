import type { AllowanceSettings } from '@purser/contract/allowances/fields';
import { ALLOWANCE_ALERT_PERCENTS } from '@purser/contract/values/allowances';
import { allowanceSettings } from '@purser/rules/allowances/settings';
import { type Allowance, type AllowanceStatus, allowanceStatusAt } from '@purser/rules/counters/allowances';
import { isReached } from '@purser/rules/counters/limit-alerts';
import { type Origin, SYSTEM } from '@purser/rules/domain/audit';
import { loadedAllowances } from '@purser/rules/policy/allowances';
import type { WorkingSet } from '../../lane/working-set.ts';
import type { Counting } from '../../limits/reached-limits.ts';
import { changeAllowance } from './record-allowance.ts';

/** An allowance as events show it. Throws where its agent or shared budget was not loaded. */
function settingsIn(set: WorkingSet, allowance: Allowance, status: AllowanceStatus): AllowanceSettings {
  const { agent_id, budget_id } = allowance;
  const slug = (id: string | null, find: (id: string) => { slug: string } | undefined) => {
    if (id === null) return null;
    const found = find(id);
    if (found === undefined) throw new Error(`${id} of an allowance was not loaded`);
    return found.slug;
  };
  const agent_slug = slug(agent_id, (id) => set.agent(id));
  const budget_slug = slug(budget_id, (id) => set.shared_budgets.find(id));
  return allowanceSettings({ ...allowance, agent_slug, budget_slug }, status);
}

/**
 * Sends a change of an allowance to the webhook endpoints that take its type. The command must need `webhooks`, its agent
 * and, where it counts in a shared budget, these.
 */
export function publishAllowance(
  set: WorkingSet,
  type: 'allowance.requested' | 'allowance.decided' | 'allowance.revoked',
  allowance: Allowance,
  { actor: { key_id, principal_id } }: Origin,
  event_id: string,
): void {
  const settings = settingsIn(set, allowance, allowance.status);
  set.publish(type, JSON.stringify({ ...settings, by: { key_id, principal_id } }), event_id);
}

/** Records and publishes the percentages that a decision reached in its allowances, each once a period. A DENY reaches none. */
export function publishReachedAllowances(
  set: WorkingSet,
  { decision_id, decision, reservation }: Counting,
  { request_id, client_address }: Origin,
): void {
  if (decision === 'DENY') return;
  const origin = { actor: SYSTEM, request_id, client_address };
  // Its usage in all periods together has no limit.
  const of_period = (reservation.limits ?? []).filter(
    ({ kind, subject }) => kind === 'allowance' && subject === null,
  );
  for (const { counter_id: allowance_id, held_minor: _, ...standing } of of_period) {
    const { used_minor, limit_minor, used_count, limit_count, window } = standing;
    for (const percent of ALLOWANCE_ALERT_PERCENTS) {
      const [before] = set.allowances.all([allowance_id]);
      if (before === undefined || !isReached(standing, percent)) continue;
      if (before.told_period === window.starts_at && percent <= (before.told_percent ?? 0)) continue;
      const after: Allowance = { ...before, told_period: window.starts_at, told_percent: percent };
      const more = { percent, used_minor, limit_minor, used_count, limit_count, decision_id };
      const change = { before, after, more };
      const event_id = changeAllowance(set, change, origin, 'allowance.threshold.reached');
      const [loaded] = loadedAllowances([after], set.counters);
      const status = allowanceStatusAt(loaded as NonNullable<typeof loaded>, set.now_ms);
      const allowance = settingsIn(set, after, status);
      const data = { percent, allowance, standing, decision_id };
      set.publish('allowance.threshold.reached', JSON.stringify(data), event_id);
    }
  }
}
