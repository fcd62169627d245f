import type { NewWebhook, WebhookAttempt } from '@purser/sdk';

export type EventType = NewWebhook['events'][number];

/** Events that an endpoint can subscribe to; `by_default` marks those sent if it names none. The compiler reports a type that is missing here. */
const EVENTS: Readonly<Record<EventType, { says: string; by_default: boolean }>> = {
  'decision.created': { says: 'A decision is made', by_default: true },
  'decision.review.recorded': { says: 'A reviewer allows or denies a request', by_default: true },
  'decision.label.recorded': { says: 'A person labels a decision', by_default: true },
  'decision.outcome.recorded': { says: 'An outcome is reported', by_default: true },
  'budget.threshold.reached': { says: 'A shared budget reaches 80 or 100 percent', by_default: false },
};

export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];
export const DEFAULT_EVENT_TYPES = EVENT_TYPES.filter((type) => EVENTS[type].by_default);
export const eventWords = (type: EventType): string => EVENTS[type].says;

/** Filter options: every type that is delivered, tests included. */
export const DELIVERED_TYPES = [...EVENT_TYPES, 'webhook.test'].map((type) => [type, type] as const);

const ERRORS: Record<string, string> = {
  dns_error: 'The host name could not be resolved',
  blocked_address: 'The host name resolves to an address that is not public',
  connect_error: 'The endpoint could not be reached',
  tls_error: 'No trusted TLS connection could be established',
  timeout: 'No response in time',
  connection_closed: 'The connection closed before a response arrived',
  invalid_response: 'The response is not valid HTTP',
  redirect: 'The endpoint sent a redirect, which Purser does not follow',
  bad_status: 'The endpoint answered with a status other than 2xx',
};

type Result = Pick<WebhookAttempt, 'status' | 'http_status' | 'error'>;

/** The result of an attempt in a few words. Empty while there is none. */
export function resultOf({ http_status, error }: Result): string {
  if (error === null) return http_status === null ? '' : String(http_status);
  if (error === 'bad_status' && http_status !== null) return `Answered ${http_status}`;
  return ERRORS[error] ?? error;
}

/** Success and response times of recent attempts. Times count only attempts answered with 2xx. */
export interface Health {
  attempts: number;
  succeeded: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

/** Nearest rank, so that the result is a measured time. Null for an empty list. */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

export function healthOf(attempts: readonly Pick<WebhookAttempt, 'status' | 'duration_ms'>[]): Health {
  const times = attempts
    .filter(({ status }) => status === 'SUCCEEDED')
    .map(({ duration_ms }) => duration_ms)
    .sort((a, b) => a - b);
  return {
    attempts: attempts.length,
    succeeded: times.length,
    p50_ms: percentile(times, 0.5),
    p95_ms: percentile(times, 0.95),
  };
}
