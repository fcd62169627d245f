import type { JoiningAuthority } from '@purser/rules/domain/authorities';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import type { DecisionState } from '@purser/rules/domain/decision-states';
import type { DecisionCore } from '@purser/rules/domain/decisions';
import type { InLedger } from '@purser/rules/domain/ledger';
import type { ExpiredReservation } from '@purser/rules/domain/reservations';
import { findEverywhere } from '../citus/find-everywhere.ts';
import { JOINING_AFTER, type JoiningRow, joiningOf } from './authorities.ts';
import type { Client, Queryable } from './database.ts';
import { type InWorkspace, makeInsert, type WorkspaceRows } from './rows.ts';

/** All columns of a state, for a query that names the table `s`. */
export const STATE_COLUMNS = `s.decision_id, s.agent_id, s.reservation_id, s.reservation_status, s.period, s.currency,
  s.amount_minor, s.expires_at, s.review_state, s.review_id, s.label_id, s.outcome_state, s.verified,
  s.capability_status, s.capability_issued_at, s.capability_expires_at, s.capability_consumed_at, s.counted_in,
  s.paced_minor, s.approvals`;

/** Inserts new states and updates existing ones. */
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
    counted_in: 'text',
    paced_minor: 'bigint',
    approvals: 'integer',
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
      'counted_in',
      'paced_minor',
      'approvals',
    ],
  },
);

/**
 * The most holds that one batch expires; the next batch or sweep takes the rest. If more expire at the same moment, a
 * spend may be denied although money is about to become free. Measured: 5,000 of them in one batch took 1.6 s on a busy
 * machine with 2 cores; a batch has 5 s.
 */
const MAX_EXPIRED_A_BATCH = 2_000;

/** A hold that has expired. */
export interface ExpiredHold {
  state: DecisionState;
  /** The decision, with the versions of its agent's authority that limits joined with after it; null where none did. */
  counted: { decision: DecisionCore; joining: readonly JoiningAuthority[] } | null;
}

/**
 * Returns the holds of these agents that have expired without a record of it yet, at most `MAX_EXPIRED_A_BATCH`. The
 * clock is read in a subquery: an index cannot be searched by a volatile value, and every live hold of the agents would
 * be read.
 */
export async function loadDueHolds(
  db: Queryable,
  wanted: readonly InWorkspace<{ agent_id: string }>[],
): Promise<InWorkspace<ExpiredHold>[]> {
  type Row = InWorkspace<DecisionState & { joining: JoiningRow[] | null; document: string | null }>;
  const result = await db.query<Row>({
    name: 'load_due_holds',
    text: `select s.workspace_id, ${STATE_COLUMNS}, m.joining, m.document
      from unnest($1::text[], $2::text[]) as w(workspace_id, agent_id)
      cross join lateral (
        select decision_id from expiring_holds h
        where h.workspace_id = w.workspace_id and h.agent_id = w.agent_id
          and h.expires_at <= (select clock_timestamp())
        order by h.expires_at limit ${MAX_EXPIRED_A_BATCH}) as h
      cross join lateral (
        select * from decision_states s
        where s.workspace_id = w.workspace_id and s.decision_id = h.decision_id limit 1) as s
      left join lateral (
        select document, joining from (
          select d.document, ${JOINING_AFTER} as joining from decisions d
          where d.workspace_id = s.workspace_id and d.decision_id = s.decision_id limit 1) as d
        where joining is not null) as m on true
      limit ${MAX_EXPIRED_A_BATCH}`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.agent_id)],
  });
  return result.rows.map(({ workspace_id, joining, document, ...state }) => ({
    workspace_id,
    state,
    counted: document === null ? null : { decision: decodeDecision(document), joining: joiningOf(joining) },
  }));
}

/**
 * Returns the holds of a workspace that have expired without a record of it yet and count in limits over time or in shared
 * budgets, the oldest `MAX_EXPIRED_A_BATCH` of them.
 */
export async function loadCountedDueHolds(db: Queryable, workspace_id: string): Promise<DecisionState[]> {
  const result = await db.query<DecisionState & { workspace_id: string }>({
    name: 'load_counted_due_holds',
    text: `select ${STATE_COLUMNS}
      from (
        select workspace_id, decision_id from expiring_holds
        where workspace_id = $1 and decision_id <> '' and expires_at <= (select clock_timestamp())
        order by expires_at, decision_id limit ${MAX_EXPIRED_A_BATCH}) as h
      cross join lateral (
        select * from decision_states s
        where s.workspace_id = $1 and s.decision_id = h.decision_id limit 1) as s
      where s.counted_in is not null`,
    values: [workspace_id],
  });
  return result.rows;
}

/** An expired hold's position in the order of expiry. */
export interface DueHold {
  workspace_id: string;
  agent_id: string;
  expires_at: string;
  decision_id: string;
}

/**
 * Returns at most `limit` expired holds of all workspaces, oldest first, after `after` (null: from the oldest on).
 * Reads only these rows, however many holds are live.
 */
export async function listDueHolds(
  db: Queryable,
  after: Pick<DueHold, 'expires_at' | 'decision_id'> | null,
  limit: number,
): Promise<DueHold[]> {
  return findEverywhere<DueHold>(db, {
    name: 'list_due_holds',
    text: `select h.workspace_id, h.agent_id, h.expires_at, h.decision_id from expiring_holds h
      where h.decision_id <> '' and h.expires_at <= (select clock_timestamp()) and (h.expires_at, h.decision_id) > ($1, $2)
        and not exists (select 1 from sample_clocks c where c.workspace_id = h.workspace_id)
      order by h.expires_at, h.decision_id limit $3`,
    values: [after?.expires_at ?? '-infinity', after?.decision_id ?? '', limit],
    limit,
    order: (a, b) => (`${a.expires_at} ${a.decision_id}` < `${b.expires_at} ${b.decision_id}` ? -1 : 1),
    read: (hold) => ({ ...hold, expires_at: new Date(hold.expires_at).toISOString() }),
  });
}

/** A hold that expires by itself. */
export type ExpiringHold = Pick<DecisionState, 'agent_id' | 'decision_id' | 'period'> & {
  expires_at: string;
};

export const insertExpiringHolds = makeInsert<ExpiringHold>('expiring_holds', {
  agent_id: 'text',
  expires_at: 'timestamptz',
  decision_id: 'text',
  period: 'text',
});

/** Deletes holds that were settled or have expired from the list of those that will expire. */
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

/** Returns those of these holds that are on the list of holds that will expire. */
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

/** Inserts the records of expired holds. */
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

/** Returns the records of expired holds with these reservation ids. */
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

/** Counts the reviews that wait for a person now, up to `max`. Reads nothing but an index of them. */
export async function countPendingReviews(db: Queryable, workspace_id: string, max: number): Promise<number> {
  const result = await db.query<{ count: number }>({
    name: 'count_pending_reviews',
    text: `select count(*) as count from (
        select from decision_states s where s.workspace_id = $1 and s.review_state = 'PENDING'
          and coalesce(s.expires_at, '9999-12-31 00:00:00+00'::timestamptz) > (select clock_timestamp())
        limit $2) as pending`,
    values: [workspace_id, max],
  });
  return result.rows[0]?.count ?? 0;
}
