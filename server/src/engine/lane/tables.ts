import { tellsLast } from '@purser/rules/counters/counted-in';
import type { StoredCounter } from '@purser/rules/counters/counters';
import { type Counters, isExact } from '@purser/rules/counters/counters-in-memory';
import type { LimitAlert } from '@purser/rules/counters/limit-alerts';
import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { QuestionEvent, QuestionRow } from '@purser/rules/domain/question-history';
import type { MerchantEntry } from '@purser/rules/merchants/directory';
import type { SlackLink } from '@purser/rules/notices/slack-accounts';
import type { DecisionLinkRow } from '@purser/rules/sharing/decision-link';
import type { SigningKeyRow } from '@purser/rules/signing/records/signing-key';
import {
  countOpenBelow,
  loadAllowances,
  loadAllowancesOfAgents,
  loadAllowancesOfDecisions,
  loadByExternalIds,
} from '../allowances/allowance-rows.ts';
import type { Allowances } from '../allowances/allowances.ts';
import { loadIssuers } from '../allowances/issuer-rows.ts';
import type { HistoryChanges } from '../history/imported-lines.ts';
import { loadLineFacts, loadMatchedLines, loadUnmatchedLines } from '../matching/resolution-rows.ts';
import type { CoverageChanges } from '../matching/resolved-lines.ts';
import type { Needs } from '../needs/needs.ts';
import {
  loadAuthorizationsOfDecisions,
  loadLinesOfAuthorizations,
  loadRailAuthorizations,
} from '../rails/authorization-rows.ts';
import { loadRails } from '../rails/rail-rows.ts';
import type { RailChanges } from '../rails/rails.ts';
import { loadDecisionLinks } from '../sharing/decision-link-rows.ts';
import { loadSigningKeys } from '../signing/signing-key-rows.ts';
import { loadSlackLinks } from '../slack/slack-link-rows.ts';
import { countAgentsOf, findAgents, findAgentsOfDecisions } from '../storage/agents.ts';
import {
  findKeysOfInvitations,
  loadAdminKeys,
  loadForeignKeys,
  loadKeys,
  loadReviewKeys,
} from '../storage/api-keys.ts';
import { findAuthoritiesOfDecisions, findCurrentAuthorities } from '../storage/authorities.ts';
import { loadEarlierConsumptions } from '../storage/consumptions.ts';
import type { Client } from '../storage/database.ts';
import { loadDueHolds } from '../storage/decision-states.ts';
import { loadChangedDecisions, loadDecisionRecords, loadEarlierDecisions } from '../storage/decisions.ts';
import { loadBudgets, loadBudgetsOfDecisions } from '../storage/derived/budgets.ts';
import { loadBudgetCounters, loadCounters, type WantedCounter } from '../storage/derived/counters.ts';
import { loadKnownMerchants } from '../storage/derived/known-merchants.ts';
import { loadQuestions } from '../storage/derived/questions.ts';
import { loadImportProgress, loadImports } from '../storage/history/imports.ts';
import { loadAssignments, loadLinesByIdentity } from '../storage/history/lines.ts';
import { loadLabelsOfDecisions } from '../storage/labels.ts';
import {
  loadAnyPerson,
  loadDisabledMembers,
  loadInvitations,
  loadInvitationsByEmail,
  loadMembers,
  loadMembersByPrincipal,
  loadPendingInvitations,
  loadPeopleByEmail,
  loadReviewers,
} from '../storage/members.ts';
import { findListedMerchants, loadMerchantEntries } from '../storage/merchant-entries.ts';
import { loadChannelsOf } from '../storage/notices/channels.ts';
import { loadLimitAlerts } from '../storage/notices/limit-alerts.ts';
import { loadNoticeBursts } from '../storage/notices/notices.ts';
import { loadLastDigests, loadNotifiedPeople } from '../storage/notices/people.ts';
import { loadOutcomesOfDecisions } from '../storage/outcomes.ts';
import { loadReviewPolicies, loadReviewPolicyVersions } from '../storage/reviews/review-policies.ts';
import { loadEarlierReviews } from '../storage/reviews.ts';
import type { InWorkspace } from '../storage/rows.ts';
import { loadSessions } from '../storage/sessions.ts';
import { loadSharedBudgets } from '../storage/shared-budgets.ts';
import { loadEndpointsOf } from '../storage/webhooks.ts';
import { loadWorkspaces } from '../storage/workspaces.ts';
import type { Changes } from './changes.ts';
import type { NoticeChanges } from './notices.ts';
import type { OutboxChanges } from './outbox.ts';
import type { PeopleChanges } from './people.ts';
import { questionName } from './questions.ts';

