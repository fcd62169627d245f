import type { ACTOR_TYPES } from '@purser/contract/values/ledger';
import type { Role } from '@purser/contract/values/scopes';
import type { AllowanceIssuer } from '../allowances/issuers.ts';
import type { Allowance } from '../counters/allowances.ts';
import type { CounterRow } from '../counters/counters.ts';
import type { LimitAlert } from '../counters/limit-alerts.ts';
import type { SharedBudget } from '../counters/shared-budgets.ts';
import type { ImportRow, InstrumentAssignment } from '../imports/import-rows.ts';
import type { MerchantEntry } from '../merchants/directory.ts';
import type { Channel } from '../notices/channels.ts';
import type { SlackLink } from '../notices/slack-accounts.ts';
import type { RailRow } from '../rails/rails.ts';
import type { DecisionLinkRow } from '../sharing/decision-link.ts';
import type { SigningKeyRow } from '../signing/records/signing-key.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import type { Agent } from './agents.ts';
import type { AuthorityRow } from './authorities.ts';
import type { ApiKey, BoundTo } from './keys.ts';
import { type LedgerEventType, type SubjectType, sha256, shownHash } from './ledger.ts';
import type { Invitation, Member } from './people.ts';
import type { AnswerGiven } from './question-history.ts';
import type { WebhookEndpoint } from './webhooks.ts';
import type { ReviewPolicyRow, Workspace } from './workspace.ts';

/**
 * The author of a change. An operator works at the command line; the system is the service itself; a user is signed
 * in.
 */
export interface Actor {
  type: (typeof ACTOR_TYPES)[number];
  key_id: string | null;
  /** The session of a user; null of a person who just joins, and has none yet. */
  session_id: string | null;
  principal_id: string | null;
}

const NOBODY = { key_id: null, session_id: null, principal_id: null };
export const OPERATOR: Actor = { type: 'operator', ...NOBODY };
export const SYSTEM: Actor = { type: 'system', ...NOBODY };

/** Returns who acts, and the person behind it: the actor, or the person at the root of the actor's key, which is `key`. */
export function madeBy(
  { type, key_id, principal_id }: Actor,
  key: Pick<ApiKey, 'made_by_person'> | undefined,
): { key_id: string | null; principal_id: string | null; person: string | null } {
  return { key_id, principal_id, person: type === 'user' ? principal_id : (key?.made_by_person ?? null) };
}

/** An administrative change. Secrets never appear in it. */
export interface AuditRecord {
  seq: number;
  audit_id: string;
  action: LedgerEventType;
  actor: Actor;
  target_type: SubjectType;
  target_id: string;
  changes: Record<string, { from: unknown; to: unknown }>;
  /** RFC 8785 text of the whole target after the change. Verification compares the live row with it. */
  state: string;
  request_id: string | null;
  client_address: string | null;
  created_at: string;
}

/** The fields that differ between two states; every field of `to` where there was no state before. */
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

/** A change to a target. `from` and `to` are what the audit list shows; `state` is what the ledger seals. */
export interface AuditedChange {
  from: object | null;
  to: object;
  state: AuditedState;
}

/** The columns of an audit record that describe a change. */
export function auditedChange({ from, to, state }: AuditedChange): Pick<AuditRecord, 'changes' | 'state'> {
  return {
    changes: changesBetween(from as Record<string, unknown> | null, to as Record<string, unknown>),
    state: canonicalJson(auditedForm(state)),
  };
}

/** An audit record as the API returns it. */
export function auditBody(record: Omit<AuditRecord, 'state'>) {
  return {
    id: record.audit_id,
    action: record.action,
    // Records from before there were sessions do not name one.
    actor: { ...NOBODY, ...record.actor },
    target: { type: record.target_type, id: record.target_id },
    changes: record.changes,
    request_id: record.request_id,
    client_address: record.client_address,
    created_at: record.created_at,
  };
}

/** Personal fields of an audit record. */
const PERSONAL: ReadonlySet<string> = new Set(['email', 'client_address', 'session_id']);

/** An audit record as callers without `admin` see it: no e-mails, client addresses or session ids. */
export function withoutPersonal<R extends Omit<AuditRecord, 'state'>>(record: R): R {
  const changes = JSON.parse(JSON.stringify(record.changes), (field, value) =>
    PERSONAL.has(field) ? undefined : value,
  );
  return { ...record, changes, actor: { ...record.actor, session_id: null }, client_address: null };
}

