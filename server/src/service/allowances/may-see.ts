import type { Allowance } from '@purser/rules/counters/allowances';
import { allowanceOf, type Caller } from '@purser/rules/domain/keys';
import { listUses } from '../../engine/allowances/allowance-rows.ts';
import type { Queryable } from '../../engine/storage/database.ts';

/**
 * Returns whether a caller may see an allowance: an agent key sees those of its agent or of any agent, and a key that is bound to one
 * sees that one and those below it.
 */
export function maySee(caller: Caller, { agent_id, path }: Pick<Allowance, 'agent_id' | 'path'>): boolean {
  if (caller.kind !== 'agent') return true;
  const bound = allowanceOf(caller);
  return (agent_id === null || agent_id === caller.agent_id) && (bound === null || path.includes(bound));
}

/** Returns whether a decision was made under the allowance that a caller is bound to; true for every other caller. */
export async function isWithinAllowance(
  db: Queryable,
  caller: Caller,
  decision_id: string,
): Promise<boolean> {
  const bound = allowanceOf(caller);
  if (bound === null) return true;
  const uses = await listUses(db, caller.workspace_id, [decision_id]);
  return uses.some(({ allowance_id }) => allowance_id === bound);
}
