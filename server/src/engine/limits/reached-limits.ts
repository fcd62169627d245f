import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import {
  isReached,
  type LimitAlert,
  monthlyBudgetId,
  monthStanding,
} from '@purser/rules/counters/limit-alerts';
import { alertPercentsOf, shownBudget } from '@purser/rules/counters/shared-budgets';
import { type Origin, SYSTEM } from '@purser/rules/domain/audit';
import type { WorkingSet } from '../lane/working-set.ts';

/** The new decision, as far as its limits matter. */
export type Counting = Pick<Decision, 'decision_id' | 'agent' | 'decision' | 'currency' | 'reservation'>;

/** Sends an event about a reached limit to the webhook endpoints that take it, and to all channels. */
function publishReached(
  set: WorkingSet,
  type: 'budget.threshold.reached' | 'limit.threshold.reached',
  data: object,
  event_id: string,
): void {
  const text = JSON.stringify(data);
  set.publish(type, text, event_id);
  set.outbox.notices.limitReached(text);
}

/**
 * Records and publishes the alert percentages that a decision reached in its limits, each once a window. A DENY counts
 * nowhere and reaches none. A report of more than was held reaches none by itself; the next decision does.
 */
export function publishReachedLimits(
  set: WorkingSet,
  decision: Counting,
  authority: Authority | null,
  { request_id, client_address }: Origin,
): void {
  if (decision.decision === 'DENY') return;
  const origin = { actor: SYSTEM, request_id, client_address };
  publishOfAgent(set, decision, authority, origin);
  publishOfBudgets(set, decision, origin);
}

function publishOfAgent(
  set: WorkingSet,
  { decision_id, agent, currency, reservation }: Counting,
  authority: Authority | null,
  origin: Origin,
): void {
  if (authority?.alert_percents === undefined || authority.currency !== currency) return;
  const velocity = (reservation.limits ?? []).filter(({ kind }) => kind === 'velocity');
  const month = { counter_id: monthlyBudgetId(currency), ...monthStanding(reservation.budget, set.now_ms) };
  for (const { counter_id: limit_id, ...limit } of [
    month,
    ...velocity.map(({ held_minor: _, ...each }) => each),
  ]) {
    for (const percent of authority.alert_percents) {
      if (!isReached(limit, percent)) continue;
      const alert: LimitAlert = {
        agent_id: agent.id,
        limit_id,
        subject: limit.subject ?? '',
        percent,
        until: limit.window.ends_at,
        decision_id,
      };
      const before = set.limit_alerts.find(alert);
      if (before !== undefined && before.until > set.now) continue;
      set.limit_alerts.put(alert);
      const { name, subject, used_minor, used_count } = limit;
      const change = { from: null, to: { percent, name, subject, used_minor, used_count, decision_id } };
      const target = { type: 'agent', id: agent.id } as const;
      const event_id = set.audit('limit.threshold.reached', target, origin, {
        ...change,
        state: { limit_alert: alert },
      });
      const data = { percent, agent, limit, decision_id };
      publishReached(set, 'limit.threshold.reached', data, event_id);
    }
  }
}

function publishOfBudgets(set: WorkingSet, { decision_id, reservation }: Counting, origin: Origin): void {
  const of_budgets = (reservation.limits ?? []).filter(({ kind }) => kind === 'shared_budget');
  for (const { counter_id: budget_id, held_minor: _, ...standing } of of_budgets) {
    const { used_minor, limit_minor, window } = standing;
    const found = set.shared_budgets.find(budget_id);
    for (const percent of found === undefined ? [] : alertPercentsOf(found)) {
      const before = set.shared_budgets.find(budget_id);
      if (before === undefined || !isReached(standing, percent)) continue;
      const was_told =
        before.told_period === window.starts_at && before.told_percent !== null ? before.told_percent : 0;
      if (percent <= was_told) continue;
      const after = { ...before, told_period: window.starts_at, told_percent: percent };
      set.shared_budgets.put(after);
      const event_id = set.audit('budget.threshold.reached', { type: 'budget', id: budget_id }, origin, {
        from: null,
        to: { percent, period: window.starts_at, used_minor, limit_minor },
        state: { shared_budget: after },
      });
      const budget = shownBudget(after, set.shared_budgets.all());
      publishReached(set, 'budget.threshold.reached', { percent, budget, standing, decision_id }, event_id);
    }
  }
}
