import { insertAllowanceLabels, insertAllowanceUses, putAllowances } from '../allowances/allowance-rows.ts';
import { putIssuers } from '../allowances/issuer-rows.ts';
import { insertLineResolutions, insertUnmatchedLines } from '../matching/resolution-rows.ts';
import { insertRailAuthorizations } from '../rails/authorization-rows.ts';
import { deleteRails, putRails } from '../rails/rail-rows.ts';
import { putDecisionLinks } from '../sharing/decision-link-rows.ts';
import { putSigningKeys } from '../signing/signing-key-rows.ts';
import { putSlackLinks } from '../slack/slack-link-rows.ts';
import { putAgents } from '../storage/agents.ts';
import { deleteKeyDigests, insertKeyDigests, putKeys, putKeyUses } from '../storage/api-keys.ts';
import { insertAuditRecords } from '../storage/audit.ts';
import { insertAuthorities } from '../storage/authorities.ts';
import { insertConsumptions } from '../storage/consumptions.ts';
import type { Client } from '../storage/database.ts';
import {
  deleteExpiringHolds,
  insertExpiredReservations,
  insertExpiringHolds,
  putDecisionStates,
} from '../storage/decision-states.ts';
import { insertDecisions } from '../storage/decisions.ts';
import { putBudgets } from '../storage/derived/budgets.ts';
import { addToCounters } from '../storage/derived/counters.ts';
import { addKnownMerchants } from '../storage/derived/known-merchants.ts';
import { insertQuestionEvents, putQuestions } from '../storage/derived/questions.ts';
import {
  deleteImportProblems,
  deleteImports,
  insertImportProblems,
  insertImports,
  putImportProgress,
} from '../storage/history/imports.ts';
import { insertAssignments, insertLines } from '../storage/history/lines.ts';
import { insertLabels } from '../storage/labels.ts';
import { appendLedgerEvents } from '../storage/ledger.ts';
import { insertInvitationEmails, insertUsers, putInvitations, putMembers } from '../storage/members.ts';
import { putMerchantEntries } from '../storage/merchant-entries.ts';
import { deleteChannels, putChannels } from '../storage/notices/channels.ts';
import { putLimitAlerts } from '../storage/notices/limit-alerts.ts';
import { insertNotices, putNoticeBursts } from '../storage/notices/notices.ts';
import { putLastDigests } from '../storage/notices/people.ts';
import { insertOutcomes } from '../storage/outcomes.ts';
import { insertNotes } from '../storage/reviewing/notes.ts';
import { insertReviewPolicies } from '../storage/reviews/review-policies.ts';
import { insertReviews } from '../storage/reviews.ts';
import type { WorkspaceRows, Write } from '../storage/rows.ts';
import { endSessionsOf } from '../storage/sessions.ts';
import { putSharedBudgets } from '../storage/shared-budgets.ts';
import {
  deleteWebhookEndpoints,
  insertWebhookDeliveries,
  insertWebhookEvents,
  putWebhookEndpoints,
  putWebhookQueues,
} from '../storage/webhooks.ts';
import { putWorkspaces } from '../storage/workspaces.ts';
import type { ChangedSet } from './tables.ts';

type Put = (client: Client, sets: readonly ChangedSet[]) => Promise<unknown> | undefined;

/** Changed rows as a working set has them. */
type Rows<Row> = undefined | readonly Row[] | { readonly size: number; values(): Iterable<Row> };

const NONE: readonly never[] = [];
/** Most kinds are changed by hardly any batch, so no list is made of nothing. */
function listOf<Row>(rows: Rows<Row>): readonly Row[] {
  if (rows === undefined) return NONE;
  if ('length' in rows) return rows;
  return rows.size === 0 ? NONE : [...rows.values()];
}

/** Makes the writer of one kind of row: one statement for all workspaces, or none if nothing changed. */
function put<Row>(write: Write<Row>, rowsOf: (set: ChangedSet) => Rows<Row>): Put {
  return (client, sets) => {
    const parts: WorkspaceRows<Row>[] = [];
    for (const set of sets) {
      const rows = listOf(rowsOf(set));
      if (rows.length > 0) parts.push({ workspace_id: set.workspace_id, rows });
    }
    return parts.length === 0 ? undefined : write(client, parts);
  };
}

const idsOf = (ids: Rows<string>) => listOf(ids).map((import_id) => ({ import_id }));

