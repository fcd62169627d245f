import type { CounterRow } from '../counters/counters.ts';
import type { MerchantEntry } from '../merchants/directory.ts';
import { countAgentsOf, findAgents, findAgentsOfDecisions, putAgents } from '../storage/agents.ts';
import {
  deleteKeyDigests,
  insertKeyDigests,
  loadAdminKeys,
  loadKeys,
  putKeys,
  putKeyUses,
} from '../storage/api-keys.ts';
import { insertAuditRecords } from '../storage/audit.ts';
import {
  findAuthoritiesOfDecisions,
  findCurrentAuthorities,
  insertAuthorities,
} from '../storage/authorities.ts';
import { loadBudgets, loadBudgetsOfDecisions, putBudgets } from '../storage/budgets.ts';
import { insertConsumptions, loadEarlierConsumptions } from '../storage/consumptions.ts';
import type { Client } from '../storage/database.ts';
import {
  deleteExpiringHolds,
  insertExpiredReservations,
  insertExpiringHolds,
  loadDueHolds,
  putDecisionStates,
} from '../storage/decision-states.ts';
import {
  insertDecisions,
  loadDecisionRecords,
  loadDecisionsAfter,
  loadEarlierDecisions,
} from '../storage/decisions.ts';
import {
  addToCounters,
  loadCounters,
  loadWholeCounters,
  type WantedCounter,
} from '../storage/derived/counters.ts';
import {
  addKnownMerchants,
  type KnownMerchantRef,
  loadKnownMerchants,
} from '../storage/derived/known-merchants.ts';
import { insertLabels, loadLabelsOfDecisions } from '../storage/labels.ts';
import { appendLedgerEvents } from '../storage/ledger.ts';
import {
  insertUsers,
  loadAdminMembers,
  loadAnyPerson,
  loadInvitations,
  loadInvitationsByEmail,
  loadMembers,
  loadMembersByPrincipal,
  loadPeopleByEmail,
  putInvitations,
  putMembers,
} from '../storage/members.ts';
import { findListedMerchants, loadMerchantEntries, putMerchantEntries } from '../storage/merchant-entries.ts';
import { insertOutcomes, loadOutcomesOfDecisions } from '../storage/outcomes.ts';
import { insertReviews } from '../storage/reviews.ts';
import type { InWorkspace, Write } from '../storage/rows.ts';
import { endSessionsOf, loadSessions } from '../storage/sessions.ts';
import {
  deleteWebhookEndpoints,
  insertWebhookDeliveries,
  insertWebhookEvents,
  loadEndpointsOf,
  putWebhookEndpoints,
  putWebhookQueues,
} from '../storage/webhooks.ts';
import { loadWorkspaces, putWorkspaces } from '../storage/workspaces.ts';
import type { Changes } from './changes.ts';
import type { OutboxChanges } from './outbox.ts';
import type { PeopleChanges } from './people.ts';

/** The rows that a command needs loaded before it is applied. */
export interface Needs {
  /** Agents by id or slug, with their current authorities. */
  agents?: readonly string[];
  /** This month's budgets of these agents, with the expired holds that still count in them. */
  budgets_of?: readonly string[];
  counters?: readonly WantedCounter[];
  /** Counters with all their subjects. */
  whole_counters?: readonly string[];
  /** An agent's decisions after one, at most `MAX_DECISIONS_SINCE`. */
  decisions_since?: { agent_id: string; after: string };
  idempotency?: { agent_id: string; idempotency_key: string };
  /** Decisions with their states, agents, and the budgets they count in. */
  decisions?: readonly string[];
  /** The current authorities of the agents of these decisions. */
  authorities_of?: readonly string[];
  /** The links between the labels of these decisions, which tell which labels are current. */
  labels_of?: readonly string[];
  outcomes_of?: readonly string[];
  /** The idempotency key of an earlier consumption. */
  consumption_key?: string;
  keys?: readonly string[];
  /** The workspace itself and its number of agents. */
  workspace?: boolean;
  admin_keys?: boolean;
  /** The webhook endpoints, for commands that publish events or change endpoints. */
  webhooks?: boolean;
  sessions?: readonly string[];
  /** Members by the ids of their users. */
  members?: readonly string[];
  admin_members?: boolean;
  /** The members who have these principals. */
  principals?: readonly string[];
  /** The people with these e-mails, and the invitations that wait for them. */
  emails?: readonly string[];
  /** Whether there is anybody. */
  any_person?: boolean;
  invitations?: readonly string[];
  /** The entries in force of the merchants listed for these agents, by id or slug. */
  listed_merchants_of?: readonly string[];
  merchant_entries?: readonly string[];
  /** Whether the agent is known to have paid this. */
  known_merchant?: KnownMerchantRef;
}

