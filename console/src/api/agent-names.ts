import { useQuery } from '@tanstack/react-query';
import { purser } from './client.ts';

/** An agent as lists of choices need it. */
export interface AgentName {
  id: string;
  slug: string;
  name: string;
  status: string;
}

const MAX_AGENTS = 200;

/** The workspace's agents, by which ids are told by their names. More than 200 are not fetched: those stay ids. */
export function useAgentNames(options: { enabled?: boolean } = {}) {
  const query = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: async (): Promise<AgentName[]> => {
      const { data } = await purser.agents.list({ limit: MAX_AGENTS });
      return data.map(({ id, slug, name, status }) => ({ id, slug, name, status }));
    },
    staleTime: 60_000,
    ...options,
  });
  const agents = query.data ?? [];
  return { agents, byId: new Map(agents.map((each) => [each.id, each])), isPending: query.isPending };
}
