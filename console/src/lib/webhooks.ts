import type { WebhookAttempt } from '@purser/sdk';

/** The types of events that an endpoint can take, with when each of them happens. */
export const EVENT_TYPES = [
  ['decision.created', 'A decision was made'],
  ['decision.review.recorded', 'A person reviewed one'],
  ['decision.label.recorded', 'A person labelled one'],
  ['decision.outcome.recorded', 'What became of the spend was reported'],
] as const;

const TEST_TYPE = ['webhook.test', 'A test was sent'] as const;

/** All types that are delivered, for filters. */
export const DELIVERED_TYPES: readonly (readonly [string, string])[] = [...EVENT_TYPES, TEST_TYPE].map(
  ([type]) => [type, type] as const,
);

const ERRORS: Record<string, string> = {
  dns_error: 'The name could not be found',
  blocked_address: 'The name leads to an address that is not public',
  connect_error: 'Nothing took the connection',
  tls_error: 'No trustworthy https connection could be made',
  timeout: 'No answer in time',
  connection_closed: 'The connection was closed before an answer came',
  invalid_response: 'What came back is no HTTP',
  redirect: 'It answered with a redirect, which is not followed',
  bad_status: 'It answered with a status that is not 2xx',
};

type Result = Pick<WebhookAttempt, 'status' | 'http_status' | 'error'>;

/** What an attempt came to, in a few words. */
export function resultOf({ http_status, error }: Result): string {
  if (error === null) return http_status === null ? '' : String(http_status);
  if (error === 'bad_status' && http_status !== null) return `Answered ${http_status}`;
  return ERRORS[error] ?? error;
}

/** How the newest attempts went. Times are those of attempts that were answered with 2xx. */
export interface Health {
  attempts: number;
  succeeded: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

/** Nearest rank, so that it is a time that was really measured. Null for nothing. */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

/** Sums up attempts. */
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
