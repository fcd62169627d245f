/** A type of event that an endpoint can subscribe to. */
interface EventRow {
  /** When it is sent, for the reference. */
  summary: string;
  /** When it is sent, in the console. */
  label: string;
  /**
   * Endpoints without a list of their own receive it. Never true for a later type: receivers were written for the first
   * four, so a later type goes only to endpoints that name it.
   */
  by_default: boolean;
}

/** The event types that an endpoint can subscribe to. */
export const EVENT_ROWS = {
  'decision.created': {
    summary: 'A decision was made',
    label: 'A decision is made',
    by_default: true,
  },
  'decision.review.recorded': {
    summary: 'A review was recorded',
    label: 'A reviewer allows or denies a request',
    by_default: true,
  },
  'decision.label.recorded': {
    summary: 'A label was recorded',
    label: 'A person labels a decision',
    by_default: true,
  },
  'decision.outcome.recorded': {
    summary: 'An outcome was reported',
    label: 'An outcome is reported',
    by_default: true,
  },
  'budget.threshold.reached': {
    summary: 'Usage of a shared budget reached one of its alert percentages',
    label: 'A shared budget reaches an alert percentage',
    by_default: false,
  },
  'limit.threshold.reached': {
    summary:
      "Usage of an agent's monthly budget or velocity limit reached an alert percentage of its authority",
    label: "An agent's budget or velocity limit reaches an alert percentage",
    by_default: false,
  },
  'spend.unmatched': {
    summary:
      'A payment that no decision asked for, or that was not allowed, was found among lines of a payment rail',
    label: 'A payment was never asked for, or not allowed',
    by_default: false,
  },
  'allowance.requested': {
    summary: 'An allowance was requested',
    label: 'An agent requests an allowance',
    by_default: false,
  },
  'allowance.decided': {
    summary: 'A requested allowance was granted or denied',
    label: 'A reviewer decides a requested allowance',
    by_default: false,
  },
  'allowance.revoked': {
    summary: 'An allowance was revoked',
    label: 'An allowance is revoked',
    by_default: false,
  },
  'allowance.threshold.reached': {
    summary: 'Usage of an allowance reached 80 or 100 % of its amount or count',
    label: 'An allowance reaches 80 or 100 %',
    by_default: false,
  },
} satisfies Record<string, EventRow>;
export type WebhookEventType = keyof typeof EVENT_ROWS;
export const WEBHOOK_EVENT_TYPES = Object.keys(EVENT_ROWS) as WebhookEventType[];
/** The event types that an endpoint without a list of its own receives. */
export const DEFAULT_EVENT_TYPES = WEBHOOK_EVENT_TYPES.filter((type) => EVENT_ROWS[type].by_default);

/** Sent to one endpoint when its owner asks for it. It cannot be subscribed to. */
export const TEST_EVENT_TYPE = 'webhook.test';
export const DELIVERED_EVENT_TYPES = [...WEBHOOK_EVENT_TYPES, TEST_EVENT_TYPE] as const;
export type DeliveredEventType = (typeof DELIVERED_EVENT_TYPES)[number];
export const MAX_WEBHOOKS = 20;
export const MAX_EVENT_TYPES = 20;
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
