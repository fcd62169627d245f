import { createHmac } from 'node:crypto';
import type { ReasonCode } from '@purser/contract/reasons';
import {
  type ATTEMPT_STATUSES,
  ATTEMPTS,
  DEFAULT_EVENT_TYPES,
  type DeliveredEventType,
  type DeliveryError,
  type DISABLED_REASONS,
  type WEBHOOK_STATUSES,
  type WebhookEventType,
} from '@purser/contract/values/webhooks';
import type { Mode } from './agents.ts';
import type { DecisionKind } from './decisions.ts';

/** In the `events` that are stored: the owner gave no list. */
export const DEFAULT_EVENTS = '*';

export const RESPONSE_LIMIT_BYTES = 4_096;
/** An endpoint is disabled when every delivery has failed for this long. */
export const DISABLED_AFTER_MS = 5 * 86_400_000;
/** How long events and attempts are stored, and so can be replayed and listed. */
export const RETENTION_MS = 30 * 86_400_000;
/** Secrets that sign at the same time: the newest, and earlier ones until their overlap ends. */
export const MAX_SECRETS = 5;

export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** A secret as it is stored: encrypted, base64. `expires_at` is null for the newest. */
export interface SealedSecret {
  sealed: string;
  expires_at: string | null;
}

export interface WebhookEndpoint {
  endpoint_id: string;
  /** In its canonical form. */
  url: string;
  /** Types, or DEFAULT_EVENTS alone. */
  events: readonly (WebhookEventType | typeof DEFAULT_EVENTS)[];
  status: WebhookStatus;
  disabled_reason: DisabledReason | null;
  /** Newest first. */
  secrets: readonly SealedSecret[];
  secret_rotated_at: string | null;
  created_at: string;
  updated_at: string;
}

/** An event. `payload` is the exact body that every endpoint receives. */
export interface WebhookEvent {
  event_id: string;
  type: DeliveredEventType;
  payload: string;
  created_at: string;
}

/** An event that has yet to be delivered to an endpoint. */
export interface WebhookDelivery {
  endpoint_id: string;
  due_at: string;
  event_id: string;
  /** Failed attempts so far. */
  attempts: number;
}

export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number];

/** The result of one attempt. */
export interface WebhookAttempt {
  attempt_id: string;
  endpoint_id: string;
  event_id: string;
  event_type: DeliveredEventType;
  /** 1 to 5. */
  attempt: number;
  status: AttemptStatus;
  http_status: number | null;
  error: DeliveryError | null;
  duration_ms: number;
  attempted_at: string;
  next_attempt_at: string | null;
}

/** Returns true if the endpoint is active and subscribed to this type. */
export function takes(endpoint: Pick<WebhookEndpoint, 'events' | 'status'>, type: WebhookEventType): boolean {
  return endpoint.status === 'active' && eventsOf(endpoint).includes(type);
}

/** The body of every delivery of an event. `data` is JSON text and is inserted unchanged. */
export function eventPayload(
  event: { event_id: string; type: DeliveredEventType; created_at: string },
  data: string,
): string {
  const { event_id, type, created_at } = event;
  return `{"id":${JSON.stringify(event_id)},"type":${JSON.stringify(type)},"created_at":${JSON.stringify(created_at)},"data":${data}}`;
}

/** The part of a decision that events about its reviews, labels and outcomes carry. */
export interface DecisionBrief {
  decision_id: string;
  agent: { id: string; slug: string };
  mode: Mode;
  decision: DecisionKind;
  effective_decision: DecisionKind;
  reason_code: ReasonCode;
}

/**
 * The `data` of a review, label or outcome event, as JSON text: the record as the API returns it, and a brief of its
 * decision. The token of a capability is removed, because only the requesting key and the agent's own may see it.
 */
export function recordEventData(record: Readonly<Record<string, unknown>>, decision: DecisionBrief): string {
  const { decision_id, agent, mode, effective_decision, reason_code } = decision;
  return JSON.stringify({
    ...withoutToken(record),
    decision: {
      decision_id,
      agent: { id: agent.id, slug: agent.slug },
      mode,
      decision: decision.decision,
      effective_decision,
      reason_code,
    },
  });
}

/** The record with its `capability.token` removed. */
function withoutToken(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { capability } = record;
  if (typeof capability !== 'object' || capability === null) return record;
  const { token: _, ...shown } = capability as Record<string, unknown>;
  return { ...record, capability: shown };
}