/** The rows that an audit record seals, by kind. */
export interface AuditedState {
  workspace?: Workspace;
  /** The stop as the head of the chain keeps it. */
  stop?: { workspace_id: string; stop: string | null };
  agent?: Agent;
  authority?: AuthorityRow;
  api_key?: ApiKey;
  webhook?: WebhookEndpoint;
  channel?: Channel;
  member?: Member;
  invitation?: Invitation;
  merchant_entry?: MerchantEntry;
  shared_budget?: SharedBudget;
  allowance?: Allowance;
  allowance_issuer?: AllowanceIssuer;
  review_policy?: ReviewPolicyRow;
  limit_alert?: LimitAlert;
  signing_key?: SigningKeyRow;
  import?: ImportRow;
  instrument?: InstrumentAssignment;
  rail?: RailRow;
  decision_link?: DecisionLinkRow;
  slack_link?: SlackLink;
  /** Usage of earlier spends added to new limits, and its start if incomplete. */
  question_answer?: AnswerGiven;
  primed?: { counter_ids: readonly string[]; counters: CounterRow[]; counted_since: string | null };
}

/** The JSON form of an audited state: a key's digest as hex, and only hashes of encrypted secrets and settings. */
export function auditedForm(state: AuditedState): Record<string, unknown> {
  const {
    workspace,
    agent,
    api_key,
    authority,
    member,
    webhook,
    channel,
    shared_budget,
    review_policy,
    decision_link,
    rail,
    allowance_issuer,
    ...form
  } = state as Record<string, unknown> & AuditedState;
  if (workspace !== undefined) {
    // Sealed as before there were a separation of duties, a time zone, samples and coverage where these are the default.
    const { separation_of_duties, time_zone, sample, coverage, ...rest } = workspace;
    form.workspace = {
      ...rest,
      ...(separation_of_duties === 'AUTO' ? {} : { separation_of_duties }),
      ...(time_zone === 'UTC' ? {} : { time_zone }),
      ...(sample ? { sample } : {}),
      ...(coverage === null ? {} : { coverage }),
    };
  }
  if (agent !== undefined) {
    // Sealed as before there were directories where there is none.
    const { directory_version, answers_version, allowances_version, ...rest } = agent;
    form.agent = directory_version === 0 ? rest : { ...rest, directory_version };
  }
  if (authority !== undefined) {
    // Sealed as before there were notes, and limits that join, where there are none.
    const { note, joined, ...rest } = authority;
    form.authority = { ...rest, ...(note === null ? {} : { note }), ...(joined === null ? {} : { joined }) };
  }
  if (member !== undefined) {
    const { is_pending, email_proved_at, away_until, away_delegate, ...rest } = member;
    // Sealed as before members could be away where they never were.
    const was_never_away = away_until === null && away_delegate === null;
    form.member = was_never_away ? rest : { ...rest, away_until, away_delegate };
  }
  if (review_policy !== undefined) {
    const { signature, ...rest } = review_policy;
    form.review_policy = signature === null ? rest : review_policy;
  }
  if (decision_link !== undefined) {
    form.decision_link = { ...decision_link, token_digest: shownHash(decision_link.token_digest) };
  }
  if (allowance_issuer !== undefined) {
    // Sealed as before there were mandates where it signs none.
    const { format, ...rest } = allowance_issuer;
    form.allowance_issuer = format === null ? rest : allowance_issuer;
  }
  if (api_key !== undefined) {
    // Sealed as before keys were bound to allowances where it is bound to none.
    const { allowance_path, maker_key_ids, ...rest } = api_key;
    const bound =
      allowance_path.length === 0 && maker_key_ids.length === 0 ? {} : { allowance_path, maker_key_ids };
    form.api_key = { ...rest, ...bound, digest: shownHash(api_key.digest) };
  }
  if (webhook !== undefined) {
    form.webhook = { ...webhook, secrets: shownHash(sha256(canonicalJson(webhook.secrets))) };
  }
  if (shared_budget !== undefined) {
    // Sealed as before there were alert percentages where it has none of its own.
    const { alert_percents, ...rest } = shared_budget;
    form.shared_budget = alert_percents === null ? rest : shared_budget;
  }
  if (channel !== undefined) {
    form.channel = { ...channel, sealed_settings: shownHash(sha256(channel.sealed_settings)) };
  }
  if (rail !== undefined) {
    const { sealed_secrets: sealed } = rail;
    form.rail = { ...rail, sealed_secrets: sealed === null ? null : shownHash(sha256(sealed)) };
  }
  return form;
}

/** Where a change came from, for the audit list. */
export interface Origin {
  actor: Actor;
  /** The role by which a user's request was let in; null: what they change needs none, since it is their own membership. */
  role?: Role | null;
  /** The allowance and keys that the key of a request is bound to, where it is. */
  bound?: BoundTo;
  request_id: string | null;
  client_address: string | null;
}
