/**
 * Every error that a caller can receive, with its HTTP status, when it occurs and whether the same request may be sent
 * again. The reference page and the OpenAPI document are generated from this table.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    when: 'Body, query or header failed validation; the message names the field.',
    retry: false,
  },
  unauthenticated: {
    status: 401,
    when: 'The key is missing, unknown, revoked or expired; nobody is signed in; or what was given to sign in is wrong.',
    retry: false,
  },
  insufficient_scope: { status: 403, when: 'The key cannot do this.', retry: false },
  agent_mismatch: { status: 403, when: 'An agent key named a different agent.', retry: false },
  agent_not_active: {
    status: 403,
    when: 'The agent is paused or revoked, or all agents of the workspace are stopped.',
    retry: false,
  },
  self_review_forbidden: {
    status: 403,
    when: 'The reviewer requested the spend, with the same key or another key of the same principal; or made the requesting key, where the workspace separates those duties.',
    retry: false,
  },
  cross_site_request: {
    status: 403,
    when: 'A request with a session does not come from the console: `Sec-Fetch-Site` or `Origin` is missing or foreign.',
    retry: false,
  },
  reauthentication_required: {
    status: 403,
    when: 'This change needs a sign-in of the last minutes: prove who you are at `POST /v1/auth/reauthenticate`, and send it again.',
    retry: false,
  },
  method_not_allowed: {
    status: 405,
    when: 'The route is there for POST alone.',
    retry: false,
  },
  not_found: { status: 404, when: 'No such resource in this workspace, or no such route.', retry: false },
  idempotency_conflict: {
    status: 409,
    when: 'The idempotency key was already used for a different request.',
    retry: false,
  },
  agent_exists: { status: 409, when: 'An agent with that slug exists.', retry: false },
  agent_limit: { status: 409, when: "The plan's agent quota is reached.", retry: false },
  authority_changed: {
    status: 409,
    when: 'The authority changed since the decision: ask for a new decision. Or it is not the one that `if-match` names: read it again.',
    retry: false,
  },
  not_reviewable: { status: 409, when: 'Only a REVIEW decision can be reviewed.', retry: false },
  review_final: {
    status: 409,
    when: 'In ENFORCE a review is final, and one that ran out of time cannot be reviewed any more.',
    retry: false,
  },
  outcome_conflict: {
    status: 409,
    when: 'The outcome contradicts what was already reported.',
    retry: false,
  },
  capability_used: { status: 409, when: 'The capability was consumed already.', retry: false },
  capability_expired: {
    status: 409,
    when: 'The capability ran out of time: ask for a new decision.',
    retry: false,
  },
  capability_revoked: {
    status: 409,
    when: 'An outcome was reported for the spend, which ended its capability.',
    retry: false,
  },
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
  merchant_limit: {
    status: 409,
    when: 'The agent has as many merchants listed as it may.',
    retry: false,
  },
  budget_exists: {
    status: 409,
    when: 'A shared budget with this slug exists: choose another slug.',
    retry: false,
  },
  budget_limit: {
    status: 409,
    when: 'The workspace has as many shared budgets as it may.',
    retry: false,
  },
  budget_frozen: {
    status: 409,
    when: 'A shared budget that the spend counts in is frozen, so a review cannot allow it: unfreeze the budget, or deny the spend.',
    retry: false,
  },
  last_admin_key: {
    status: 409,
    when: "The workspace's last active admin key cannot revoke itself.",
    retry: false,
  },
  last_admin: {
    status: 409,
    when: "The workspace's last administrator cannot be demoted or removed.",
    retry: false,
  },
  already_set_up: { status: 409, when: 'There is a first administrator already.', retry: false },
  last_way_in: {
    status: 409,
    when: 'The password or passkey is the only way in that the person has: add another first.',
    retry: false,
  },
  already_member: { status: 409, when: 'The person is a member of the workspace already.', retry: false },
  principal_taken: {
    status: 409,
    when: 'Another person who is or was a member has this principal, or a key that another person made carries it.',
    retry: false,
  },
  misdirected_request: {
    status: 421,
    when: 'The `Host` of a request to `/mcp` is not an address of this service: set `PUBLIC_URL` to the one that clients use.',
    retry: false,
  },
  agent_required: { status: 422, when: 'A workspace key must name the agent.', retry: false },
  currency_mismatch: { status: 422, when: "The currency differs from the decision's.", retry: false },
  payee_mismatch: {
    status: 422,
    when: 'The decision named a payee, and this one is another or none.',
    retry: false,
  },
  merchant_mismatch: { status: 422, when: "The merchant is not the decision's.", retry: false },
  amount_exceeds_authorized: {
    status: 422,
    when: 'The amount is over what the capability allows.',
    retry: false,
  },
  too_many_headers: {
    status: 431,
    when: 'The request has more headers than are looked through.',
    retry: false,
  },
  rate_limited: { status: 429, when: 'Too many requests; retry after the Retry-After header.', retry: true },
  internal_error: {
    status: 500,
    when: 'Something unforeseen failed here; nothing was granted.',
    retry: true,
  },
  not_implemented: {
    status: 501,
    when: 'The body has another `transfer-encoding` than `chunked`.',
    retry: false,
  },
  auth_unavailable: {
    status: 503,
    when: 'A key, a session or a sign-in could not be verified right now; retry.',
    retry: true,
  },
  unavailable: {
    status: 503,
    when: 'The service cannot answer right now; retry with the same idempotency key.',
    retry: true,
  },
} as const satisfies Record<string, { status: number; when: string; retry: boolean }>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * The reasons for which the service turns away a request that is sound, each with what it means. They are `reason` in the
 * log and the label of `purser_refusals_total`; a limit names the resource as `purser_resource_in_use` does.
 */
