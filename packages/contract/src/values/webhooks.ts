/**
 * The event types that an endpoint without a list of its own is told of. No type is ever added here: receivers were
 * written for these, so a later type goes only to endpoints that name it.
 */
export const DEFAULT_EVENT_TYPES = [
  'decision.created',
  'decision.review.recorded',
  'decision.label.recorded',
  'decision.outcome.recorded',
] as const;
/** The event types that an endpoint can subscribe to. */
export const WEBHOOK_EVENT_TYPES = [...DEFAULT_EVENT_TYPES, 'budget.threshold.reached'] as const;
/** Sent to one endpoint when its owner asks for it. It cannot be subscribed to. */
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

export const TEST_EVENT_TYPE = 'webhook.test';
export const DELIVERED_EVENT_TYPES = [...WEBHOOK_EVENT_TYPES, TEST_EVENT_TYPE] as const;
export type DeliveredEventType = (typeof DELIVERED_EVENT_TYPES)[number];
export const MAX_WEBHOOKS = 20;
export const MAX_EVENT_TYPES = 10;
export const ATTEMPTS = 5;
/** One replay sends at most this many events. */
export const MAX_REPLAYED = 1_000;
export const WEBHOOK_STATUSES = ['active', 'disabled'] as const;
export const DISABLED_REASONS = ['REQUESTED', 'ONLY_FAILURES'] as const;
export const ATTEMPT_STATUSES = ['SUCCEEDED', 'RETRYING', 'FAILED'] as const;
/** Why an attempt failed, for the endpoint's owner. A closed list, so that no error reveals an internal address. */
export const DELIVERY_ERRORS = {
  dns_error: 'The name could not be resolved.',
  blocked_address: 'The name or address is not public.',
  connect_error: 'The connection failed.',
  tls_error: 'TLS failed: the certificate is expired, not trusted or not valid for the name.',
  timeout: 'The complete response did not arrive in time.',
  connection_closed: 'The connection was closed before a response arrived.',
  invalid_response: 'The response was not HTTP.',
  redirect: 'The endpoint responded with a redirect, which is not followed.',
  bad_status: 'The endpoint responded with a status other than 2xx.',
} as const satisfies Record<string, string>;
export type DeliveryError = keyof typeof DELIVERY_ERRORS;
export const DELIVERY_ERROR_CODES = Object.keys(DELIVERY_ERRORS) as [DeliveryError, ...DeliveryError[]];

export const MAX_URL_LENGTH = 2_048;
