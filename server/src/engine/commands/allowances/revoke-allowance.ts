import type { Allowance } from '@purser/rules/counters/allowances';
import { type Command, done, refuse } from '../../lane/command.ts';
import { publishAllowance } from './publish-allowance.ts';
import { changeAllowance } from './record-allowance.ts';

export interface RevokeAllowanceInput {
  allowance_id: string;
  /** Its agent and shared budget, which never change; null: it has none. */
  agent_id: string | null;
  budget_id: string | null;
  reason: string | null;
  /** True for an agent key, which can revoke only what agents made. */
  is_by_agent: boolean;
}

/**
 * Revokes an allowance: it and all below it permit nothing from the next command on. One that was revoked or denied before
 * stays as it is, and nothing is written.
 */
export const revokeAllowance: Command<RevokeAllowanceInput, Allowance> = {
  name: 'revokeAllowance',
  needs: ({ allowance_id, agent_id, budget_id }) => ({
    allowances: [allowance_id],
    agents: agent_id === null ? [] : [agent_id],
    shared_budgets: budget_id === null ? undefined : [],
    webhooks: true,
  }),
  apply(set, { allowance_id, reason, is_by_agent }, origin) {
    const before = set.allowances.get(allowance_id);
    if (before === undefined) return refuse('not_found', 'No such allowance.');
    if (is_by_agent && !before.made_by_agent)
      return refuse('insufficient_scope', 'An agent key can revoke only what agents made.');
    if (before.status === 'REVOKED' || before.status === 'DENIED') return done(before);
    const { key_id, principal_id } = origin.actor;
    const revoked = { reason, by: { key_id, principal_id }, at: set.now };
    const after: Allowance = { ...before, status: 'REVOKED', revoked: JSON.stringify(revoked) };
    const change = { before, after, more: { reason } };
    const event_id = changeAllowance(set, change, origin, 'allowance.revoked');
    publishAllowance(set, 'allowance.revoked', after, origin, event_id);
    return done(after);
  },
};
