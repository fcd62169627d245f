import { type BudgetCounter, type BudgetStanding, standingOf } from './budget.ts';
import type { DecisionKind, Mode } from './decisions.ts';

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
  budget: BudgetStanding;
}

/** `NONE` with amount 0: what a DENY holds. */
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
    budget: standingOf(counter, limit_minor),
  };
}

/**
 * When a fresh hold runs out by itself, or null when it stays. A hold is let go only on evidence that the money
 * did not move: in ENFORCE a pending review that runs out has moved nothing; all else waits for an outcome.
 */
export function holdExpiry(
  mode: Mode,
  decision: DecisionKind,
  now_ms: number,
  review_ttl_seconds: number,
): string | null {
  if (mode !== 'ENFORCE' || decision !== 'REVIEW') return null;
  return new Date(now_ms + review_ttl_seconds * 1000).toISOString();
}
