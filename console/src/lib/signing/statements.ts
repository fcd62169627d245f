import type { Decision, Me, ReviewRequest, StatementToSign } from '@purser/sdk';
import { requestPasskey } from '../passkeys.ts';
import { sha256 } from './hash.ts';

/** A statement that is not the one which was asked for: it must not be signed. */
export class WrongStatement extends Error {}

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Returns true if every ALLOW of the decision must be signed. In Shadow no tier binds. */
export function needsSignature({ mode, review_tier }: Pick<Decision, 'mode' | 'review_tier'>): boolean {
  return mode === 'ENFORCE' && review_tier?.signed === true;
}

/**
 * Signs a statement with a passkey. The challenge is computed here, and `expected` are the fields that the page shows:
 * throws WrongStatement where the service's statement says anything else, and rejects where the person cancels.
 */
export async function signStatement(
  { statement, options }: StatementToSign,
  expected: Record<string, unknown>,
): Promise<NonNullable<ReviewRequest['signature']>> {
  const said = JSON.parse(statement) as Record<string, unknown>;
  const wrong = Object.keys(expected).find((field) => said[field] !== expected[field]);
  if (wrong !== undefined)
    throw new WrongStatement(`The service asked you to sign another ${wrong} than is shown here.`);
  const challenge = base64url(await sha256(statement));
  const { id, response } = await requestPasskey({ ...options, challenge });
  return { statement, response: { id, response } as never };
}

/** The fields of a review's statement that the page shows. */
export function shownOfReview(
  decision: Decision,
  me: Pick<Me, 'principal_id'>,
  { action, reason_code, remember }: Pick<ReviewRequest, 'action' | 'reason_code' | 'remember'>,
): Record<string, unknown> {
  return {
    type: 'purser.approval.v1',
    decision_id: decision.decision_id,
    action,
    reason_code,
    remember: remember ?? null,
    merchant: decision.action.merchant,
    payee_id: decision.action.payee_id ?? null,
    amount_minor: decision.reservation.amount_minor,
    currency: decision.currency,
    principal_id: me.principal_id,
  };
}
