import type { Reservation } from '@purser/contract/decisions';
import type { LimitStanding } from '@purser/contract/limit-standing';
import type { RESERVATION_STATUSES } from '@purser/contract/values/decisions';
import { type BudgetCounter, budgetStatus } from './budget.ts';
import { recordHash } from './ledger.ts';

export type ReservationStatus = (typeof RESERVATION_STATUSES)[number];

/** An agent’s limit and its use, with the name of its subject. */
export interface NamedStanding extends LimitStanding {
  /** The merchant or payee as it was last asked for; null where there is no subject, or the name is not among the newest. */
  subject_name: string | null;
}

/** The reservation of a DENY: `NONE` with amount 0. */
export function noReservation(
  currency: string,
  period: string,
  counter: BudgetCounter,
  limit_minor: number | null,
): Reservation {
  return {
    reservation_id: null,
    status: 'NONE',
    amount_minor: 0,
    currency,
    period,
    expires_at: null,
    budget: budgetStatus(counter, limit_minor),
  };
}

/** The id of a decision's hold. There is at most one, and both ids end in the same 26 characters. */
export function reservationIdOf(decision_id: string): string {
  return `rsv_${decision_id.slice('dec_'.length)}`;
}

/** A hold that expired, as it was when it was released. Never changed or removed. */
export interface ExpiredReservation {
  reservation_id: string;
  decision_id: string;
  agent_id: string;
  amount_minor: number;
  currency: string;
  period: string;
  expires_at: string;
  /** When it was released. The ledger seals the column under this name, so it cannot be renamed. */
  let_go_at: string;
}

/** The `data_hash` of an expired hold: SHA-256 of the RFC 8785 form of all columns. */
export function expiredReservationDataHash(hold: ExpiredReservation): Buffer {
  return recordHash(hold);
}
