import { type Actor, type AuditedState, auditedForm } from '@purser/rules/domain/audit';
import { recordHash } from '@purser/rules/domain/ledger';
import { listAgents } from '../storage/agents.ts';
import { listKeys, loadKeyDigests } from '../storage/api-keys.ts';
import { listAuthorities } from '../storage/authorities.ts';
import type { Queryable } from '../storage/database.ts';
import type { StoredHead } from '../storage/ledger.ts';
import { listAllMembers, listInvitations } from '../storage/members.ts';
import { listAllMerchantEntries } from '../storage/merchant-entries.ts';
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
const NAMES: { [Kind in Exclude<keyof AuditedState, 'primed'>]-?: (row: Record<string, unknown>) => string } =
  {
    workspace: (row) => `workspace ${row.workspace_id}`,
    stop: (row) => `stop of workspace ${row.workspace_id}`,
    agent: (row) => `agent ${row.agent_id}`,
    authority: (row) => `authority ${row.agent_id} version ${row.version}`,
    api_key: (row) => `api_key ${row.key_id}`,
    webhook: (row) => `webhook ${row.endpoint_id}`,
    member: (row) => `member ${row.user_id}`,
    invitation: (row) => `invitation ${row.invitation_id}`,
    merchant_entry: (row) => `merchant_entry ${row.entry_id}`,
    shared_budget: (row) => `shared_budget ${row.budget_id}`,
  };

const rowName = (kind: string, row: Record<string, unknown>) => NAMES[kind as keyof typeof NAMES](row);

/**
 * Stores the hashes of the rows that an audit record changed. The record itself must be intact, and those before it in
 * the chain must have been stored.
 */
export function noteSealedStates(
  sealed: SealedStates,
  makers: Makers,
  { seq, action, actor, state }: SealedRecord,
): void {
  const rows = JSON.parse(state) as Record<string, Record<string, unknown>>;
  for (const [kind, row] of Object.entries(rows)) {
    // What was added to counters is compared with them, as what decisions add is.
    if (kind === 'primed') continue;
    if (action === 'webhook.deleted') {
      // The row of a deleted webhook must not exist any more.
      sealed.delete(rowName(kind, row));
      continue;
    }
    const whole = withMaker(makers, kind, row, actor);
    sealed.set(rowName(kind, row), { seq, hash: recordHash(whole).toString('base64') });
  }
}

/**
 * Reports changeable rows that differ from their newest audit record, and those without one. If an audit record was
 * changed, `is_vouched_for` is false, and rows without a record are not reported.
 */
export async function checkLiveRows(
  db: Queryable,
  workspace_id: string,
  sealed: SealedStates,
  tally: ChainTally,
  is_vouched_for: boolean,
  findings: Findings,
  head: StoredHead | undefined,
): Promise<void> {
  const check = (state: AuditedState) => {
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
  };
  const workspace = await loadWorkspace(db, workspace_id);
  if (workspace !== undefined) check({ workspace });
  const stop = { workspace_id, stop: head?.stop ?? null };
  // A workspace that was never stopped has no record of it.
  if (stop.stop !== null || sealed.has(rowName('stop', stop))) check({ stop });
  let after: string | null = null;
  for (;;) {
    const agents = await listAgents(db, workspace_id, { after, limit: ROWS_AT_ONCE });
    for (const agent of agents) check({ agent });
    after = agents.at(-1)?.agent_id ?? null;
    if (after === null) break;
  }
  let version: { agent_id: string; version: number } = { agent_id: '', version: 0 };
  for (;;) {
    const authorities = await listAuthorities(db, workspace_id, { after: version, limit: ROWS_AT_ONCE });
    for (const authority of authorities) check({ authority });
    const last = authorities.at(-1);
    if (last === undefined) break;
    version = last;
  }
  for (;;) {
    const keys = await listKeys(db, workspace_id, { after, limit: ROWS_AT_ONCE });
    const digests = await loadKeyDigests(
      db,
      keys.map((key) => key.digest),
    );
    for (const { last_used_at, clock_ms, ...api_key } of keys) {
      const seq = sealed.get(`api_key ${api_key.key_id}`)?.seq;
      check({ api_key });
      const leads = digests.some(
        (found) =>
          found.digest.equals(api_key.digest) &&
          found.workspace_id === workspace_id &&
          found.key_id === api_key.key_id,
      );
      if (leads) tally.found.api_key_digests += 1;
      else if (seq !== undefined) {
        const detail = `The digest of api_key ${api_key.key_id} does not point to it.`;
        findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
      }
    }
    after = keys.at(-1)?.key_id ?? null;
    if (after === null) break;
  }
  for (;;) {
    const members = await listAllMembers(db, workspace_id, { after: after ?? '', limit: ROWS_AT_ONCE });
    for (const member of members) check({ member });
    after = members.at(-1)?.user_id ?? null;
    if (after === null) break;
  }
  for (;;) {
    const invitations = await listInvitations(db, workspace_id, { after, limit: ROWS_AT_ONCE });
    for (const { clock_ms, ...invitation } of invitations) check({ invitation });
    after = invitations.at(-1)?.invitation_id ?? null;
    if (after === null) break;
  }
  for (;;) {
    const entries = await listAllMerchantEntries(db, workspace_id, {
      after: after ?? '',
      limit: ROWS_AT_ONCE,
    });
    for (const merchant_entry of entries) check({ merchant_entry });
    after = entries.at(-1)?.entry_id ?? null;
    if (after === null) break;
  }
  for (const shared_budget of await loadSharedBudgets(db, [workspace_id])) {
    const { workspace_id: _known, ...row } = shared_budget;
    check({ shared_budget: row });
  }
  const webhooks = await loadWebhookEndpoints(db, workspace_id);
  for (const webhook of webhooks) check({ webhook });
  // If the head said that there are no endpoints, no events would be sent to them.
  if (head !== undefined && head.has_webhooks !== webhooks.length > 0) {
    findings.addOrphan('The head of the chain has a wrong flag for webhook endpoints.');
  }
  for (const [name, { seq }] of sealed) {
    findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail: `The row of ${name} is gone.` });
  }
}
