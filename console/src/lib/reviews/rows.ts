import type { Decision, InboxRow as PendingRow } from '@purser/sdk';

/** A row of the inbox, made of a pending review or of a decision. */
export interface Row {
  decision_id: string;
  agent: { id: string; slug: string };
  merchant: string;
  amount_minor: number;
  currency: string;
  reason_code: string;
  created_at: string;
  expires_at: string | null;
  review_state: Decision['review_state'];
  /** How many approvals it has and needs; null where one is enough. */
  approvals: { given: number; required: number } | null;
  assigned_to: string | null;
}

/** The row of a pending review. */
export function rowOfPending(row: PendingRow): Row {
  const { given, required, signed: _signed, bulk: _bulk, may_allow: _may, ...shown } = row;
  return { ...shown, review_state: 'PENDING', approvals: required === 1 ? null : { given, required } };
}

/** The row of a decision, whatever its state. `known` is its earlier row, whose assignment stays. */
export function rowOfDecision(decision: Decision, known?: Row): Row {
  const { decision_id, agent, action, requested_amount_minor, currency, reason_code } = decision;
  const { created_at, reservation, review_state, review_progress } = decision;
  const required = review_progress?.required ?? 1;
  return {
    decision_id,
    agent,
    merchant: action.merchant,
    amount_minor: reservation.amount_minor || requested_amount_minor,
    currency,
    reason_code,
    created_at,
    expires_at: review_state === 'PENDING' ? reservation.expires_at : null,
    review_state,
    approvals: required === 1 ? null : { given: review_progress?.given.length ?? 0, required },
    assigned_to: known?.assigned_to ?? null,
  };
}

/** "1 of 2 approvals"; null where one is enough. */
export const approvalsInWords = ({ approvals }: Pick<Row, 'approvals'>): string | null =>
  approvals === null ? null : `${approvals.given} of ${approvals.required} approvals`;

/** The order of the service by deadline: requests that never expire last. */
export function isDueBefore(a: Row, b: Row): boolean {
  const place = ({ expires_at, decision_id }: Row) => `${expires_at ?? '~'} ${decision_id}`;
  return place(a) < place(b);
}