/**
 * How rows stay known after their batch (`known-rows.ts`). Only for kinds of which every write goes through the lane, and
 * whose key has one field: then nothing of them can have changed while the head of the workspace has not.
 */
export interface Cacheable<Row> {
  /**
   * Returns the key that a row is found by; what was asked for by another, such as a slug, is loaded each time. Null: the row
   * is not worth keeping.
   */
  keyOf: (row: Row) => string | null;
  /** About the length of a row as JSON, for rows that grow. */
  lengthOf?: (row: Row) => number;
  /** Returns the keys whose rows a batch changed, so that they are loaded again. */
  changed?: (set: ChangedSet) => Iterable<string>;
  /** The rows that a batch changed, each in the place of the one that is the same. */
  replaced?: { rowsOf: (set: ChangedSet) => Iterable<Row>; isSame: (a: Row, b: Row) => boolean };
}

/** The most events of the chain in which `changed_decisions` looks for decisions. */
export const MAX_EVENTS_SINCE = 5_000;

/** One kind of row that a batch loads. */
export interface Load<Key extends object = object, Row = object> {
  /** Returns the keys that one command needs of this kind. */
  keysOf: (needs: Needs) => readonly Key[];
  /** Names a key, where its fields' values are not its name. */
  nameOf?: ((key: Key) => string) | undefined;
  /** Loads the rows of any number of workspaces with one statement. */
  rowsOf: (client: Client, keys: readonly InWorkspace<Key>[]) => Promise<InWorkspace<Row>[]>;
  known?: Cacheable<Row> | undefined;
}

const load = <Key extends object, Row>(
  keysOf: Load<Key, Row>['keysOf'],
  rowsOf: Load<Key, Row>['rowsOf'],
  known?: Cacheable<Row>,
): Load<Key, Row> => ({ keysOf, rowsOf, known });

/** Frozen, since workspaces share it. */
const NONE: readonly never[] = Object.freeze([]);
const LENGTH_OF_COUNTER = 120;
const LENGTH_OF_SLOT = 100;
/** The keys of rows that are found by one column. */
const by = <Column extends string>(column: Column, values?: readonly string[]) =>
  values?.map((value) => ({ [column]: value }) as Record<Column, string>) ?? NONE;
const one = <Key>(key?: Key): readonly Key[] => (key === undefined ? NONE : [key]);

/** Makes the load of what is needed of a workspace as a whole. */
const loadWhole = <Row>(
  isNeeded: (needs: Needs) => boolean | undefined,
  rowsOf: (client: Client, workspace_ids: string[]) => Promise<InWorkspace<Row>[]>,
  known?: Cacheable<Row>,
) =>
  load<object, Row>(
    (needs) => (isNeeded(needs) === true ? [{}] : NONE),
    (client, keys) =>
      rowsOf(
        client,
        keys.map(({ workspace_id }) => workspace_id),
      ),
    known,
  );

/**
 * Everything that a batch can load, in the order in which the statements are sent. Each statement takes its snapshot
 * when it begins, which is after the heads were locked. Kinds that no command of the batch needs send no statement.
 */
