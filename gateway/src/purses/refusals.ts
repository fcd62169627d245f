import {
  APIError,
  AuthenticationError,
  type Decision,
  PermissionError,
  PurserError,
  SpendDenied,
  SpendError,
  SpendPending,
} from '@purser/sdk';
import { GatewayError, notActive } from '../errors.ts';
import { away } from './callers.ts';

const NO_AUTHORITY_FOR_IT =
  /^(?:NO_AUTHORITY|ACTION_TYPE_NOT_ALLOWED|MERCHANT_NOT_ALLOWED|MERCHANT_BLOCKED|PAYEE_NOT_ALLOWED)$/;

/** Tells whether a limit that denied a lease is held by other spends, which may give some of it back. */
function isInUse({ reservation, min_amount_minor, requested_amount_minor }: Decision): boolean {
  const least = min_amount_minor ?? requested_amount_minor;
  const limits: { remaining_minor: number | null; held_minor?: number | undefined }[] = [
    reservation.budget,
    ...(reservation.limits ?? []),
  ];
  return limits.some(
    ({ remaining_minor, held_minor = 0 }) =>
      remaining_minor !== null && remaining_minor < least && held_minor > 0,
  );
}

/** Why a purse gave no money, as an answer to the agent. Returns an error that is no refusal of Purser unchanged. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof SpendPending)
    return new GatewayError('review_pending', 'A person has to allow more spending on models first.', {
      reason: error.decision.reason_code,
    });
  if (error instanceof SpendDenied) {
    const reason = error.decision.reason_code;
    if (NO_AUTHORITY_FOR_IT.test(reason))
      return new GatewayError(
        'model_not_allowed',
        'The authority of this agent does not cover model calls.',
        { reason },
      );
    return isInUse(error.decision)
      ? new GatewayError('budget_in_use', 'The budget is in use by other calls right now. Try again.', {
          reason,
        })
      : new GatewayError('insufficient_quota', 'The budget for this call is used up.', { reason });
  }
  if (error instanceof SpendError) return away();
  if (error instanceof AuthenticationError)
    return new GatewayError('invalid_api_key', 'The API key is not valid any more.');
  if (error instanceof PermissionError || APIError.is(error, 'agent_not_active')) return notActive();
  return error instanceof PurserError ? away() : error;
}
