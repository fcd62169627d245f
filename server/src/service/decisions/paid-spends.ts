import { actionIn } from '@purser/rules/domain/decision-document';
import type { OutcomeState } from '@purser/rules/domain/decisions';
import type { PaidSpend } from '@purser/rules/domain/spend-facts';
import { merchantKey, payeeKey } from '@purser/rules/merchants/keys';
import { pushTo } from '@purser/rules/values/maps';
import type { Queryable } from '../../engine/storage/database.ts';
import { actionOf } from '../../engine/storage/decisions.ts';
import { msOf } from '../../engine/storage/rows.ts';

/** How far back an agent's own spends are compared. */
const DAYS = 14;
/** The newest of them that are compared. */
const MAX_PAID = 100;

/** An agent's own spends of the last days that moved or returned money, by `merchantKey` and `payeeKey`. */
export interface PaidSpends {
  by_merchant: ReadonlyMap<string, readonly PaidSpend[]>;
  by_payee: ReadonlyMap<string, readonly PaidSpend[]>;
  /** RFC 3339; null where there are none. */
  as_of: string | null;
}

/** No spends. */
export const NOTHING_PAID: PaidSpends = { by_merchant: new Map(), by_payee: new Map(), as_of: null };

const STATES: Partial<Record<OutcomeState, PaidSpend['state']>> = {
  EXECUTED: 'EXECUTED',
  PARTIALLY_REFUNDED: 'EXECUTED',
  REFUNDED: 'REFUNDED',
};

interface PaidRow {
  agent_id: string;
  decision_id: string;
  merchant: string;
  amount_minor: number;
  currency: string;
  created_at: string;
  outcome_state: OutcomeState;
  clock_ms: number;
  action_part: string;
}

/**
 * Reads agents' spends of the last `DAYS` that were executed, whoever said so, by agent; one that has paid nothing is left
 * out, and costs one look into an index. What is compared with them can only lower an assessment. Of more than `MAX_PAID`
 * of an agent, the older ones are left out.
 */
export async function loadPaidSpends(
  db: Queryable,
  agents: readonly { workspace_id: string; agent_id: string }[],
): Promise<Map<string, PaidSpends>> {
  const result = await db.query<PaidRow>({
    name: 'load_paid_spends',
    text: `select w.agent_id, d.decision_id, d.merchant, d.requested_amount_minor as amount_minor, d.currency, d.created_at,
        s.outcome_state, ${msOf('statement_timestamp()')} as clock_ms,
        ${actionOf('d.document')} as action_part
      from unnest($1::text[], $2::text[]) as w(workspace_id, agent_id)
      cross join lateral (
        select decision_id, outcome_state from decision_states
          where workspace_id = w.workspace_id and agent_id = w.agent_id
          and outcome_state in ('EXECUTED', 'PARTIALLY_REFUNDED', 'REFUNDED')
          order by decision_id desc limit ${MAX_PAID}) as s
      cross join lateral (
        select * from decisions d where d.workspace_id = w.workspace_id and d.decision_id = s.decision_id limit 1) as d
      where d.created_at > clock_timestamp() - interval '${DAYS} days'
      order by d.decision_id desc`,
    values: [agents.map((one) => one.workspace_id), agents.map((one) => one.agent_id)],
  });
  const rows = new Map<string, PaidRow[]>();
  for (const row of result.rows) pushTo(rows, row.agent_id, row);
  const as_of_ms = result.rows[0]?.clock_ms ?? 0;
  return new Map([...rows].map(([agent_id, of_agent]) => [agent_id, spendsFromRows(of_agent, as_of_ms)]));
}

function spendsFromRows(rows: readonly PaidRow[], as_of_ms: number): PaidSpends {
  const by_merchant = new Map<string, PaidSpend[]>();
  const by_payee = new Map<string, PaidSpend[]>();
  for (const { created_at: at, outcome_state, action_part, ...row } of rows) {
    const { payee_id = null, type = '', description = '' } = actionIn(action_part);
    const { decision_id, merchant, amount_minor, currency } = row;
    const state = STATES[outcome_state] ?? 'EXECUTED';
    const spend = { decision_id, merchant, payee_id, amount_minor, currency, at, state, type, description };
    pushTo(by_merchant, merchantKey(merchant), spend);
    if (payee_id !== null) pushTo(by_payee, payeeKey(payee_id), spend);
  }
  return { by_merchant, by_payee, as_of: new Date(as_of_ms).toISOString() };
}

/** The spends with the same merchant or payee, however either is written, newest first. */
export function paidTo(
  { by_merchant, by_payee }: PaidSpends,
  { merchant, payee_id }: { merchant: string; payee_id?: string | undefined },
): readonly PaidSpend[] {
  if (by_merchant.size === 0) return [];
  const there = by_merchant.get(merchantKey(merchant)) ?? [];
  const to = payee_id === undefined ? [] : (by_payee.get(payeeKey(payee_id)) ?? []);
  const others = to.filter((one) => !there.includes(one));
  if (others.length === 0) return there;
  return [...there, ...others].sort((a, b) => (a.decision_id < b.decision_id ? 1 : -1));
}
