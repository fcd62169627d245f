export { APIPromise, Page, PagePromise, type WithResponse } from './api-promise.ts';
export type { Authorization, AuthorizeOptions } from './authorize.ts';
export {
  AbortedError,
  APIError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  PaymentFailed,
  PermissionError,
  PurserError,
  PurserUnavailable,
  RateLimitError,
  SpendDenied,
  SpendError,
  SpendFailed,
  SpendPending,
  SpendRefused,
  SpendUncertain,
  SpendUnfinished,
  TimeoutError,
  WebhookSignatureError,
} from './errors.ts';
export type { PurserOptions, RequestEvent, RequestOptions } from './options.ts';
export { Purser } from './purser.ts';
export type { FileContent } from './resources.ts';
export { isDecision } from './shapes.ts';
export { type SignAllowanceOptions, signAllowance } from './signed-allowances.ts';
export type { Grant, PaymentResult, SpendOptions, Spent, Unreported } from './spend.ts';
export type * from './types.ts';
export { VERSION } from './version.ts';
export { webhooks } from './webhooks.ts';
