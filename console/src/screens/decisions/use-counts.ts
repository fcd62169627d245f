import { useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import { pick, type Search } from '../../lib/search.ts';

/** The service's counts for an agent and a period. The default period is 30 days. */
export function useCounts(filters: Search, options: { enabled?: boolean } = {}) {
  const asked = pick(filters, ['agent', 'from', 'to']);
  return useQuery({
    queryKey: ['overview', 'of', asked],
    queryFn: async () => purser.reports.overview(asked),
    placeholderData: (before) => before,
    ...options,
  });
}
