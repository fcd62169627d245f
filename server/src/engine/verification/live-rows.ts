import type { AllowanceIssuer } from '@purser/rules/allowances/issuers';
import type { LimitAlert } from '@purser/rules/counters/limit-alerts';
import type { Agent } from '@purser/rules/domain/agents';
import { type Actor, type AuditedState, auditedForm } from '@purser/rules/domain/audit';
import type { AuthorityRow } from '@purser/rules/domain/authorities';
import { recordHash } from '@purser/rules/domain/ledger';
import type { Invitation, Member } from '@purser/rules/domain/people';
import type { ReviewPolicyRow } from '@purser/rules/domain/workspace';
import type { ImportRow, InstrumentAssignment } from '@purser/rules/imports/import-rows';
import type { MerchantEntry } from '@purser/rules/merchants/directory';
import type { DecisionLinkRow } from '@purser/rules/sharing/decision-link';
import { checkedAllowances } from '../allowances/check-allowances.ts';
import { listAllIssuers } from '../allowances/issuer-rows.ts';
import { loadRailsOf } from '../rails/rail-rows.ts';
import { listAllDecisionLinks } from '../sharing/decision-link-rows.ts';
import { loadSigningKeys } from '../signing/signing-key-rows.ts';
import { loadSlackLinks } from '../slack/slack-link-rows.ts';
import { listAgents } from '../storage/agents.ts';
import { listKeys, loadKeyDigests } from '../storage/api-keys.ts';
import { listAuthorities } from '../storage/authorities.ts';
import type { Queryable } from '../storage/database.ts';
import { listAllImports } from '../storage/history/imports.ts';
import { listAllAssignments } from '../storage/history/lines.ts';
import type { StoredHead } from '../storage/ledger.ts';
import { listAllMembers, listInvitations } from '../storage/members.ts';
import { listAllMerchantEntries } from '../storage/merchant-entries.ts';
import { loadChannelsOf } from '../storage/notices/channels.ts';
import { listLimitAlerts } from '../storage/notices/limit-alerts.ts';
import { listAllReviewPolicies } from '../storage/reviews/review-policies.ts';
import { loadSharedBudgets } from '../storage/shared-budgets.ts';
import { loadWebhookEndpoints } from '../storage/webhooks.ts';
import { loadWorkspace } from '../storage/workspaces.ts';
import type { Findings } from './findings.ts';
import { type Makers, withMaker } from './makers.ts';
import type { ChainTally } from './states.ts';

const ROWS_AT_ONCE = 200;

/**
 * For each changeable row, by kind and id: the hash that the newest audit record sealed, and the `seq` of that record.
 * It grows only with the number of agents, keys and versions of authorities.
 */
export type SealedStates = Map<string, { seq: number; hash: string }>;

/** An audit record that is as it was sealed. */
interface SealedRecord {
  seq: number;
  action: string;
  actor: Actor;
  state: string;
}

/** The name of a row of each kind that audit records seal. The rows of a new kind must also be checked below. */
const NAMES: {
  [Kind in Exclude<keyof AuditedState, 'primed' | 'question_answer'>]-?: (
    row: Record<string, unknown>,
  ) => string;
} = {
  workspace: (row) => `workspace ${row.workspace_id}`,
  stop: (row) => `stop of workspace ${row.workspace_id}`,
  agent: (row) => `agent ${row.agent_id}`,
  authority: (row) => `authority ${row.agent_id} version ${row.version}`,
  api_key: (row) => `api_key ${row.key_id}`,
  webhook: (row) => `webhook ${row.endpoint_id}`,
  channel: (row) => `channel ${row.channel_id}`,
  member: (row) => `member ${row.user_id}`,
  invitation: (row) => `invitation ${row.invitation_id}`,
  merchant_entry: (row) => `merchant_entry ${row.entry_id}`,
  limit_alert: (row) => `limit_alert ${row.agent_id} ${row.limit_id} ${row.percent} ${row.subject}`,
  decision_link: (row) => `decision_link ${row.link_id}`,
  signing_key: (row) => `signing_key ${row.signing_key_id}`,
  allowance: (row) => `allowance ${row.allowance_id}`,
  allowance_issuer: (row) => `allowance_issuer ${row.issuer_id}`,
  slack_link: (row) => `slack_link ${row.user_id}`,
  shared_budget: (row) => `shared_budget ${row.budget_id}`,
  review_policy: (row) => `review_policy version ${row.version}`,
  import: (row) => `import ${row.import_id}`,
  rail: (row) => `rail ${row.rail_id}`,
  instrument: (row) => `instrument ${row.instrument} version ${row.version}`,
};