/**
 * How rows stay known after their batch (`known-rows.ts`). Only for kinds of which every write goes through the lane, and
 * whose key has one field: then nothing of them can have changed while the head of the workspace has not.
 */
export interface Knowable<Row> {
  /** Returns the key that a row is found by; what was asked for by another, such as a slug, is loaded each time. */
  keyOf: (row: Row) => string;
  /** Returns the keys whose rows a batch changed, so that they are loaded again. */
  changed?: (set: ChangedSet) => Iterable<string>;
  /** The rows that a batch changed, each in the place of the one that is the same. */
  replaced?: { rowsOf: (set: ChangedSet) => Iterable<Row>; isSame: (a: Row, b: Row) => boolean };
}

/** The most decisions of an agent that `decisions_since` loads; where there are as many, there may be more. */
export const MAX_DECISIONS_SINCE = 1_000;

/** One kind of row that a batch loads. */
export interface Load<Key extends object = object, Row = object> {
  /** Returns the keys that one command needs of this kind. */
  keysOf: (needs: Needs) => readonly Key[];
  /** Loads the rows of any number of workspaces with one statement. */
  rowsOf: (client: Client, keys: readonly InWorkspace<Key>[]) => Promise<InWorkspace<Row>[]>;
  known?: Knowable<Row> | undefined;
}

const load = <Key extends object, Row>(
  keysOf: Load<Key, Row>['keysOf'],
  rowsOf: Load<Key, Row>['rowsOf'],
  known?: Knowable<Row>,
): Load<Key, Row> => ({ keysOf, rowsOf, known });

const NONE: readonly never[] = [];
const refs = (all?: readonly string[]) => all?.map((ref) => ({ ref })) ?? NONE;
const agentIds = (all?: readonly string[]) => all?.map((agent_id) => ({ agent_id })) ?? NONE;
const decisionIds = (all?: readonly string[]) => all?.map((decision_id) => ({ decision_id })) ?? NONE;
const keyIds = (all?: readonly string[]) => all?.map((key_id) => ({ key_id })) ?? NONE;
const emails = (all?: readonly string[]) => all?.map((email) => ({ email })) ?? NONE;
/** The key of what is needed of a workspace as a whole. */
const whole = (is_wanted = false): readonly object[] => (is_wanted ? [{}] : NONE);
const workspaceIds = (keys: readonly InWorkspace<object>[]) => keys.map(({ workspace_id }) => workspace_id);

/**
 * Everything that a batch can load, in the order in which the statements are sent. Each statement takes its snapshot
 * when it begins, which is after the heads were locked. Kinds that no command of the batch needs send no statement.
 */
