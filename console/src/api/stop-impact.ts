import type { Decision, DecisionListQuery } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from './client.ts';

const LOOKED_AT = 200;

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

/**
 * Describes the work that stopping an agent, or all agents, would interrupt. Covers the newest 200 Enforce requests without
 * an outcome. Empty while loading.
 */
export function useStopImpact(agent_id?: string): string {
  const { data } = useQuery({
    queryKey: ['decisions', 'under-way', agent_id],
    queryFn: async () => {
      const query = { agent: agent_id, mode: 'ENFORCE', outcome_state: 'NONE', limit: LOOKED_AT };
      const { data } = await purser.decisions.list(query as DecisionListQuery);
      const count = (test: (each: Decision) => boolean) => data.filter(test).length;
      return {
        capabilities: count((each) => each.capability?.status === 'ISSUED'),
        pending: count((each) => each.review_state === 'PENDING'),
      };
    },
  });
  if (data === undefined) return '';
  const parts = [
    data.capabilities > 0 && counted(data.capabilities, 'unused capability', 'unused capabilities'),
    data.pending > 0 && counted(data.pending, 'pending review', 'pending reviews'),
  ].filter((each) => each !== false);
  return parts.length === 0 ? 'Nothing is in progress.' : `In progress: ${parts.join(', ')}.`;
}