/** The actions after which the row must not exist any more. */
const DELETIONS: ReadonlySet<string> = new Set([
  'webhook.deleted',
  'channel.deleted',
  'import.deleted',
  'rail.deleted',
]);

const rowName = (kind: string, row: Record<string, unknown>) => NAMES[kind as keyof typeof NAMES](row);

/**
 * Stores the hashes of the rows that an audit record changed. The record itself must be intact, and those before it in
 * the chain must have been stored.
 */
export function recordSealedStates(
  sealed: SealedStates,
  makers: Makers,
  { seq, action, actor, state }: SealedRecord,
): void {
  const rows = JSON.parse(state) as Record<string, Record<string, unknown>>;
  for (const [kind, row] of Object.entries(rows)) {
    // These are compared with what follows from them: counters, and answers to questions.
    if (kind === 'primed' || kind === 'question_answer') continue;
    if (DELETIONS.has(action)) {
      sealed.delete(rowName(kind, row));
      continue;
    }
    const whole = withMaker(makers, kind, row, actor);
    sealed.set(rowName(kind, row), { seq, hash: recordHash(whole).toString('base64') });
  }
}

/** A list of rows that is read page by page, each from behind the last row of the one before. */
type PagesOf = (db: Queryable, workspace_id: string) => AsyncGenerator<AuditedState>;

function pages<Row>(
  load: (db: Queryable, workspace_id: string, last: Row | undefined) => Promise<readonly Row[]>,
  stateOf: (row: Row) => AuditedState,
): PagesOf {
  return async function* all(db, workspace_id) {
    for (let last: Row | undefined; ; ) {
      const rows: readonly Row[] = await load(db, workspace_id, last);
      for (const row of rows) yield stateOf(row);
      last = rows.at(-1);
      if (last === undefined) return;
    }
  };
}

const limit = ROWS_AT_ONCE;
/** The lists of all kinds but keys, whose digests are checked with them. */
const LISTS: readonly PagesOf[] = [
  pages<Agent>(
    (db, id, last) => listAgents(db, id, { after: last?.agent_id ?? null, limit }),
    (agent) => ({ agent }),
  ),
  pages<AuthorityRow>(
    (db, id, last) => listAuthorities(db, id, { after: last ?? { agent_id: '', version: 0 }, limit }),
    (authority) => ({ authority }),
  ),
  pages<Member>(
    (db, id, last) => listAllMembers(db, id, { after: last?.user_id ?? '', limit }),
    (member) => ({ member }),
  ),
  pages<Invitation & { clock_ms: number }>(
    (db, id, last) => listInvitations(db, id, { after: last?.invitation_id ?? null, limit }),
    ({ clock_ms: _now, ...invitation }) => ({ invitation }),
  ),
  pages<LimitAlert>(
    (db, id, last) => listLimitAlerts(db, id, { after: last, limit }),
    (limit_alert) => ({ limit_alert }),
  ),
  pages<MerchantEntry>(
    (db, id, last) => listAllMerchantEntries(db, id, { after: last?.entry_id ?? '', limit }),
    (merchant_entry) => ({ merchant_entry }),
  ),
  pages<ImportRow>(
    (db, id, last) => listAllImports(db, id, { after: last?.import_id ?? '', limit }),
    (row) => ({ import: row }),
  ),
  pages<InstrumentAssignment>(
    (db, id, last) => listAllAssignments(db, id, { after: last ?? { instrument: '', version: 0 }, limit }),
    (instrument) => ({ instrument }),
  ),
  pages<DecisionLinkRow>(
    (db, id, last) => listAllDecisionLinks(db, id, { after: last?.link_id ?? '', limit }),
    (decision_link) => ({ decision_link }),
  ),
  pages<AllowanceIssuer>(
    (db, id, last) => listAllIssuers(db, id, { after: last?.issuer_id ?? '', limit }),
    (allowance_issuer) => ({ allowance_issuer }),
  ),
  pages<ReviewPolicyRow>(
    (db, id, last) => listAllReviewPolicies(db, id, { after: last?.version ?? 0, limit }),
    (review_policy) => ({ review_policy }),
  ),
];

