import type { Decision } from '@purser/sdk';

type Summed = Pick<Decision, 'currency' | 'requested_amount_minor'>;
type Grouped = Summed & Pick<Decision, 'agent' | 'reason_code' | 'decision_id'>;

/** Requests of one agent with one cause. */
export interface BulkGroup<D> {
  key: string;
  agent: string;
  reason_code: string;
  decisions: D[];
}

/** Requests by agent and cause, in the order in which each group begins. */
export function groupsOf<D extends Grouped>(decisions: readonly D[]): BulkGroup<D>[] {
  const groups = new Map<string, BulkGroup<D>>();
  for (const decision of decisions) {
    const { agent, reason_code } = decision;
    const key = `${agent.id} ${reason_code}`;
    const group = groups.get(key) ?? { key, agent: agent.slug, reason_code, decisions: [] };
    group.decisions.push(decision);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** The sum of the requested amounts, by currency. */
export function sumsOf(decisions: readonly Summed[]): { currency: string; amount_minor: number }[] {
  const sums = new Map<string, number>();
  for (const { currency, requested_amount_minor } of decisions)
    sums.set(currency, (sums.get(currency) ?? 0) + requested_amount_minor);
  return [...sums].map(([currency, amount_minor]) => ({ currency, amount_minor }));
}