/** How long to wait before the next attempt, in ms; null: there is none. */
export function retryWaitMs(failures: number, schedule: { first_ms: number; max_ms: number }): number | null {
  if (failures >= ATTEMPTS) return null;
  return Math.min(schedule.max_ms, schedule.first_ms * 2 ** (failures - 1));
}

/** The secrets that sign at `now_ms`, newest first. */
export function validSecrets(secrets: readonly SealedSecret[], now_ms: number): SealedSecret[] {
  return secrets.filter(({ expires_at }) => expires_at === null || Date.parse(expires_at) > now_ms);
}

const SECRET_PREFIX = 'whsec_';

/** `whsec_` + base64 of 32 bytes. */
export function secretText(bytes: Buffer): string {
  return SECRET_PREFIX + bytes.toString('base64');
}

/** Lowercase hex HMAC-SHA256 of `t`, a dot and the body, keyed with the whole secret. */
export function signature(secret: string, t: number, body: string): string {
  return createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
}

/** The Standard Webhooks signature: base64 HMAC-SHA256 of id, time and body, keyed with the decoded secret. */
export function standardSignature(secret: string, id: string, t: number, body: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${t}.${body}`).digest('base64');
}

/**
 * The headers of one attempt, signed at `now_ms`. `secrets`: the newest first; only that one signs
 * `x-svc-signature`, all of them `webhook-signature`.
 */
export function deliveryHeaders(
  event: Pick<WebhookEvent, 'event_id' | 'type' | 'payload'>,
  secrets: readonly [string, ...string[]],
  now_ms: number,
): Record<string, string> {
  const { event_id, type, payload } = event;
  const t = Math.floor(now_ms / 1000);
  const signed = `t=${t},v1=${signature(secrets[0], t, payload)}`;
  return {
    'content-type': 'application/json',
    'user-agent': 'purser-webhooks/1',
    accept: '*/*',
    'accept-encoding': 'identity',
    'x-svc-id': event_id,
    'x-svc-type': type,
    'x-svc-signature': signed,
    'x-purser-id': event_id,
    'x-purser-type': type,
    'x-purser-signature': signed,
    'webhook-id': event_id,
    'webhook-timestamp': String(t),
    'webhook-signature': secrets
      .map((secret) => `v1,${standardSignature(secret, event_id, t, payload)}`)
      .join(' '),
  };
}

/** A worker signs with the secrets that it loaded: for so long after a rotation that may still be the old one. */
const ROTATION_GRACE_MS = 10_000;

/**
 * The headers that an attempt was sent with, made again: they follow from the event, the moment and the secrets. Those of
 * the signatures are left out where the secret that signed then is no longer there, or may not be the one that is.
 */
export function headersOfAttempt(
  event: Pick<WebhookEvent, 'event_id' | 'type' | 'payload'>,
  endpoint: Pick<WebhookEndpoint, 'secrets' | 'secret_rotated_at'> | undefined,
  attempted_ms: number,
  open: (sealed: string) => string,
): Record<string, string> {
  const rotated_at = endpoint?.secret_rotated_at ?? null;
  const is_known = rotated_at === null || Date.parse(rotated_at) + ROTATION_GRACE_MS < attempted_ms;
  const sealed = endpoint !== undefined && is_known ? validSecrets(endpoint.secrets, attempted_ms) : [];
  const [first, ...others] = sealed.map((secret) => open(secret.sealed));
  if (first !== undefined) return deliveryHeaders(event, [first, ...others], attempted_ms);
  const unsigned = Object.entries(deliveryHeaders(event, [SECRET_PREFIX], attempted_ms));
  return Object.fromEntries(unsigned.filter(([name]) => !name.endsWith('-signature')));
}

/** The types that an endpoint is told of. */
export function eventsOf({ events }: Pick<WebhookEndpoint, 'events'>): readonly WebhookEventType[] {
  return events.includes(DEFAULT_EVENTS) ? DEFAULT_EVENT_TYPES : (events as readonly WebhookEventType[]);
}

/** An endpoint as the API and the audit list show it: without its secrets. */
export function webhookBody(endpoint: WebhookEndpoint) {
  const { endpoint_id, url, status, disabled_reason, secret_rotated_at, created_at, updated_at } = endpoint;
  return {
    id: endpoint_id,
    url,
    events: eventsOf(endpoint),
    status,
    disabled_reason,
    secret_rotated_at,
    created_at,
    updated_at,
  };
}
