import type { DecisionRow, DecisionState, EarlierDecision } from '../domain/decisions.ts';
import { firstIdAt } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import { makeInsert } from './rows.ts';

const STATE_COLUMNS = `s.decision_id, s.agent_id, s.reservation_id, s.reservation_status, s.period, s.currency,
  s.held_minor, s.expires_at, s.review_state, s.labeled, s.outcome_state, s.verified`;

export const insertDecisions = makeInsert<DecisionRow>('decisions', {
  decision_id: 'text',
  agent_id: 'text',
  idempotency_key: 'text',
  request_hash: 'bytea',
  decision: 'text',
  mode: 'text',
  reason_codes: 'text[]',
  merchant: 'text',
  requested_amount_minor: 'bigint',
  currency: 'text',
  created_at: 'timestamptz',
  document: 'text',
});

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
    held_minor: 'bigint',
    expires_at: 'timestamptz',
    review_state: 'text',
    labeled: 'boolean',
    outcome_state: 'text',
    verified: 'boolean',
  },
  {
    conflict: ['decision_id'],
    update: [
      'reservation_status',
      'held_minor',
      'expires_at',
      'review_state',
      'labeled',
      'outcome_state',
      'verified',
    ],
  },
);

/** What these agents' idempotency keys were used for; unused ones are left out. */
export async function loadEarlierDecisions(
  db: Queryable,
  workspace_id: string,
  keys: readonly { agent_id: string; idempotency_key: string }[],
): Promise<EarlierDecision[]> {
  const result = await db.query<EarlierDecision & { workspace_id: string }>({
    name: 'load_earlier_decisions',
    text: `select d.agent_id, d.idempotency_key, d.request_hash, d.document
      from (select distinct * from unnest($2::text[], $3::text[])) as w(agent_id, idempotency_key)
      join decisions d on d.workspace_id = $1 and d.agent_id = w.agent_id and d.idempotency_key = w.idempotency_key`,
    values: [workspace_id, keys.map((key) => key.agent_id), keys.map((key) => key.idempotency_key)],
  });
  return result.rows;
}

/** How many holds one batch lets run out at the most; the next batch or sweep takes the rest. */
const RUN_OUT_AT_ONCE = 500;

/** Holds of these agents that have run out but were not let go yet, oldest first. */
export async function loadRunOutHolds(
  db: Queryable,
  workspace_id: string,
  agent_ids: readonly string[],
): Promise<DecisionState[]> {
  const result = await db.query<DecisionState & { workspace_id: string }>({
    name: 'load_run_out_holds',
    text: `select ${STATE_COLUMNS} from decision_states s where s.workspace_id = $1 and s.agent_id = any($2)
      and s.reservation_status = 'HELD' and s.expires_at <= clock_timestamp()
      order by s.expires_at limit ${RUN_OUT_AT_ONCE}`,
    values: [workspace_id, agent_ids],
  });
  return result.rows;
}

/** Agents, of any workspace, with holds that have run out; at most `limit`. */
export async function findAgentsWithRunOutHolds(
  db: Queryable,
  limit: number,
): Promise<{ workspace_id: string; agent_id: string }[]> {
  const result = await db.query<{ workspace_id: string; agent_id: string }>({
    name: 'find_agents_with_run_out_holds',
    text: `select distinct workspace_id, agent_id from decision_states
      where reservation_status = 'HELD' and expires_at is not null and expires_at <= clock_timestamp() limit $1`,
    values: [limit],
  });
  return result.rows;
}

/** A decision with its state, as `GET` reads it. */
export interface KeptDecision extends DecisionState {
  document: string;
}

/** What a list may be narrowed by; what is left out does not narrow. Amounts are minor units, times ISO UTC. */
export interface DecisionFilters {
  agent_id?: string;
  decision?: string;
  mode?: string;
  reason?: string;
  /** A part of the merchant, in any case. */
  q?: string;
  min_amount?: number;
  max_amount?: number;
  reviewed?: boolean;
  labeled?: boolean;
  /** Inclusive. */
  from?: string;
  /** Exclusive. */
  to?: string;
}

const SELECT_KEPT = `select ${STATE_COLUMNS}, d.document from decisions d
  join decision_states s on s.workspace_id = $1 and s.decision_id = d.decision_id`;

/** One decision; of the agent alone where `agent_id` is given. */
export async function getDecision(
  db: Queryable,
  workspace_id: string,
  decision_id: string,
  agent_id: string | null,
): Promise<KeptDecision | undefined> {
  const result = await db.query<KeptDecision & { workspace_id: string }>({
    name: 'get_decision',
    text: `${SELECT_KEPT} where d.workspace_id = $1 and d.decision_id = $2 and ($3::text is null or d.agent_id = $3)`,
    values: [workspace_id, decision_id, agent_id],
  });
  return result.rows[0];
}

/**
 * A page of decisions in the order of their ids, which is the order of their making. `after`: the last id of
 * the page before.
 */
export async function listDecisions(
  db: Queryable,
  workspace_id: string,
  filters: DecisionFilters,
  page: { order: 'asc' | 'desc'; after: string | null; limit: number },
): Promise<KeptDecision[]> {
  const values: unknown[] = [workspace_id];
  const conditions = ['d.workspace_id = $1'];
  const narrow = (condition: (parameter: string) => string, value: unknown) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  narrow((p) => `d.agent_id = ${p}`, filters.agent_id);
  narrow((p) => `d.decision = ${p}`, filters.decision);
  narrow((p) => `d.mode = ${p}`, filters.mode);
  narrow((p) => `${p} = any(d.reason_codes)`, filters.reason);
  narrow((p) => `d.merchant ilike ${p}`, filters.q === undefined ? undefined : `%${escapeLike(filters.q)}%`);
  narrow((p) => `d.requested_amount_minor >= ${p}`, filters.min_amount);
  narrow((p) => `d.requested_amount_minor <= ${p}`, filters.max_amount);
  narrow(
    (p) => `(s.review_state is not null and s.review_state in ('ALLOWED', 'DENIED')) = ${p}`,
    filters.reviewed,
  );
  narrow((p) => `s.labeled = ${p}`, filters.labeled);
  // Ids begin with the time of their making, so a span of time is a range of the primary key.
  narrow((p) => `d.decision_id >= ${p}`, filters.from && firstIdAt('decision', Date.parse(filters.from)));
  narrow((p) => `d.decision_id < ${p}`, filters.to && firstIdAt('decision', Date.parse(filters.to)));
  narrow((p) => `d.decision_id ${page.order === 'asc' ? '>' : '<'} ${p}`, page.after ?? undefined);
  values.push(page.limit);
  const result = await db.query<KeptDecision & { workspace_id: string }>({
    text: `${SELECT_KEPT} where ${conditions.join(' and ')} order by d.decision_id ${page.order} limit $${values.length}`,
    values,
  });
  return result.rows;
}

/** The decisions of these ids as they were made. */
export async function loadDecisionRows(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<DecisionRow[]> {
  const result = await db.query<DecisionRow & { workspace_id: string }>({
    name: 'load_decision_rows',
    text: `select decision_id, agent_id, idempotency_key, request_hash, decision, mode, reason_codes, merchant,
        requested_amount_minor, currency, created_at, document
      from decisions where workspace_id = $1 and decision_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/** The states of these decisions. */
export async function loadDecisionStates(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<DecisionState[]> {
  const result = await db.query<DecisionState & { workspace_id: string }>({
    name: 'load_decision_states',
    text: `select ${STATE_COLUMNS} from decision_states s where s.workspace_id = $1 and s.decision_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (character) => `\\${character}`);
}
