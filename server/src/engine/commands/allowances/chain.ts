import type { Authority } from '@purser/contract/authority';
import type { Decision, SpendRequest } from '@purser/contract/decisions';
import { type Allowance, type LoadedAllowance, termsOf } from '@purser/rules/counters/allowances';
import { whyOutside } from '@purser/rules/policy/allowances';
import type { Verdict } from '@purser/rules/policy/decide';
import type { DecideFacts } from '@purser/rules/policy/stage';
import type { StandingApprovals } from '../../allowances/allowance-rows.ts';
import type { WorkingSet } from '../../lane/working-set.ts';

/** An allowance and all above it, the nearest first, as they were read; their places never change. */
export interface AllowanceChain {
  allowances: readonly Allowance[];
  /** The slugs of the shared budgets that they count in. */
  budgets: readonly string[];
}

/** A spend with the standing approvals of its agent. */
interface AskedSpend {
  request: SpendRequest;
  standing?: StandingApprovals;
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

/** The standing approvals of the agent that are for such a spend, the one that expires first in front. */
export const standingOf = ({ standing, request }: AskedSpend): readonly Allowance[] =>
  standing?.allowances.filter((each) => whyOutside(each, request.action) === null) ?? [];

/** All allowances that a spend may count in, as they were read. */
export const allowancesOf = (input: AskedSpend & { chain?: AllowanceChain }): readonly Allowance[] => [
  ...(input.chain?.allowances ?? []),
  ...standingOf(input),
];

/** The allowances that a decided spend counts in: those that it was made under, and the standing approval that was used. */
export function allowancesCounted(
  { allowances = [], answers_ahead }: Pick<DecideFacts, 'allowances' | 'answers_ahead'>,
  { standing_approval }: Pick<Verdict, 'standing_approval'>,
): readonly LoadedAllowance[] {
  const used = answers_ahead?.standing.find(({ allowance_id }) => allowance_id === standing_approval?.id);
  return used === undefined ? allowances : [...allowances, used];
}

/** The allowance of a spend as its decision names it; null where it is made under none. */
export function namedAllowance({
  allowances: [named] = [],
}: Pick<DecideFacts, 'allowances'>): NonNullable<Decision['allowance']> | null {
  if (named === undefined) return null;
  return { id: named.allowance_id, name: named.name, labels: { ...termsOf(named).labels } };
}