/** Everything that a batch can write, in the order in which the statements are sent. */
const WRITES: readonly Put[] = [
  put(putWorkspaces, ({ changes }) => (changes.workspace === undefined ? [] : [changes.workspace])),
  put(putAgents, ({ changes }) => changes.agents),
  put(insertAuthorities, ({ changes }) => changes.authorities),
  put(insertReviewPolicies, ({ changes }) => changes.review_policies),
  put(putKeys, ({ changes }) => changes.keys),
  put(insertKeyDigests, ({ changes }) => changes.new_digests),
  put(deleteKeyDigests, ({ changes }) => changes.old_digests),
  put(putKeyUses, ({ changes }) => changes.key_uses),
  put(insertDecisions, ({ changes }) => changes.decisions),
  put(putDecisionStates, ({ changes }) => changes.states),
  put(insertReviews, ({ changes }) => changes.reviews),
  put(insertLabels, ({ changes }) => changes.labels),
  put(insertNotes, ({ changes }) => changes.notes),
  put(insertOutcomes, ({ changes }) => changes.outcomes),
  put(insertConsumptions, ({ changes }) => changes.consumptions),
  put(deleteExpiringHolds, ({ changes }) => changes.settled_expiring),
  put(insertExpiringHolds, ({ changes }) => changes.new_expiring),
  put(insertExpiredReservations, ({ changes }) => changes.expired_reservations),
  put(putBudgets, ({ changes }) => changes.budgets),
  put(addKnownMerchants, ({ changes }) => changes.known_merchants),
  put(addToCounters, ({ counters }) => counters.changes()),
  put(insertUsers, ({ rare }) => rare.people?.changes.users),
  put(putMembers, ({ rare }) => rare.people?.changes.members),
  put(putInvitations, ({ rare }) => rare.people?.changes.invitations),
  put(insertInvitationEmails, ({ rare }) => rare.people?.changes.emails),
  put(endSessionsOf, ({ rare }) => rare.people?.changes.ended_sessions),
  put(putMerchantEntries, ({ rare }) => rare.listed_merchants?.changes),
  put(putQuestions, ({ questions }) => questions.changes),
  put(insertQuestionEvents, ({ questions }) => questions.events),
  put(putLimitAlerts, ({ limit_alerts }) => limit_alerts.changes),
  put(putSharedBudgets, ({ shared_budgets }) => shared_budgets.changes),
  put(putAllowances, ({ allowances }) => allowances.changes),
  put(insertAllowanceLabels, ({ allowances }) => allowances.new_labels),
  put(insertAllowanceUses, ({ allowances }) => allowances.uses),
  put(putIssuers, ({ allowances }) => allowances.issuer_changes),
  put(putDecisionLinks, ({ rare }) => rare.decision_links?.changes),
  put(putSigningKeys, ({ rare }) => rare.signing_keys?.changes),
  put(insertImports, ({ rare }) => rare.imported?.changes.new_imports),
  put(putImportProgress, ({ rare }) => rare.imported?.changes.progress),
  put(deleteImportProblems, ({ rare }) => idsOf(rare.imported?.changes.restarted)),
  put(insertImportProblems, ({ rare }) => rare.imported?.changes.problems),
  put(insertLines, ({ rare }) => rare.imported?.changes.lines),
  put(insertAssignments, ({ rare }) => rare.imported?.changes.assignments),
  put(insertRailAuthorizations, ({ rare }) => rare.rails?.changes.authorizations),
  put(putRails, ({ rare }) => rare.rails?.changes.rails),
  put(deleteRails, ({ rare }) => listOf(rare.rails?.changes.deleted).map((rail_id) => ({ rail_id }))),
  put(insertLineResolutions, ({ rare }) => rare.resolved_lines?.changes.resolutions),
  put(insertUnmatchedLines, ({ rare }) => rare.resolved_lines?.changes.unmatched),
  put(deleteImports, ({ rare }) => idsOf(rare.imported?.changes.deleted_imports)),
  put(putSlackLinks, ({ rare }) => rare.slack_links?.changes),
  put(insertAuditRecords, ({ changes }) => changes.audit),
  put(appendLedgerEvents, ({ changes }) => changes.events),
  put(putWebhookEndpoints, ({ outbox }) => outbox.changes.endpoints),
  put(deleteWebhookEndpoints, ({ outbox }) => outbox.changes.deleted),
  put(putChannels, ({ outbox }) => outbox.changes.channels),
  put(deleteChannels, ({ outbox }) => outbox.changes.deleted_channels),
  put(putNoticeBursts, ({ outbox }) => outbox.notices.changes.bursts),
  put(putLastDigests, ({ outbox }) => outbox.notices.changes.digests),
  put(insertNotices, ({ outbox }) => outbox.notices.changes.notices),
  put(insertWebhookEvents, ({ outbox }) => outbox.changes.events),
  put(insertWebhookDeliveries, ({ outbox }) => outbox.changes.deliveries),
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