export const REFUSAL_REASONS = {
  connections: 'Too many connections, of all clients or of one address; the connection was closed.',
  bodies: 'Too many bodies are being received.',
  writes: 'Too many writes are in progress.',
  lane: 'Too many commands wait for the database.',
  look_ups: 'Too many keys, sessions or decisions wait to be looked up.',
  waits: 'Too many requests wait for a change.',
  reads: 'Too many reads.',
  lists: 'Too many lists.',
  reports: 'Too many reports.',
  verifications: 'Too many verifications.',
  exports: 'Too many exports.',
  simulations: 'Too many simulations and tests of authorities.',
  streams: 'Too many streamed answers.',
  unsent_bytes: 'Clients are slow to receive their answers; the connection was closed.',
  password_hashes: 'Too many passwords are being checked.',
  purpose_model_calls: 'Too many calls to the purpose model.',
  assessments_time: 'The assessments of one workspace waited too long for their share of the time.',
  answers_time: 'The reads of one workspace waited too long for their share of the time.',
  replays_time: 'Simulations waited too long for their share of the time.',
  public_time: 'Answers without a key to one address waited too long for their share of the time.',
  mcp_time: 'The messages of one workspace to `/mcp` waited too long for their share of the time.',
  rate_limit: 'More requests than the limit a minute, or too many wrong passwords.',
  database: 'The database did not answer, or refused to write.',
  clock: "The database's clock jumped, so that nothing is written.",
  commit_unknown: 'The connection broke during a commit: whether it happened is unknown.',
  deadline: 'The answer was not ready in time.',
  authority_changing: "The agent's authority changed each time the spend was assessed.",
  report_behind: 'The decisions of a report are still being added up.',
  identity_provider: 'The identity provider could not be reached.',
  not_ready: 'The readiness check failed.',
  stopping: 'The process is stopping.',
  failure: 'A fault of the service itself; the log has its cause.',
} as const;

export type RefusalReason = keyof typeof REFUSAL_REASONS;

/** An error that the caller receives as `{ error: { code, message, request_id } }`. `cause` is only logged. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** Seconds, sent as `Retry-After`. */
  readonly retry_after_s: number | undefined;
  /** True if it is caused by overload. Such errors are logged as a count per second, not one by one. */
  readonly is_overload: boolean;
  /** The request may have been carried out nevertheless. */
  readonly is_outcome_unknown: boolean;
  /** Set where the service turned the request away for want of something. Only logged and counted. */
  readonly reason: RefusalReason | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown;
      retry_after_s?: number;
      is_overload?: true;
      is_outcome_unknown?: true;
      reason?: RefusalReason;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.retry_after_s = options.retry_after_s;
    this.is_overload = options.is_overload === true;
    this.is_outcome_unknown = options.is_outcome_unknown === true;
    this.reason = options.reason;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** A 400 whose message begins with the name of the wrong field. */
export function invalidField(field: string, problem: string): ApiError {
  return new ApiError('invalid_request', `${field}: ${problem}`);
}

/** It cannot be told now who it is, by a key, a session or a sign-in: in the same words, and never a way in. */
export function authUnavailable(cause?: unknown, reason?: RefusalReason): ApiError {
  return new ApiError('auth_unavailable', 'Sign-in could not be verified right now; retry.', {
    cause,
    retry_after_s: 1,
    ...(reason === undefined ? {} : { reason }),
  });
}

/**
 * Makes the refusal of a request before any work, because there is no more of `reason`. Make it once and throw that
 * instance: a refusal has to be cheap, and a stack trace is the dear part of an error.
 */
export function overloaded(reason: RefusalReason): ApiError {
  return new ApiError('unavailable', 'The service is overloaded; nothing was carried out; retry.', {
    retry_after_s: 1,
    is_overload: true,
    reason,
  });
}