const LOADS = {
  agents: load((needs) => by('ref', needs.agents), findAgents, {
    keyOf: ({ agent_id }) => agent_id,
    changed: ({ changes }) => changes.agents.keys(),
  }),
  authorities: load((needs) => by('ref', needs.agents), findCurrentAuthorities, {
    keyOf: ({ agent_id }) => agent_id,
    // Which version is current stands in the agent.
    changed: ({ changes }) => changes.agents.keys(),
  }),
  // This comes before the budgets: a hold that has expired for this statement has also expired for the later one, which
  // therefore loads the counter of its month.
  due_holds: load((needs) => by('agent_id', needs.budgets_of), loadDueHolds),
  budgets: load((needs) => by('agent_id', needs.budgets_of), loadBudgets, {
    keyOf: ({ agent_id }) => agent_id,
    replaced: {
      rowsOf: ({ changes }) => changes.budgets.values(),
      isSame: (a, b) => a.period === b.period && a.currency === b.currency,
    },
  }),
  counters: {
    ...load<WantedCounter, StoredCounter>(({ counters }) => counters ?? NONE, loadCounters, {
      // Hardly any spend is the duplicate of another, so what is counted for that is not asked for again.
      keyOf: ({ counter_id, name, slots }) => (tellsLast(counter_id) || !isExact(slots) ? null : name),
      lengthOf: ({ slots }) => LENGTH_OF_COUNTER + slots.length * LENGTH_OF_SLOT,
      changed: ({ counters }) => counters.namesToInvalidate(),
      replaced: { rowsOf: ({ counters, now_ms }) => counters.knownAfter(now_ms), isSame: () => true },
    }),
    nameOf: ({ name }: WantedCounter) => name,
  },
  // Each is made by hand, so there are few, and all of a workspace stay known from batch to batch.
  shared_budgets: loadWhole((needs) => needs.shared_budgets !== undefined, loadSharedBudgets, {
    keyOf: () => '',
    changed: ({ shared_budgets }) => (shared_budgets.changes.size === 0 ? [] : ['']),
  }),
  budget_counters: load((needs) => by('slug', needs.shared_budgets), loadBudgetCounters),
  allowances: load((needs) => by('allowance_id', needs.allowances), loadAllowances, {
    keyOf: ({ allowance_id }) => allowance_id,
    changed: ({ allowances }) => allowances.changes.keys(),
  }),
  allowances_of_decisions: load((needs) => by('decision_id', needs.allowances_of), loadAllowancesOfDecisions),
  allowances_of_agents: load((needs) => by('ref', needs.allowances_of_agents), loadAllowancesOfAgents),
  allowances_by_external_id: load((needs) => needs.allowance_external_ids ?? NONE, loadByExternalIds),
  open_allowances_below: load((needs) => by('root_id', needs.open_allowances_below), countOpenBelow),
  allowance_issuers: load((needs) => by('issuer_id', needs.allowance_issuers), loadIssuers),
  limit_alerts: load(({ limit_alerts }) => limit_alerts ?? NONE, loadLimitAlerts),
  changed_decisions: load(
    (needs) => one(needs.changed_decisions),
    (client, keys) => loadChangedDecisions(client, keys, MAX_EVENTS_SINCE),
  ),
  earlier_decisions: load((needs) => one(needs.idempotency), loadEarlierDecisions),
  keys: load((needs) => by('key_id', needs.keys), loadKeys, {
    keyOf: ({ key_id }) => key_id,
    changed: ({ changes }) => changes.keys.keys(),
  }),
  admin_keys: loadWhole((needs) => needs.admin_keys, loadAdminKeys),
  review_keys: loadWhole((needs) => needs.review_keys, loadReviewKeys),
  workspaces: loadWhole((needs) => needs.workspace, loadWorkspaces),
  agent_counts: loadWhole((needs) => needs.workspace, countAgentsOf),
  decisions: load((needs) => by('decision_id', needs.decisions), loadDecisionRecords),
  agents_of_decisions: load((needs) => by('decision_id', needs.decisions), findAgentsOfDecisions),
  authorities_of_decisions: load(
    (needs) => by('decision_id', needs.authorities_of),
    findAuthoritiesOfDecisions,
  ),
  budgets_of_decisions: load((needs) => by('decision_id', needs.decisions), loadBudgetsOfDecisions),
  labels: load((needs) => by('decision_id', needs.labels_of), loadLabelsOfDecisions),
  outcomes: load((needs) => by('decision_id', needs.outcomes_of), loadOutcomesOfDecisions),
  reviews: load((needs) => by('decision_id', needs.reviews_of), loadEarlierReviews),
  // One row of each workspace, also where no policy was ever put, so that it stays known.
  review_policies: loadWhole((needs) => needs.review_policy, loadReviewPolicies, {
    keyOf: () => '',
    changed: ({ changes }) => (changes.review_policies.length === 0 ? [] : ['']),
  }),
  review_policy_versions: load(
    ({ review_policy_version: version }) => (version === undefined ? NONE : [{ version }]),
    loadReviewPolicyVersions,
  ),
  imports: load((needs) => by('import_id', needs.imports), loadImports),
  import_progress: load((needs) => by('import_id', needs.imports), loadImportProgress),
  lines: load(({ lines }) => lines ?? NONE, loadLinesByIdentity),
  assignments: load((needs) => by('instrument', needs.instruments), loadAssignments),
  line_facts: load((needs) => by('line_id', needs.line_facts), loadLineFacts),
  matched_lines: load((needs) => by('decision_id', needs.matched_with), loadMatchedLines),
  unmatched_lines: load((needs) => by('line_id', needs.unmatched_lines), loadUnmatchedLines),
  rails: load((needs) => by('rail_id', needs.rails), loadRails),
  rail_authorizations: load(({ rail_authorizations }) => rail_authorizations ?? NONE, loadRailAuthorizations),
  authorizations_of_decisions: load(
    (needs) => by('decision_id', needs.authorizations_of),
    loadAuthorizationsOfDecisions,
  ),
  lines_of_authorizations: load(
    ({ authorization_lines }) => authorization_lines ?? NONE,
    loadLinesOfAuthorizations,
  ),
  earlier_consumptions: load(
    (needs) => by('idempotency_key', one(needs.consumption_key)),
    loadEarlierConsumptions,
  ),
  sessions: load((needs) => by('session_id', needs.sessions), loadSessions),
  members: load((needs) => by('user_id', needs.members), loadMembers),
  reviewers: loadWhole((needs) => needs.reviewers, loadReviewers),
  disabled_members: loadWhole((needs) => needs.reviewers, loadDisabledMembers),
  members_by_principal: load((needs) => by('principal_id', needs.principals), loadMembersByPrincipal),
  foreign_keys: load((needs) => by('principal_id', needs.principals), loadForeignKeys),
  people: load((needs) => by('email', needs.emails), loadPeopleByEmail),
  any_person: loadWhole((needs) => needs.any_person, loadAnyPerson),
  invitations: load((needs) => by('invitation_id', needs.invitations), loadInvitations),
  pending_invitations: loadWhole((needs) => needs.pending_invitations, loadPendingInvitations),
  keys_of_invitations: load((needs) => by('invitation_id', needs.invitations), findKeysOfInvitations),
  invitations_by_email: load((needs) => by('email', needs.emails), loadInvitationsByEmail),
  listed_merchants: load((needs) => by('ref', needs.listed_merchants_of), findListedMerchants),
  merchant_entries: load((needs) => by('entry_id', needs.merchant_entries), loadMerchantEntries),
  known_merchants: load((needs) => one(needs.known_merchant), loadKnownMerchants),
  decision_links: load((needs) => by('link_id', needs.decision_links), loadDecisionLinks),
  signing_keys: loadWhole((needs) => needs.signing_keys, loadSigningKeys),
  slack_links: loadWhole((needs) => needs.slack_links, loadSlackLinks),
  questions: load(({ questions }) => questions ?? NONE, loadQuestions, {
    keyOf: questionName,
    replaced: { rowsOf: ({ questions }) => questions.changes.values(), isSame: () => true },
  }),
  notified_people: loadWhole((needs) => needs.notified_people, loadNotifiedPeople),
  last_digests: load((needs) => by('user_id', needs.last_digests_of), loadLastDigests),
  notice_bursts: load((needs) => by('agent_id', needs.notice_bursts_of), loadNoticeBursts, {
    keyOf: ({ agent_id }) => agent_id,
    replaced: { rowsOf: ({ outbox }) => outbox.notices.changes.bursts.values(), isSame: () => true },
  }),
};

