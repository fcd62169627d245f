import type { NewWebhook, WebhookAttempt } from '@purser/sdk';

export type EventType = NewWebhook['events'][number];

/** What an endpoint can take: when it happens, and whether an endpoint takes it that names nothing. A type that is new is missed here by the compiler. */
const EVENTS: Readonly<Record<EventType, { says: string; by_default: boolean }>> = {
  'decision.created': { says: 'A decision was made', by_default: true },
  'decision.review.recorded': { says: 'A person reviewed one', by_default: true },
  'decision.label.recorded': { says: 'A person labelled one', by_default: true },
  'decision.outcome.recorded': { says: 'What became of the spend was reported', by_default: true },
  'budget.threshold.reached': { says: 'A shared budget was used to 80 or 100 percent', by_default: false },
};

/** The types of events that an endpoint can take, and those that it takes when it names none. */
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];
export const DEFAULT_EVENT_TYPES = EVENT_TYPES.filter((type) => EVENTS[type].by_default);
export const eventWords = (type: EventType): string => EVENTS[type].says;

/** All types that are delivered, for filters. */
export const DELIVERED_TYPES = [...EVENT_TYPES, 'webhook.test'].map((type) => [type, type] as const);

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
