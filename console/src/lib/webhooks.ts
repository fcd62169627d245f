import { DELIVERED_EVENT_TYPES, EVENT_ROWS, type WebhookEventType } from '@purser/contract/values/webhooks';
import type { WebhookAttempt } from '@purser/sdk';

export type EventType = WebhookEventType;

export const eventWords = (type: EventType): string => EVENT_ROWS[type].label;

/** Filter options: every type that is delivered, tests included. */
export const DELIVERED_TYPES = DELIVERED_EVENT_TYPES.map((type) => [type, type] as const);

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