const LOADS = {
  agents: load((needs) => refs(needs.agents), findAgents, {
    keyOf: ({ agent_id }) => agent_id,
    changed: ({ changes }) => changes.agents.keys(),
  }),
  authorities: load((needs) => refs(needs.agents), findCurrentAuthorities, {
    keyOf: ({ agent_id }) => agent_id,
    // Which version is current stands in the agent.
    changed: ({ changes }) => changes.agents.keys(),
  }),
  // This comes before the budgets: a hold that has expired for this statement has also expired for the later one, which
  // therefore loads the counter of its month.
  due_holds: load((needs) => agentIds(needs.budgets_of), loadDueHolds),
  budgets: load((needs) => agentIds(needs.budgets_of), loadBudgets, {
    keyOf: ({ agent_id }) => agent_id,
    replaced: {
      rowsOf: ({ changes }) => changes.budgets.values(),
      isSame: (a, b) => a.period === b.period && a.currency === b.currency,
    },
  }),
  counters: load(({ counters }) => counters ?? NONE, loadCounters),
  whole_counters: load(
    ({ whole_counters }) => whole_counters?.map((counter_id) => ({ counter_id })) ?? NONE,
    loadWholeCounters,
  ),
  decisions_since: load(
    ({ decisions_since }) => (decisions_since === undefined ? NONE : [decisions_since]),
    (client, keys) => loadDecisionsAfter(client, keys, MAX_DECISIONS_SINCE),
  ),
  earlier_decisions: load(
    ({ idempotency }) => (idempotency === undefined ? NONE : [idempotency]),
    loadEarlierDecisions,
  ),
  keys: load((needs) => keyIds(needs.keys), loadKeys, {
    keyOf: ({ key_id }) => key_id,
    changed: ({ changes }) => changes.keys.keys(),
  }),
  admin_keys: load(
    (needs) => whole(needs.admin_keys),
    (client, keys) => loadAdminKeys(client, workspaceIds(keys)),
  ),
  workspaces: load(
    (needs) => whole(needs.workspace),
    (client, keys) => loadWorkspaces(client, workspaceIds(keys)),
  ),
  agent_counts: load(
    (needs) => whole(needs.workspace),
    (client, keys) => countAgentsOf(client, workspaceIds(keys)),
  ),
  decisions: load((needs) => decisionIds(needs.decisions), loadDecisionRecords),
  agents_of_decisions: load((needs) => decisionIds(needs.decisions), findAgentsOfDecisions),
  authorities_of_decisions: load((needs) => decisionIds(needs.authorities_of), findAuthoritiesOfDecisions),
  budgets_of_decisions: load((needs) => decisionIds(needs.decisions), loadBudgetsOfDecisions),
  labels: load((needs) => decisionIds(needs.labels_of), loadLabelsOfDecisions),
  outcomes: load((needs) => decisionIds(needs.outcomes_of), loadOutcomesOfDecisions),
  earlier_consumptions: load(
    ({ consumption_key }) => (consumption_key === undefined ? NONE : [{ idempotency_key: consumption_key }]),
    loadEarlierConsumptions,
  ),
  sessions: load(({ sessions }) => sessions?.map((session_id) => ({ session_id })) ?? NONE, loadSessions),
  members: load(({ members }) => members?.map((user_id) => ({ user_id })) ?? NONE, loadMembers),
  admin_members: load(
    (needs) => whole(needs.admin_members),
    (client, keys) => loadAdminMembers(client, workspaceIds(keys)),
  ),
  members_by_principal: load(
    ({ principals }) => principals?.map((principal_id) => ({ principal_id })) ?? NONE,
    loadMembersByPrincipal,
  ),
  people: load((needs) => emails(needs.emails), loadPeopleByEmail),
  any_person: load(
    (needs) => whole(needs.any_person),
    (client, keys) => loadAnyPerson(client, workspaceIds(keys)),
  ),
  invitations: load(
    ({ invitations }) => invitations?.map((invitation_id) => ({ invitation_id })) ?? NONE,
    loadInvitations,
  ),
  invitations_by_email: load((needs) => emails(needs.emails), loadInvitationsByEmail),
  listed_merchants: load((needs) => refs(needs.listed_merchants_of), findListedMerchants),
  merchant_entries: load(
    ({ merchant_entries }) => merchant_entries?.map((entry_id) => ({ entry_id })) ?? NONE,
    loadMerchantEntries,
  ),
  known_merchants: load(
    ({ known_merchant }) => (known_merchant === undefined ? NONE : [known_merchant]),
    loadKnownMerchants,
  ),
};

/**
 * Loaded after the heads, because only they tell which workspaces have webhooks: the others send no statement for
 * them.
 */
export const WEBHOOKS = load(
  (needs) => whole(needs.webhooks),
  (client, keys) => loadEndpointsOf(client, workspaceIds(keys)),
  {
    keyOf: () => '',
    changed: ({ outbox: { changes } }) => (changes.endpoints.size + changes.deleted.size === 0 ? [] : ['']),
  },
);

type RowsOf<L> = L extends { rowsOf: (client: Client, keys: never) => Promise<InWorkspace<infer Row>[]> }
  ? readonly Row[]
  : never;

/** The rows of one workspace that a batch loaded, as they were before it. */
export type Loaded = { [Kind in keyof typeof LOADS]: RowsOf<(typeof LOADS)[Kind]> } & {
  webhooks: RowsOf<typeof WEBHOOKS>;
};

/** All kinds, in the order in which their statements are sent; the webhooks come last. */
export const KINDS = Object.entries({ ...LOADS, webhooks: WEBHOOKS }) as unknown as readonly [
  keyof Loaded,
  Load,
][];

