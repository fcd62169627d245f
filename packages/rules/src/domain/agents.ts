import type { AGENT_STATUSES, MODES } from '@purser/contract/values/agents';

export type Mode = (typeof MODES)[number];

export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** An agent that spends. `slug` and `agent_id` never change; agents are never removed. */
export interface Agent {
  agent_id: string;
  slug: string;
  name: string;
  mode: Mode;
  status: AgentStatus;
  /** Null until an authority is posted. */
  authority_version: number | null;
  authority_hash: string | null;
  /** Grows with every change of the merchants listed for it; 0: none ever were. */
  directory_version: number;
  /** The `seq` of the last event that answered a question of its decisions; 0: none did. Follows from the chain. */
  answers_version: number;
  /** The event of the newest change of its standing approvals; 0: it never had one. */
  allowances_version: number;
  created_at: string;
  updated_at: string;
}

/** An agent as the API returns it. */
export function agentBody(
  agent: Agent,
): { id: string } & Omit<Agent, 'agent_id' | 'directory_version' | 'answers_version' | 'allowances_version'> {
  const { agent_id, directory_version, answers_version, allowances_version, ...rest } = agent;
  return { id: agent_id, ...rest };
}