/** A verification's view of one workspace's changeable rows. */
export interface LiveRows {
  db: Queryable;
  workspace_id: string;
  sealed: SealedStates;
  tally: ChainTally;
  /** False where an audit record was changed: rows without a record are then not reported. */
  is_vouched_for: boolean;
  findings: Findings;
  head: StoredHead | undefined;
}

/** Compares the rows of a state with their newest audit records, which are done with then. */
function checkRows({ sealed, is_vouched_for, findings }: LiveRows, state: AuditedState): void {
  for (const [kind, row] of Object.entries(auditedForm(state)) as [string, Record<string, unknown>][]) {
    const name = rowName(kind, row);
    const record = sealed.get(name);
    sealed.delete(name);
    if (record === undefined) {
      if (is_vouched_for) findings.addOrphan(`The row of ${name} is in no event.`);
    } else if (record.hash !== recordHash(row).toString('base64')) {
      const detail = `The row of ${name} differs from event ${record.seq}.`;
      findings.addDerived({ seq: record.seq, kind: 'ROW_MISMATCH', detail });
    }
  }
}

/** Checks the keys, and that the digest of each leads to it. */
async function checkKeys(live: LiveRows): Promise<void> {
  const { db, workspace_id, sealed, tally, findings } = live;
  for (let after: string | null = null; ; ) {
    const keys: Awaited<ReturnType<typeof listKeys>> = await listKeys(db, workspace_id, { after, limit });
    const digests = await loadKeyDigests(
      db,
      keys.map((key) => key.digest),
    );
    for (const { last_used_at, clock_ms, bound_until, is_bound_revoked, ...api_key } of keys) {
      const { key_id, digest } = api_key;
      const seq = sealed.get(`api_key ${key_id}`)?.seq;
      checkRows(live, { api_key });
      const leads = digests.some(
        (found) =>
          found.digest.equals(digest) && found.workspace_id === workspace_id && found.key_id === key_id,
      );
      if (leads) tally.found.api_key_digests += 1;
      else if (seq !== undefined) {
        const detail = `The digest of api_key ${key_id} does not point to it.`;
        findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
      }
    }
    after = keys.at(-1)?.key_id ?? null;
    if (after === null) return;
  }
}

/** Reports changeable rows that differ from their newest audit record, those without one, and those that are gone. */
export async function checkLiveRows(live: LiveRows): Promise<void> {
  const { db, workspace_id, sealed, findings, head } = live;
  const workspace = await loadWorkspace(db, workspace_id);
  if (workspace !== undefined) checkRows(live, { workspace });
  const stop = { workspace_id, stop: head?.stop ?? null };
  // A workspace that was never stopped has no record of it.
  if (stop.stop !== null || sealed.has(rowName('stop', stop))) checkRows(live, { stop });
  await checkKeys(live);
  for (const list of LISTS) {
    for await (const state of list(db, workspace_id)) checkRows(live, state);
  }
  for (const { workspace_id: _known, ...shared_budget } of await loadSharedBudgets(db, [workspace_id]))
    checkRows(live, { shared_budget });
  for await (const allowance of checkedAllowances(live)) checkRows(live, { allowance });
  for (const { workspace_id: _known, ...signing_key } of await loadSigningKeys(db, [workspace_id]))
    checkRows(live, { signing_key });
  for (const { workspace_id: _known, is_of_epoch: _now, ...slack_link } of await loadSlackLinks(db, [
    workspace_id,
  ]))
    checkRows(live, { slack_link });
  for (const { workspace_id: _known, ...rail } of await loadRailsOf(db, [workspace_id]))
    checkRows(live, { rail });
  const webhooks = await loadWebhookEndpoints(db, workspace_id);
  for (const webhook of webhooks) checkRows(live, { webhook });
  // If the head said that there are no endpoints, no events would be sent to them.
  if (head !== undefined && head.has_webhooks !== webhooks.length > 0) {
    findings.addOrphan('The head of the chain has a wrong flag for webhook endpoints.');
  }
  const channels = await loadChannelsOf(db, [workspace_id]);
  for (const { workspace_id: _known, ...channel } of channels) checkRows(live, { channel });
  if (head !== undefined && head.has_channels !== channels.length > 0) {
    findings.addOrphan('The head of the chain has a wrong flag for channels.');
  }
  for (const [name, { seq }] of sealed) {
    findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail: `The row of ${name} is gone.` });
  }
}
