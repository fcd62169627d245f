import type { Spending } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from './client.ts';

/** The requested amounts by day for a chart of decisions. Undefined while they load, and where they cannot be read. */
export function useTotals(
  { from, to, agent }: { from: string; to: string; agent?: string | undefined },
  options: { enabled?: boolean } = {},
): Spending['totals'] | undefined {
  return useQuery({
    queryKey: ['overview', 'totals', from, to, agent],
    queryFn: async () =>
      (await purser.reports.spending({ from, to, ...(agent === undefined ? {} : { agent }) })).totals,
    ...options,
  }).data;
}
