import { canonicalJson } from '../values/canonical-json.ts';
import type { Agent } from './agents.ts';
import type { AuthorityRow } from './authorities.ts';
import type { ApiKey } from './keys.ts';
import { type LedgerEventType, type SubjectType, sha256, shownHash } from './ledger.ts';
import type { WebhookEndpoint } from './webhooks.ts';
import type { Workspace } from './workspace.ts';

export const ACTOR_TYPES = ['api_key', 'operator', 'system'] as const;

/** Who did it. An operator works at the command line; the system is the service itself. */
export interface Actor {
  type: (typeof ACTOR_TYPES)[number];
  key_id: string | null;
  principal_id: string | null;
}

export const OPERATOR: Actor = { type: 'operator', key_id: null, principal_id: null };
export const SYSTEM: Actor = { type: 'system', key_id: null, principal_id: null };

/** An administrative change. Secrets never appear in it. */
export interface AuditRecord {
  seq: number;
  audit_id: string;
  action: LedgerEventType;
  actor: Actor;
  target_type: SubjectType;
  target_id: string;
  changes: Record<string, { from: unknown; to: unknown }>;
  /** RFC 8785 text of the whole target after the change: what the live row is checked against. */
  state: string;
  request_id: string | null;
  client_address: string | null;
  created_at: string;
}

/** What of two states differs, field by field; everything of `to` when there was nothing before. */
function changesBetween(
  from: Record<string, unknown> | null,
  to: Record<string, unknown>,
): AuditRecord['changes'] {
  const changes: AuditRecord['changes'] = {};
  for (const [field, value] of Object.entries(to)) {
    const before = from?.[field] ?? null;
    if (JSON.stringify(before) !== JSON.stringify(value)) changes[field] = { from: before, to: value };
  }
  return changes;
}

/** What an administrative change made of its target: `from` and `to` are shown, `state` is all that is sealed. */
export interface AuditedChange {
  from: object | null;
  to: object;
  state: AuditedState;
}

/** An administrative change as its record keeps it. */
export function auditedChange({ from, to, state }: AuditedChange): Pick<AuditRecord, 'changes' | 'state'> {
  return {
    changes: changesBetween(from as Record<string, unknown> | null, to as Record<string, unknown>),
    state: canonicalJson(auditedForm(state)),
  };
}

/** An audit record as the API returns it. */
export function auditBody(record: Omit<AuditRecord, 'state'>): Record<string, unknown> {
  return {
    id: record.audit_id,
    action: record.action,
    actor: record.actor,
    target: { type: record.target_type, id: record.target_id },
    changes: record.changes,
    request_id: record.request_id,
    client_address: record.client_address,
    created_at: record.created_at,
  };
}

/** The rows that an audit record seals, each under the name of its kind. */
export interface AuditedState {
  workspace?: Workspace;
  agent?: Agent;
  authority?: AuthorityRow;
  api_key?: ApiKey;
  webhook?: WebhookEndpoint;
}

/** The same as JSON carries it: a key's digest as hex, of a webhook's encrypted secrets a hash alone. */
export function auditedForm(state: AuditedState): Record<string, unknown> {
  const { api_key, webhook, ...form } = state as Record<string, unknown> & AuditedState;
  if (api_key !== undefined) form.api_key = { ...api_key, digest: shownHash(api_key.digest) };
  if (webhook !== undefined) {
    form.webhook = { ...webhook, secrets: shownHash(sha256(canonicalJson(webhook.secrets))) };
  }
  return form;
}

/** Where a change comes from, for the audit list. */
export interface Origin {
  actor: Actor;
  request_id: string | null;
  client_address: string | null;
}
