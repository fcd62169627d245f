import { type Decision, decisionIn } from './decision.ts';

/** One call of a route of the API. */
export interface ApiRequest {
  method: 'GET' | 'POST';
  /** From `/v1/` on, with its query. */
  path: `/${string}`;
  body?: unknown;
  idempotency_key?: string;
  /** Aborted when nobody waits for the answer any more. */
  signal?: AbortSignal | undefined;
}

export interface ApiAnswer {
  status: number;
  /** The parsed JSON. */
  body: unknown;
}

/**
 * Calls a route with the caller's own key. It resolves with whatever the service answered, refusals included, and
 * rejects where there is no whole answer.
 */
export type CallApi = (request: ApiRequest) => Promise<ApiAnswer>;

/** The service refused. The message is the service's own, for people, and holds nothing that the key may not see. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The body of a success; throws `Refused` for everything else. */
export async function send(call: CallApi, request: ApiRequest): Promise<ApiAnswer> {
  const answer = await call(request);
  if (answer.status >= 200 && answer.status < 300) return answer;
  const { error } = (answer.body ?? {}) as { error?: { code?: unknown; message?: unknown } };
  const code = typeof error?.code === 'string' ? error.code : 'unexpected_answer';
  const message =
    typeof error?.message === 'string' ? error.message : `The service responded with ${answer.status}.`;
  throw new Refused(answer.status, code, message);
}

/** A decision as it stands now; with `wait_seconds` (1 to 25) once its review changed, or at the end of that time. */
export async function getDecision(
  call: CallApi,
  decision_id: string,
  { wait_seconds, signal }: { wait_seconds?: number; signal?: AbortSignal | undefined } = {},
): Promise<Decision> {
  const query = wait_seconds === undefined ? '' : `?wait_seconds=${wait_seconds}`;
  const { body } = await send(call, { method: 'GET', path: `/v1/decisions/${decision_id}${query}`, signal });
  return decisionIn(body, decision_id);
}
