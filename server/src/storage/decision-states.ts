import type { DecisionState } from '../domain/decision-states.ts';
import type { InLedger } from '../domain/ledger.ts';
import type { ExpiredReservation } from '../domain/reservations.ts';
import type { Client, Queryable } from './database.ts';
import { makeInsert, type Of, type WorkspaceRows } from './rows.ts';

/** Every column of a state, of the table named `s`. */
export const STATE_COLUMNS = `s.decision_id, s.agent_id, s.reservation_id, s.reservation_status, s.period, s.currency,
  s.amount_minor, s.expires_at, s.review_state, s.review_id, s.label_id, s.outcome_state, s.verified,
  s.capability_status, s.capability_issued_at, s.capability_expires_at, s.capability_consumed_at`;

/** Writes states, new or changed. */
export const putDecisionStates = makeInsert<DecisionState>(
  'decision_states',
  {
    decision_id: 'text',
    agent_id: 'text',
    reservation_id: 'text',
    reservation_status: 'text',
    period: 'text',
    currency: 'text',
    amount_minor: 'bigint',
    expires_at: 'timestamptz',
    review_state: 'text',
    review_id: 'text',
    label_id: 'text',
    outcome_state: 'text',
    verified: 'boolean',
    capability_status: 'text',
    capability_issued_at: 'timestamptz',
    capability_expires_at: 'timestamptz',
    capability_consumed_at: 'timestamptz',
  },
  {
    conflict: ['decision_id'],
    update: [
      'reservation_id',
      'reservation_status',
      'amount_minor',
      'expires_at',
      'review_state',
      'review_id',
      'label_id',
      'outcome_state',
      'verified',
      'capability_status',
      'capability_issued_at',
      'capability_expires_at',
      'capability_consumed_at',
    ],
  },
);

/**
 * How many holds one batch lets run out at the most; the next batch or sweep takes the rest. Where more than this
 * ran out at one moment, a spend may be denied for money that is about to be free. Measured: 5,000 of them in one
 * batch took 1.6 s on a busy machine of 2 cores; a batch has 5 s.
 */
const RUN_OUT_AT_ONCE = 2_000;

/**
 * Holds of these agents that have run out but were not let go yet. The clock is asked in a statement of its own, since
 * no index can be entered with a value that may change from row to row: every live hold of the agents would be read.
 */
export async function loadDueHolds(
  db: Queryable,
  wanted: readonly Of<{ agent_id: string }>[],
): Promise<Of<DecisionState>[]> {
  const result = await db.query<Of<DecisionState>>({
    name: 'load_due_holds',
    text: `select s.workspace_id, ${STATE_COLUMNS}
      from unnest($1::text[], $2::text[]) as w(workspace_id, agent_id)
      cross join lateral (
        select decision_id from expiring_holds h
        where h.workspace_id = w.workspace_id and h.agent_id = w.agent_id
          and h.expires_at <= (select clock_timestamp())
        order by h.expires_at limit ${RUN_OUT_AT_ONCE}) as h
      cross join lateral (
        select * from decision_states s
        where s.workspace_id = w.workspace_id and s.decision_id = h.decision_id limit 1) as s
      limit ${RUN_OUT_AT_ONCE}`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.agent_id)],
  });
  return result.rows;
}

/** A place among the holds that run out, in the order in which they do. */
export interface DueHold {
  workspace_id: string;
  agent_id: string;
  expires_at: string;
  decision_id: string;
}

/**
 * Holds of any workspace that have run out, oldest first, behind `after` (null: from the oldest on); at most `limit`.
 * Reads these rows and no others, however many holds are live.
 */
export async function listDueHolds(
  db: Queryable,
  after: Pick<DueHold, 'expires_at' | 'decision_id'> | null,
  limit: number,
): Promise<DueHold[]> {
  const result = await db.query<DueHold>({
    name: 'list_due_holds',
    text: `select workspace_id, agent_id, expires_at, decision_id from expiring_holds
      where decision_id <> '' and expires_at <= (select clock_timestamp()) and (expires_at, decision_id) > ($1, $2)
      order by expires_at, decision_id limit $3`,
    values: [after?.expires_at ?? '-infinity', after?.decision_id ?? '', limit],
  });
  return result.rows;
}

/** A hold that runs out by itself. */
export type ExpiringHold = Pick<DecisionState, 'agent_id' | 'decision_id' | 'period'> & {
  expires_at: string;
};

export const insertExpiringHolds = makeInsert<ExpiringHold>('expiring_holds', {
  agent_id: 'text',
  expires_at: 'timestamptz',
  decision_id: 'text',
  period: 'text',
});

/** Takes holds that were settled, or have run out, from those that will. */
export function deleteExpiringHolds(
  client: Client,
  parts: readonly WorkspaceRows<ExpiringHold>[],
): Promise<unknown> {
  const holds = parts.flatMap(({ workspace_id, rows }) => rows.map((row) => ({ workspace_id, ...row })));
  return client.query({
    name: 'delete_expiring_holds',
    text: `delete from expiring_holds h using unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[])
        as r(workspace_id, agent_id, expires_at, decision_id)
      where h.workspace_id = r.workspace_id and h.agent_id = r.agent_id and h.expires_at = r.expires_at
        and h.decision_id = r.decision_id`,
    values: [
      holds.map((hold) => hold.workspace_id),
      holds.map((hold) => hold.agent_id),
      holds.map((hold) => hold.expires_at),
      holds.map((hold) => hold.decision_id),
    ],
  });
}

/** Which of these holds are among those that will run out. */
export async function loadExpiringHolds(
  db: Queryable,
  workspace_id: string,
  holds: readonly ExpiringHold[],
): Promise<ExpiringHold[]> {
  const result = await db.query<ExpiringHold & { workspace_id: string }>({
    name: 'load_expiring_holds',
    text: `select h.agent_id, h.expires_at, h.decision_id, h.period
      from unnest($2::text[], $3::timestamptz[], $4::text[]) as w(agent_id, expires_at, decision_id)
      cross join lateral (
        select * from expiring_holds h where h.workspace_id = $1 and h.agent_id = w.agent_id
          and h.expires_at = w.expires_at and h.decision_id = w.decision_id limit 1) as h`,
    values: [
      workspace_id,
      holds.map((hold) => hold.agent_id),
      holds.map((hold) => hold.expires_at),
      holds.map((hold) => hold.decision_id),
    ],
  });
  return result.rows;
}

/** Keeps holds that were let go because they had run out. */
export const insertExpiredReservations = makeInsert<InLedger<ExpiredReservation>>('expired_reservations', {
  reservation_id: 'text',
  decision_id: 'text',
  agent_id: 'text',
  amount_minor: 'bigint',
  currency: 'text',
  period: 'text',
  expires_at: 'timestamptz',
  let_go_at: 'timestamptz',
  event_id: 'text',
});

/** The holds of these ids that were let go because they had run out. */
export async function loadExpiredReservations(
  db: Queryable,
  workspace_id: string,
  reservation_ids: readonly string[],
): Promise<InLedger<ExpiredReservation>[]> {
  const result = await db.query<InLedger<ExpiredReservation> & { workspace_id: string }>({
    name: 'load_expired_reservations',
    text: `select reservation_id, decision_id, agent_id, amount_minor, currency, period, expires_at, let_go_at,
        event_id
      from expired_reservations where workspace_id = $1 and reservation_id = any($2)`,
    values: [workspace_id, reservation_ids],
  });
  return result.rows;
}
