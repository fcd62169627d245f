import type { Agent } from '../domain/agents.ts';
import type { Actor } from '../domain/audit.ts';
import type { AuthorityRow } from '../domain/authorities.ts';
import type { BudgetRow } from '../domain/budget.ts';
import type { Consumption } from '../domain/capabilities.ts';
import type { DecisionState } from '../domain/decision-states.ts';
import type { EarlierDecision } from '../domain/decisions.ts';
import type { ApiKey } from '../domain/keys.ts';
import type { Label } from '../domain/labels.ts';
import type { Outcome } from '../domain/outcomes.ts';
import type { WebhookEndpoint } from '../domain/webhooks.ts';
import type { Workspace } from '../domain/workspace.ts';
import type { KeptDecision } from '../storage/decisions.ts';

/** What a command wants loaded before it is applied. */
export interface Needs {
  /** Agents by id or slug, with their current authorities. */
  agents?: readonly string[];
  /** This month's budgets of these agents, run-out holds let go. */
  budgets_of?: readonly string[];
  idempotency?: { agent_id: string; idempotency_key: string };
  /** Decisions as they stand, with their agents, authorities' hashes and the budgets they count in. */
  decisions?: readonly string[];
  /** What of their labels tells which are current. */
  labels_of?: readonly string[];
  outcomes_of?: readonly string[];
  /** What this idempotency key consumed. */
  consumption_key?: string;
  keys?: readonly string[];
  /** The workspace itself and its number of agents. */
  workspace?: boolean;
  admin_keys?: boolean;
  /** The webhook endpoints: for whatever publishes an event or changes them. */
  webhooks?: boolean;
}

/** What of a label tells which are current. */
export type LabelLink = Pick<Label, 'decision_id' | 'label_id' | 'supersedes'>;

/** The rows that a batch found, as they were before it. */
export interface Loaded {
  workspace: Workspace | undefined;
  agent_count: number;
  agents: readonly Agent[];
  authorities: readonly AuthorityRow[];
  budgets: readonly BudgetRow[];
  holds_to_let_go: readonly DecisionState[];
  earlier_decisions: readonly EarlierDecision[];
  decisions: readonly KeptDecision[];
  labels: readonly LabelLink[];
  outcomes: readonly Outcome[];
  earlier_consumptions: readonly Consumption[];
  keys: readonly ApiKey[];
  admin_keys: readonly ApiKey[];
  webhooks: readonly WebhookEndpoint[];
}

/** Where a change comes from, for the audit list. */
export interface Origin {
  actor: Actor;
  request_id: string | null;
  client_address: string | null;
}
