import type { PLANS, SEPARATIONS_OF_DUTIES } from '@purser/contract/values/workspace';
import { canonicalJson } from '../values/canonical-json.ts';
import type { Agent, Mode } from './agents.ts';

export type Plan = (typeof PLANS)[number];

export type SeparationOfDuties = (typeof SEPARATIONS_OF_DUTIES)[number];

export interface Workspace {
  workspace_id: string;
  name: string;
  /** The mode of new agents. */
  mode: Mode;
  plan: Plan;
  trial_plan: Plan | null;
  trial_started_at: string | null;
  trial_ends_at: string | null;
  separation_of_duties: SeparationOfDuties;
  /** The time zone in which days are shown. Limits and periods keep their own. */
  time_zone: string;
  /** It holds invented data, and may be removed as a whole. Never changed. */
  sample: boolean;
  /** How lines are compared with decisions, as RFC 8785 text; null: by default. */
  coverage: string | null;
  created_at: string;
}

/** A stop of all agents of a workspace: until it ends none is decided for, and none is paid for. */
export interface WorkspaceStop {
  at: string;
  by: { key_id: string | null; principal_id: string | null };
  /** In the words of whoever stopped them. */
  reason: string;
}

/** A stop as the head of a chain keeps it: RFC 8785 text. */
export function encodeStop(stop: WorkspaceStop | null): string | null {
  return stop === null ? null : canonicalJson(stop);
}

/** The stop that `encodeStop` wrote. Throws SyntaxError where the text is not JSON. */
export function decodeStop(text: string | null): WorkspaceStop | null {
  return text === null ? null : (JSON.parse(text) as WorkspaceStop);
}

/** Why nothing is decided for an agent and none of its capabilities can be consumed; null where both go on. */
export function whyInactive(
  agent: Pick<Agent, 'slug' | 'status'>,
  stop: WorkspaceStop | null,
): string | null {
  if (agent.status !== 'active') return `The agent "${agent.slug}" is ${agent.status}.`;
  return stop === null ? null : `All agents of this workspace are stopped: ${stop.reason}`;
}

/** One version of a workspace's review policy. */
export interface ReviewPolicyRow {
  /** 0: no policy was ever put. */
  version: number;
  hash: string;
  /** RFC 8785 text. */
  policy: string;
  created_at: string;
  key_id: string | null;
  principal_id: string | null;
  note: string | null;
  /** The place in the chain of the audit record that seals it. */
  seq: number;
  /** An administrator's signature, as `signatureText` writes it; null where none was needed. */
  signature: string | null;
}

interface PlanTerms {
  /** How many agents may be created; null: any number. */
  agents: number | null;
  enforce: boolean;
  webhooks: boolean;
}

/** The terms of each plan. */
const PLAN_TERMS: Record<Plan, PlanTerms> = {
  free: { agents: 3, enforce: false, webhooks: false },
  team: { agents: 50, enforce: true, webhooks: true },
  enterprise: { agents: null, enforce: true, webhooks: true },
};

/** Returns true if a trial is running at `now_ms`. */
export function trialActive(workspace: Workspace, now_ms: number): boolean {
  return workspace.trial_ends_at !== null && Date.parse(workspace.trial_ends_at) > now_ms;
}

/** How many agents the workspace may have created; null: any number. During a trial its plan's quota counts too. */
export function agentQuota(workspace: Workspace, now_ms: number): number | null {
  const own = PLAN_TERMS[workspace.plan].agents;
  const lent =
    workspace.trial_plan !== null && trialActive(workspace, now_ms)
      ? PLAN_TERMS[workspace.trial_plan].agents
      : 0;
  return own === null || lent === null ? null : Math.max(own, lent);
}

/** ENFORCE needs a paid plan; a trial is not one. */
export function mayEnforce(workspace: Workspace): boolean {
  return PLAN_TERMS[workspace.plan].enforce;
}

/** Webhooks need the Team plan or a trial of it. */
export function mayUseWebhooks(workspace: Workspace, now_ms: number): boolean {
  if (PLAN_TERMS[workspace.plan].webhooks) return true;
  return (
    workspace.trial_plan !== null &&
    trialActive(workspace, now_ms) &&
    PLAN_TERMS[workspace.trial_plan].webhooks
  );
}
