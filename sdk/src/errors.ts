import type { Decision, ErrorCode } from './generated.ts';

/** Facts about the failed call. */
export interface CallFacts {
  requestId?: string | undefined;
  idempotencyKey?: string | undefined;
  cause?: unknown;
}

/** Everything that this library throws, but for `TypeError`s about wrong arguments. */
export class PurserError extends Error {
  /** The `x-request-id` of the call, for whoever reads the service's log. */
  readonly requestId: string | undefined;
  /** The call's `idempotency-key`, the same on all its attempts. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, facts: CallFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.requestId = facts.requestId;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/** The service's error response. */
export interface Refusal {
  status: number;
  code: ErrorCode | (string & {});
  message: string;
  headers: Headers;
}

/** The service refused or failed, and said so. */
export class APIError extends PurserError {
  readonly status: number;
  /** The code to branch on; `unexpected_response` if the response was not Purser's. */
  readonly code: ErrorCode | (string & {});
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  readonly headers: Headers;

  constructor(refusal: Refusal, facts: CallFacts = {}) {
    super(refusal.message, facts);
    this.status = refusal.status;
    this.code = refusal.code;
    this.headers = refusal.headers;
    this.retryable = refusal.status === 408 || refusal.status === 429 || refusal.status >= 500;
  }

  /** Narrows by code: `if (APIError.is(error, 'capability_used'))`. */
  static is<C extends ErrorCode>(error: unknown, ...codes: C[]): error is APIError & { code: C } {
    return error instanceof APIError && (codes as string[]).includes(error.code);
  }
}

/** 401: the key is missing, unknown, revoked or expired. */
export class AuthenticationError extends APIError {}
/** 403: the key or its agent may not do this. */
export class PermissionError extends APIError {}
/** 400: the request is wrong. */
export class InvalidRequestError extends APIError {
  /** The name of the field at fault, where the message begins with one. */
  get field(): string | undefined {
    return /^([A-Za-z_][\w.[\]-]*): /.exec(this.message)?.[1];
  }
}
/** 409: the state of things forbids it. Never retried. */
export class ConflictError extends APIError {}
/** 429: too many requests. */
export class RateLimitError extends APIError {
  /** Seconds. */
  get retryAfter(): number {
    const seconds = Number(this.headers.get('retry-after') ?? Number.NaN);
    return Number.isFinite(seconds) ? seconds : 60;
  }
}

/** No whole answer of the service came. Whether the request was carried out is not known. */
export class ConnectionError extends PurserError {}
/** No whole answer came within `timeout`. */
export class TimeoutError extends ConnectionError {}
/** The caller's signal was aborted. Whether the request was carried out is not known. */
export class AbortedError extends PurserError {}
/** Purser cannot be asked right now, so nothing was paid. The same call may be made again. */
export class PurserUnavailable extends PurserError {
  declare readonly cause: unknown;
}
/** A webhook delivery whose signature proves nothing. */
export class WebhookSignatureError extends PurserError {}

/** A spend that did not end in a payment that is known of. */
export class SpendError extends PurserError {
  readonly decision: Decision;

  constructor(message: string, decision: Decision, facts: CallFacts = {}) {
    super(`${message} (${decision.decision_id})`, facts);
    this.decision = decision;
  }
}
/** DENY, by policy or by a person, or nobody reviewed it in time. Nothing was paid. */
export class SpendDenied extends SpendError {}
/** It waits for a person. Nothing was paid; call again with the same `idempotencyKey` to go on. */
export class SpendPending extends SpendError {}
/** The capability was refused. Nothing was paid. */
export class SpendRefused extends SpendError {
  declare readonly cause: APIError;
}
/** An earlier call with this name began to pay: whether it did is for the payment system to say. */
export class SpendUnfinished extends SpendError {}
/** The payment definitely failed, and was reported so. A new attempt needs a new `idempotencyKey`. */
export class SpendFailed extends SpendError {
  declare readonly cause: unknown;
}
/** `pay` threw and that proves nothing: nothing was reported and the money stays held. */
export class SpendUncertain extends SpendError {
  declare readonly cause: unknown;
}

/** Throw it in `pay` when the payment system said no: proof that no money moved. */
export class PaymentFailed extends Error {}

const CLASSES = {
  PurserError,
  APIError,
  AuthenticationError,
  PermissionError,
  InvalidRequestError,
  ConflictError,
  RateLimitError,
  ConnectionError,
  TimeoutError,
  AbortedError,
  PurserUnavailable,
  WebhookSignatureError,
  SpendError,
  SpendDenied,
  SpendPending,
  SpendRefused,
  SpendUnfinished,
  SpendFailed,
  SpendUncertain,
  PaymentFailed,
};
// Spelled out, since a minifier changes the names of classes.
for (const [name, { prototype }] of Object.entries(CLASSES)) {
  Object.defineProperty(prototype, 'name', { value: name, configurable: true, writable: true });
}

const BY_STATUS: Record<number, typeof APIError> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  409: ConflictError,
  429: RateLimitError,
};

/** The error of an answer with this status and text. */
export function errorOf(response: Response, text: string, facts: CallFacts): APIError {
  const { status, headers } = response;
  let told: { code?: unknown; message?: unknown } = {};
  try {
    told = (JSON.parse(text) as { error?: typeof told }).error ?? {};
  } catch {
    // Not the service's own body: something between here and there spoke.
  }
  const { code, message } = told;
  const known = typeof code === 'string' && typeof message === 'string';
  const said = known
    ? { code, message }
    : { code: 'unexpected_response', message: `HTTP ${status} without a Purser error` };
  return new (BY_STATUS[status] ?? APIError)({ status, headers, ...said }, facts);
}
