import { useQuery } from '@tanstack/react-query';
import { purser } from './client.ts';

/** A workspace has no more. */
const MAX_BUDGETS = 200;

/** The workspace's shared budgets with their usage in the current period. */
export const useBudgets = (options: { enabled?: boolean } = {}) =>
  useQuery({
    queryKey: ['budgets'],
    queryFn: async () => (await purser.budgets.list({ limit: MAX_BUDGETS })).data,
    ...options,
  });
