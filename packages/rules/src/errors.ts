import { ERRORS, type ErrorCode } from '@purser/contract/errors';

/**
 * The reasons for which the service turns away a request that is sound, each with what it means. They are `reason` in the
 * log and the label of `purser_refusals_total`; a limit names the resource as `purser_resource_in_use` does.
 */
export const REFUSAL_REASONS = {
  connections: 'Too many connections, in total or from one address; the connection was closed.',
  bodies: 'Too many bodies are being received.',
  writes: 'Too many writes are in progress.',
  lane: 'Too many commands are waiting for the database.',
  look_ups: 'Too many lookups of keys, sessions or decisions are queued.',
  waits: 'Too many requests are waiting for a change.',
  reads: 'Too many reads.',
  lists: 'Too many lists.',
  reports: 'Too many reports.',
  verifications: 'Too many verifications.',
  exports: 'Too many exports.',
  imports: 'Too many files are being read.',
  simulations: 'Too many simulations and authority tests.',
  streams: 'Too many streamed responses.',
  unsent_bytes: 'Clients read their responses too slowly; the connection was closed.',
  password_hashes: 'Too many passwords are being checked.',
  purpose_model_calls: 'Too many calls to the purpose model.',
  assessments_time: 'Too many assessments were waiting for processing time, or waited too long.',
  answers_time: 'Too many requests with long bodies were waiting for processing time, or waited too long.',
  public_time: 'Too many requests without a key were waiting for processing time, or waited too long.',
  mcp_time: 'Too many messages to `/mcp` were waiting for processing time, or waited too long.',
  rate_limit: 'More requests per minute than the limit, or too many wrong passwords.',
  database: 'The database did not respond, or refused to write.',
  clock: "The database's clock jumped, so nothing is written.",
  commit_unknown: 'The connection broke during a commit; its result is unknown.',
  deadline: 'The response was not ready in time.',
  authority_changing: "The agent's authority changed during every attempt to assess the spend.",
  report_behind: "The report's totals are still being computed.",
  identity_provider: 'The identity provider could not be reached.',
  not_ready: 'The readiness check failed.',
  stopping: 'The process is stopping.',
  failure: 'An internal failure; the log has the cause.',
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

/** A key, a session or a sign-in cannot be verified now. The message is always the same, and access is refused. */
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
