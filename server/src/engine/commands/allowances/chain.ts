import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import { type Allowance, earliestExpiry, termsOf } from '@purser/rules/counters/allowances';
import type { DecideFacts } from '@purser/rules/policy/stage';
import type { WorkingSet } from '../../lane/working-set.ts';

/** An allowance and all above it, the nearest first, as they were read; their places never change. */
export interface AllowanceChain {
  allowances: readonly Allowance[];
  /** The slugs of the shared budgets that they count in. */
  budgets: readonly string[];
}

/** A spend with what it was assessed for and the allowances that it is made under. */
interface ChainedSpend {
  assessed: { authority: Authority } | null;
  chain?: AllowanceChain;
}

/** The slugs of the shared budgets that the spend counts in; undefined where it counts in none. */
export function budgetsNamed({ assessed, chain }: ChainedSpend): readonly string[] | undefined {
  const of_chain = chain?.budgets ?? [];
  const of_authority = assessed?.authority.budgets;
  return of_authority === undefined && of_chain.length === 0
    ? undefined
    : [...(of_authority ?? []), ...of_chain];
}

/** The allowances of a chain as they are now. */
export const chainOf = (set: WorkingSet, { allowances }: AllowanceChain): Allowance[] =>
  set.allowances.all(allowances.map(({ allowance_id }) => allowance_id));

/** When the first of the allowances ends that the spend counts in; undefined where it counts in none. */
export const allowedUntil = ({ allowances = [] }: Pick<DecideFacts, 'allowances'>) =>
  earliestExpiry(allowances);

/** The allowance of a spend as its decision names it; null where it is made under none. */
export function namedAllowance({
  allowances: [named] = [],
}: Pick<DecideFacts, 'allowances'>): NonNullable<Decision['allowance']> | null {
  if (named === undefined) return null;
  return { id: named.allowance_id, name: named.name, labels: { ...termsOf(named).labels } };
}
