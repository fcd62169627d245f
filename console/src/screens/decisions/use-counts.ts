import { useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import { pick, type Search } from '../../lib/search.ts';

/** What the service has counted of the decisions of an agent and a time: 30 days where none is named. */
export function useCounts(filters: Search, options: { enabled?: boolean } = {}) {
  const asked = pick(filters, ['agent', 'from', 'to']);
  return useQuery({
    queryKey: ['overview', 'of', asked],
    queryFn: async () => purser.reports.overview(asked),
    placeholderData: (before) => before,
    ...options,
  });
}
