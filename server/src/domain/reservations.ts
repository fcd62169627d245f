import { type BudgetCounter, type BudgetStatus, budgetStatus } from './budget.ts';
import { recordHash } from './ledger.ts';

export const RESERVATION_STATUSES = ['HELD', 'COMMITTED', 'RELEASED', 'EXPIRED', 'NONE'] as const;
export type ReservationStatus = (typeof RESERVATION_STATUSES)[number];

/** The money held for a decision against its agent's month. Amounts are minor units of `currency`. */
export interface Reservation {
  /** Null when nothing was held (`NONE`). */
  reservation_id: string | null;
  status: ReservationStatus;
  amount_minor: number;
  currency: string;
  /** The calendar month (UTC) it counts against, `2026-11`. */
  period: string;
  /** Null: the hold stays until something settles it. */
  expires_at: string | null;
  budget: BudgetStatus;
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
