import { useBudgets } from '../../api/budgets.ts';
import { visible } from '../../lib/visible.ts';

/** The name of a shared budget, with its slug as the tooltip. */
export function BudgetName({ slug }: { slug: string }) {
  const budget = useBudgets().data?.find((each) => each.slug === slug);
  return <span title={slug}>{visible(budget?.name ?? slug)}</span>;
}
