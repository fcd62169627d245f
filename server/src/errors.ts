/**
 * The one table of errors. Every refusal that a caller can meet is listed here with its HTTP status, when it
 * happens and whether the same request may be sent again. The reference page and the OpenAPI document are
 * generated from it.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    when: 'Body, query or header failed validation; the message names the field.',
    retry: false,
  },
  unauthenticated: { status: 401, when: 'The key is missing, unknown, revoked or expired.', retry: false },
  insufficient_scope: { status: 403, when: 'The key cannot do this.', retry: false },
  agent_mismatch: { status: 403, when: 'An agent key named a different agent.', retry: false },
  agent_not_active: { status: 403, when: 'The agent is paused or revoked.', retry: false },
  not_found: { status: 404, when: 'No such resource in this workspace, or no such route.', retry: false },
  idempotency_conflict: {
    status: 409,
    when: 'The idempotency key was already used for a different request.',
    retry: false,
  },
  agent_exists: { status: 409, when: 'An agent with that slug exists.', retry: false },
  agent_limit: { status: 409, when: "The plan's agent quota is reached.", retry: false },
  plan_required: {
    status: 409,
    when: 'ENFORCE needs a paid plan; webhooks need the Team plan or a trial of it.',
    retry: false,
  },
  webhook_limit: {
    status: 409,
    when: 'The workspace has as many webhook endpoints as it may.',
    retry: false,
  },
  last_admin_key: {
    status: 409,
    when: "The workspace's last active admin key cannot revoke itself.",
    retry: false,
  },
  agent_required: { status: 422, when: 'A workspace key must name the agent.', retry: false },
  rate_limited: { status: 429, when: 'Too many requests; retry after the Retry-After header.', retry: true },
  internal_error: {
    status: 500,
    when: 'Something unforeseen failed here; nothing was granted.',
    retry: true,
  },
  auth_unavailable: { status: 503, when: 'The key could not be verified right now; retry.', retry: true },
  unavailable: {
    status: 503,
    when: 'The service cannot answer right now; retry with the same idempotency key.',
    retry: true,
  },
} as const satisfies Record<string, { status: number; when: string; retry: boolean }>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * A refusal that reaches the caller as `{ error: { code, message, request_id } }`.
 * `message` is what the caller reads; `cause` is what only the log keeps.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** Seconds, sent as `Retry-After`. */
  readonly retry_after_s: number | undefined;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; retry_after_s?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.retry_after_s = options.retry_after_s;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** A 400 whose message begins with the name of the field at fault. */
export function invalidField(field: string, problem: string): ApiError {
  return new ApiError('invalid_request', `${field}: ${problem}`);
}
