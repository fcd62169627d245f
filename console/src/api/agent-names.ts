import { useQuery } from '@tanstack/react-query';
import { purser } from './client.ts';

/** An agent as lists of choices need it. */
export interface AgentName {
  id: string;
  slug: string;
  name: string;
  status: string;
  /** Of its budget; undefined: it has no authority and has spent nothing. */
  currency: string | undefined;
}

const MAX_AGENTS = 200;

/** The workspace's agents, by which ids are told by their names. More than 200 are not fetched: those stay ids. */
export function useAgentNames(options: { enabled?: boolean } = {}) {
  const query = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: async (): Promise<AgentName[]> => {
      const { data } = await purser.agents.list({ limit: MAX_AGENTS });
      return data.map(({ id, slug, name, status, budgets }) => ({
        ...{ id, slug, name, status },
        currency: budgets[0]?.currency,
      }));
    },
    staleTime: 60_000,
    ...options,
  });
  const agents = query.data ?? [];
  return { agents, byId: new Map(agents.map((each) => [each.id, each])), isPending: query.isPending };
}

/** The currency that examples speak of: this agent's, else the first that an agent of the workspace has, else EUR. */
export function useExampleCurrency(slug?: string, options: { enabled?: boolean } = {}): string {
  const { agents } = useAgentNames(options);
  const own = agents.find((each) => each.slug === slug)?.currency;
  return own ?? agents.find((each) => each.currency !== undefined)?.currency ?? 'EUR';
}
