import { useAgentNames } from '../../api/agent-names.ts';
import { visible } from '../../lib/visible.ts';

/** Returns what names an agent by its slug or id for people: its name, or else what it was given. */
export function useAgentLabel(): (agent: string) => string {
  const { agents } = useAgentNames();
  const names = new Map(agents.flatMap(({ id, slug, name }) => [[id, name] as const, [slug, name] as const]));
  return (agent) => visible(names.get(agent) ?? agent);
}

/** The name of an agent, with its slug as the tooltip. */
export function AgentName({ of: { slug } }: { of: { slug: string } }) {
  const label = useAgentLabel();
  return <span title={slug}>{label(slug)}</span>;
}