/** What a batch loaded where it needed nothing. */
export function nothingLoaded(): Loaded {
  return Object.fromEntries(KINDS.map(([kind]) => [kind, []])) as unknown as Loaded;
}

/** The changes of a batch in one workspace. */
export interface ChangedSet {
  workspace_id: string;
  changes: Changes;
  outbox: { changes: OutboxChanges };
  people: { changes: PeopleChanges };
  listed_merchants: { changes: ReadonlyMap<string, MerchantEntry> };
  counters: { changes: ReadonlyMap<string, CounterRow> };
}

type Put = (client: Client, sets: readonly ChangedSet[]) => Promise<unknown> | undefined;

/** Makes the writer of one kind of row: one statement for all workspaces, or none if nothing changed. */
function put<Row>(write: Write<Row>, rowsOf: (set: ChangedSet) => Iterable<Row>): Put {
  return (client, sets) => {
    const parts = sets.flatMap((set) => {
      const rows = [...rowsOf(set)];
      return rows.length === 0 ? [] : [{ workspace_id: set.workspace_id, rows }];
    });
    return parts.length === 0 ? undefined : write(client, parts);
  };
}

/** Everything that a batch can write, in the order in which the statements are sent. */
const WRITES: readonly Put[] = [
  put(putWorkspaces, ({ changes }) => (changes.workspace === undefined ? [] : [changes.workspace])),
  put(putAgents, ({ changes }) => changes.agents.values()),
  put(insertAuthorities, ({ changes }) => changes.authorities),
  put(putKeys, ({ changes }) => changes.keys.values()),
  put(insertKeyDigests, ({ changes }) => changes.new_digests),
  put(deleteKeyDigests, ({ changes }) => changes.old_digests),
  put(putKeyUses, ({ changes }) => changes.key_uses.values()),
  put(insertDecisions, ({ changes }) => changes.decisions),
  put(putDecisionStates, ({ changes }) => changes.states.values()),
  put(insertReviews, ({ changes }) => changes.reviews),
  put(insertLabels, ({ changes }) => changes.labels),
  put(insertOutcomes, ({ changes }) => changes.outcomes),
  put(insertConsumptions, ({ changes }) => changes.consumptions),
  put(deleteExpiringHolds, ({ changes }) => changes.settled_expiring.values()),
  put(insertExpiringHolds, ({ changes }) => changes.new_expiring.values()),
  put(insertExpiredReservations, ({ changes }) => changes.expired_reservations),
  put(putBudgets, ({ changes }) => changes.budgets.values()),
  put(addKnownMerchants, ({ changes }) => changes.known_merchants.values()),
  put(addToCounters, ({ counters }) => counters.changes.values()),
  put(insertUsers, ({ people }) => people.changes.users),
  put(putMembers, ({ people }) => people.changes.members.values()),
  put(putInvitations, ({ people }) => people.changes.invitations.values()),
  put(endSessionsOf, ({ people }) => people.changes.ended_sessions.values()),
  put(putMerchantEntries, ({ listed_merchants }) => listed_merchants.changes.values()),
  put(insertAuditRecords, ({ changes }) => changes.audit),
  put(appendLedgerEvents, ({ changes }) => changes.events),
  put(putWebhookEndpoints, ({ outbox }) => outbox.changes.endpoints.values()),
  put(deleteWebhookEndpoints, ({ outbox }) => outbox.changes.deleted),
  put(insertWebhookEvents, ({ outbox }) => outbox.changes.events),
  put(insertWebhookDeliveries, ({ outbox }) => outbox.changes.deliveries.values()),
  put(putWebhookQueues, ({ outbox }) =>
    [...outbox.changes.queues.values()].sort((a, b) => (a.endpoint_id < b.endpoint_id ? -1 : 1)),
  ),
];

/** Sends everything that changed, one statement for each table, without waiting. */
export function sendWrites(client: Client, sets: readonly ChangedSet[]): Promise<unknown>[] {
  // Webhook queues are locked in key order, as the workers lock them; otherwise a batch and a worker that both lock
  // queues of several workspaces could deadlock.
  const in_order = [...sets].sort((a, b) => (a.workspace_id < b.workspace_id ? -1 : 1));
  return WRITES.flatMap((write) => write(client, in_order) ?? []);
}
