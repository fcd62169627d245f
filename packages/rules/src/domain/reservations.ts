import { LIMIT_KINDS } from '@purser/contract/values/budgets';
import { RESERVATION_STATUSES } from '@purser/contract/values/decisions';
import type { CounterKey } from '../counters/counters.ts';
import type { CounterWindow } from '../counters/windows.ts';
import { type BudgetCounter, type BudgetStatus, budgetStatus } from './budget.ts';
import { recordHash } from './ledger.ts';

export { LIMIT_KINDS, RESERVATION_STATUSES };

export type ReservationStatus = (typeof RESERVATION_STATUSES)[number];

/** How a limit over time stands. Minor units; what is not limited is null. */
export interface LimitStanding {
  name: string;
  kind: (typeof LIMIT_KINDS)[number];
  /** The merchant or the payee that is counted by itself; null where all count together. */
  subject: string | null;
  /** The calendar window, or from and until when a step of a rolling one counts. ISO UTC. */
  window: { type: CounterWindow['type']; starts_at: string; ends_at: string };
  limit_minor: number | null;
  used_minor: number;
  remaining_minor: number | null;
  limit_count: number | null;
  /** Null where spends are not counted. */
  used_count: number | null;
  /** Where a new limit does not know all that came before it: since when it counts. */
  counted_since: string | null;
}

/** How a limit of an agent stands, with the name of its subject. */
export interface NamedStanding extends LimitStanding {
  /** The merchant or payee as it was last asked for; null where there is no subject, or the name is not among the newest. */
  subject_name: string | null;
}

/** A limit that a decision counts in, as it stands after it. The window is the slot that the decision counts in. */
export interface CountedLimit extends LimitStanding {
  used_count: number;
  counter_id: CounterKey['counter_id'];
}

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
  /** Left out where the decision counts in no limit over time; a DENY would count in them if it were executed. */
  limits?: CountedLimit[];
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
