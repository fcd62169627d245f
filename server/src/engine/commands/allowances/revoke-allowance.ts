import type { Allowance } from '@purser/rules/counters/allowances';
import { type Command, done, refuse } from '../../lane/command.ts';
import { changeAllowance } from './record-allowance.ts';

export interface RevokeAllowanceInput {
  allowance_id: string;
  /** The agent of a standing approval; null for every other allowance. */
  standing_of: string | null;
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
  needs: ({ allowance_id, standing_of }) => ({
    allowances: [allowance_id],
    agents: standing_of === null ? [] : [standing_of],
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
    changeAllowance(set, { before, after, more: { reason } }, origin, 'allowance.revoked');
    return done(after);
  },
};
