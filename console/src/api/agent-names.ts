import { useQuery } from '@tanstack/react-query';
import { purser } from './client.ts';

/** The fields of an agent that lists of choices need. */
export interface NamedAgent {
  id: string;
  slug: string;
  name: string;
  status: string;
  /** The currency of its budget. Undefined without an authority and spending. */
  currency: string | undefined;
}

const MAX_AGENTS = 200;

/** The workspace's agents, to show names instead of IDs. Only the first 200 are loaded. */
export function useAgentNames(options: { enabled?: boolean } = {}) {
  const query = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: async (): Promise<NamedAgent[]> => {
      const { data } = await purser.agents.list({ limit: MAX_AGENTS });
      return data.map(({ id, slug, name, status, budgets }) => ({
        id,
        slug,
        name,
        status,
        currency: budgets[0]?.currency,
      }));
    },
    staleTime: 60_000,
    ...options,
  });
  const agents = query.data ?? [];
  return { agents, byId: new Map(agents.map((each) => [each.id, each])), isPending: query.isPending };
}

/** The currency for examples: this agent's, or the first of any agent, or EUR. */
export function useExampleCurrency(slug?: string, options: { enabled?: boolean } = {}): string {
  const { agents } = useAgentNames(options);
  const own = agents.find((each) => each.slug === slug)?.currency;
  return own ?? agents.find((each) => each.currency !== undefined)?.currency ?? 'EUR';
}