/** Loaded after the heads, because only their flags tell which workspaces have any: the others send no statement for them. */
const FLAGGED = {
  webhooks: loadWhole((needs) => needs.webhooks, loadEndpointsOf, {
    keyOf: () => '',
    changed: ({ outbox: { changes } }) => (changes.endpoints.size + changes.deleted.size === 0 ? [] : ['']),
  }),
  channels: loadWhole((needs) => needs.webhooks, loadChannelsOf, {
    keyOf: () => '',
    changed: ({ outbox: { changes } }) =>
      changes.channels.size + changes.deleted_channels.size === 0 ? [] : [''],
  }),
};

/** The flag of the head that says whether a workspace has such rows, of the kinds that have one. */
export const FLAG_OF: ReadonlyMap<string, 'has_webhooks' | 'has_channels'> = new Map([
  ['webhooks', 'has_webhooks'],
  ['channels', 'has_channels'],
] satisfies [keyof typeof FLAGGED, 'has_webhooks' | 'has_channels'][]);

type RowsOf<L> = L extends { rowsOf: (client: Client, keys: never) => Promise<InWorkspace<infer Row>[]> }
  ? readonly Row[]
  : never;

/** The rows of one workspace that a batch loaded, as they were before it. */
export type Loaded = { [Kind in keyof typeof LOADS]: RowsOf<(typeof LOADS)[Kind]> } & {
  [Kind in keyof typeof FLAGGED]: RowsOf<(typeof FLAGGED)[Kind]>;
};

