import type { Allowance } from '@purser/rules/counters/allowances';
import { whyNotOpen } from '@purser/rules/policy/allowances';
import { type Command, done, refuse } from '../../lane/command.ts';
import { expiryProblem, overParent } from './new-allowance.ts';
import { auditedAllowance, changeAllowance } from './record-allowance.ts';

export interface UpdateAllowanceInput {
  /** Its own id and those of all above it, the nearest first. */
  path: readonly string[];
  /** The agent of a standing approval; null for every other allowance. */
  standing_of: string | null;
  changes: Partial<Pick<Allowance, 'amount_minor' | 'expires_at'>> & { name?: string };
}

/**
 * Changes an allowance's name, amount or expiry, within its parent's, from the next decision on. An amount below what is used
 * lets nothing more through and takes nothing back. Without a difference nothing is written.
 */
export const updateAllowance: Command<UpdateAllowanceInput, Allowance> = {
  name: 'updateAllowance',
  needs: ({ path, standing_of }) => ({ allowances: path, agents: standing_of === null ? [] : [standing_of] }),
  apply(set, { path, changes }, origin) {
    const [before, parent = null] = set.allowances.all(path);
    if (before === undefined) return refuse('not_found', 'No such allowance.');
    const closed = whyNotOpen(before, set.now_ms);
    if (closed !== null) return refuse('allowance_not_open', closed);
    const after: Allowance = { ...before, ...changes };
    const { amount_minor, expires_at } = changes;
    const wrong =
      (before.source === 'MANDATE' ? whyOverSigned(before, after) : null) ??
      (amount_minor === undefined || parent === null ? null : overParent(parent, after)) ??
      (expires_at === undefined ? null : expiryProblem(expires_at, parent, set.now_ms));
    if (wrong !== null) return refuse('invalid_request', wrong.join(': '));
    const [from, to] = [auditedAllowance(before), auditedAllowance(after)];
    if (JSON.stringify(from) === JSON.stringify(to)) return done(before);
    changeAllowance(set, { before, after }, origin, 'allowance.updated');
    return done(after);
  },
};

/** The problem with more, or longer, than is left of what a payer signed; null if there is none. */
function whyOverSigned(before: Allowance, after: Allowance): ['amount_minor' | 'expires_at', string] | null {
  if (after.amount_minor > before.amount_minor)
    return ['amount_minor', `is more than the ${before.amount_minor} of the mandate`];
  return Date.parse(after.expires_at) > Date.parse(before.expires_at)
    ? ['expires_at', `is after the mandate's, ${before.expires_at}`]
    : null;
}
