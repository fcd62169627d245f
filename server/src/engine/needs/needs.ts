import type { RailKind } from '@purser/contract/values/history';
import type { ExternalId } from '../allowances/allowance-rows.ts';
import type { WantedCounter } from '../storage/derived/counters.ts';
import type { KnownMerchantRef } from '../storage/derived/known-merchants.ts';
import type { AlertingLimit } from '../storage/notices/limit-alerts.ts';

/** The rows that a command needs loaded before it is applied. */
export interface Needs {
  /** Agents by id or slug, with their current authorities. */
  agents?: readonly string[];
  /** This month's budgets of these agents, with the expired holds that still count in them. */
  budgets_of?: readonly string[];
  counters?: readonly WantedCounter[];
  /** All shared budgets of the workspace, and what is in these, by slug, and in those above. */
  shared_budgets?: readonly string[] | undefined;
  /** Allowances by id. */
  allowances?: readonly string[] | undefined;
  /** The allowances that these decisions count in. */
  allowances_of?: readonly string[];
  /** Allowances by the external ids that their makers gave them. */
  allowance_external_ids?: readonly ExternalId[];
  /** The standing approvals in force of these agents, by id or slug, and their undecided requests. */
  allowances_of_agents?: readonly string[];
  /** How many open allowances of agents are below these, which have none above. */
  open_allowances_below?: readonly string[];
  /** Issuers of signed allowances. */
  allowance_issuers?: readonly string[];
  /** The newest alerts of these limits. */
  limit_alerts?: readonly AlertingLimit[];
  /** An agent's decisions that were made or changed after an event. At most `MAX_EVENTS_SINCE` events are read. */
  changed_decisions?: { agent_id: string; after_seq: number };
  idempotency?: { agent_id: string; idempotency_key: string };
  /** Decisions with their states, agents, and the budgets they count in. */
  decisions?: readonly string[];
  /** The current authorities of the agents of these decisions. */
  authorities_of?: readonly string[];
  /** The links between the labels of these decisions, which tell which labels are current. */
  labels_of?: readonly string[];
  outcomes_of?: readonly string[];
  reviews_of?: readonly string[];
  /** The review policy in force. */
  review_policy?: boolean;
  /** An earlier version of the review policy. */
  review_policy_version?: number | undefined;
  /** The idempotency key of an earlier consumption. */
  consumption_key?: string;
  keys?: readonly string[];
  /** The workspace itself and its number of agents. */
  workspace?: boolean;
  admin_keys?: boolean;
  /** The active keys that may review. */
  review_keys?: boolean;
  /** The webhook endpoints and channels, for commands that publish events, give notice or change one of them. */
  webhooks?: boolean;
  /** How many requests of these agents waited for a review in the last minute. */
  notice_bursts_of?: readonly string[];
  /** The members who are mailed notices. */
  notified_people?: boolean;
  /** The last digests of these users. */
  last_digests_of?: readonly string[];
  sessions?: readonly string[];
  /** Members by the ids of their users. */
  members?: readonly string[];
  /** The members who may review, administrators among them, and can sign in. */
  reviewers?: boolean;
  /** The members who have these principals, removed ones included, and the keys that carry them though another person made them. */
  principals?: readonly string[];
  /** The people with these e-mails, and the invitations that wait for them. */
  emails?: readonly string[];
  /** True if there is anybody. */
  any_person?: boolean;
  /** Invitations, with the keys that made them. */
  invitations?: readonly string[];
  /** All invitations that were neither accepted nor revoked. */
  pending_invitations?: boolean;
  /** The entries in force of the merchants listed for these agents, by id or slug. */
  listed_merchants_of?: readonly string[];
  merchant_entries?: readonly string[];
  /** A merchant that the agent may be known to have paid. */
  known_merchant?: KnownMerchantRef | undefined;
  questions?: readonly { agent_id: string; question_id: string }[];
  /** Links of decisions. */
  decision_links?: readonly string[];
  /** All signing keys of the workspace, revoked ones included. */
  signing_keys?: boolean;
  /** Imports, with how far their files were read. */
  imports?: readonly string[];
  /** Lines by what their feeds know them by. */
  lines?: readonly { feed: string; identity: string }[];
  /** The newest assignments of these instruments. */
  instruments?: readonly string[];
  rails?: readonly string[];
  /** The facts of these card authorizations. */
  rail_authorizations?: readonly { kind: RailKind; authorization_id: string }[];
  /** The card authorizations that these decisions are for. */
  authorizations_of?: readonly string[];
  /** The lines of these card authorizations. */
  authorization_lines?: readonly { feed: string; authorization_id: string }[];
  /** Lines by id, with whose they are. */
  line_facts?: readonly string[];
  /** The lines that people matched with these decisions. */
  matched_with?: readonly string[];
  /** Which of these lines were reported as unmatched. */
  unmatched_lines?: readonly string[];
  /** The accounts in Slack that members linked, ended links included. */
  slack_links?: boolean;
}