/** All kinds, in the order in which their statements are sent; those with a flag come last. */
export const KINDS = Object.entries({ ...LOADS, ...FLAGGED }) as unknown as readonly [keyof Loaded, Load][];

const NOTHING = Object.fromEntries(KINDS.map(([kind]) => [kind, NONE])) as unknown as Loaded;

/**
 * The loaded rows of a batch that needed none. Only kinds that have rows become its own, because a batch of many workspaces
 * would otherwise make hundreds of empty lists for each.
 */
export function nothingLoaded(): Loaded {
  return Object.create(NOTHING) as Loaded;
}

/** Adds rows of one kind. */
export function addLoaded(loaded: Loaded, kind: keyof Loaded, rows: readonly object[]): void {
  const lists = loaded as Record<keyof Loaded, object[]>;
  if (Object.hasOwn(loaded, kind)) lists[kind].push(...rows);
  else lists[kind] = [...rows];
}

/** The changes of a batch in one workspace. */
export interface ChangedSet {
  workspace_id: string;
  now_ms: number;
  changes: Changes;
  outbox: { changes: OutboxChanges; notices: { changes: NoticeChanges } };
  shared_budgets: { changes: ReadonlyMap<string, SharedBudget> };
  allowances: Pick<Allowances, 'changes' | 'new_labels' | 'uses' | 'issuer_changes'>;
  limit_alerts: { changes: ReadonlyMap<string, LimitAlert> };
  questions: { changes: ReadonlyMap<string, QuestionRow>; events: readonly QuestionEvent[] };
  counters: Counters;
  /** The parts that a command asked for. */
  rare: {
    people?: { changes: PeopleChanges };
    listed_merchants?: { changes: ReadonlyMap<string, MerchantEntry> };
    decision_links?: { changes: ReadonlyMap<string, DecisionLinkRow> };
    signing_keys?: { changes: ReadonlyMap<string, SigningKeyRow> };
    imported?: { changes: HistoryChanges };
    resolved_lines?: { changes: CoverageChanges };
    rails?: { changes: RailChanges };
    slack_links?: { changes: ReadonlyMap<string, SlackLink> };
  };
}
