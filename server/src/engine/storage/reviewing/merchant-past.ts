import type { MerchantPast } from '@purser/contract/reviews/sheet';
import { MAX_MERCHANT_PAST, MERCHANT_PAST_DAYS } from '@purser/contract/reviews/sheet';
import { firstIdAt } from '@purser/rules/values/ids';
import type { Queryable } from '../database.ts';

type PastRow = { [Name in keyof MerchantPast as `${'agent' | 'all'}_${Name}`]: MerchantPast[Name] };

const DAY_MS = 86_400_000;

const pastColumns = (prefix: string, filter: string) => `
  count(*) ${filter} as ${prefix}_decisions,
  count(*) ${filter.replace(/\)$/, ` and effective = 'ALLOW')`)} as ${prefix}_allowed,
  count(*) ${filter.replace(/\)$/, ` and effective = 'DENY')`)} as ${prefix}_denied,
  count(*) ${filter.replace(/\)$/, ` and is_executed)`)} as ${prefix}_executed,
  min(created_at) ${filter} as ${prefix}_first_at, max(created_at) ${filter} as ${prefix}_last_at`;

/**
 * Returns what was decided about a merchant, by its name as it is written, in the days before a decision and up to it: of the
 * agent, and of all agents. Only the newest `MAX_MERCHANT_PAST` decisions are counted. A spend of SHADOW counts by what was
 * decided and reviewed, as in ENFORCE.
 */
export async function readMerchantPast(
  db: Queryable,
  workspace_id: string,
  of: { decision_id: string; agent_id: string; merchant: string; created_at: string },
): Promise<{ with_agent: MerchantPast; in_workspace: MerchantPast }> {
  const since = firstIdAt('decision', Date.parse(of.created_at) - MERCHANT_PAST_DAYS * DAY_MS);
  const result = await db.query<PastRow>({
    name: 'read_merchant_past',
    // The laterals fix the plan: each decision's state is looked up by its key.
    text: `select ${pastColumns('agent', `filter (where agent_id = $5)`)}, ${pastColumns('all', 'filter (where true)')}
      from (
        select d.agent_id, d.created_at,
          case s.review_state when 'ALLOWED' then 'ALLOW' when 'DENIED' then 'DENY' else d.decision end as effective,
          coalesce(s.outcome_state in ('EXECUTED', 'PARTIALLY_REFUNDED', 'REFUNDED'), false) as is_executed
        from (
          select decision_id, agent_id, decision, created_at from decisions
          where workspace_id = $1 and merchant = $2 and merchant <> '' and decision_id < $3 and decision_id >= $4
          order by decision_id desc limit ${MAX_MERCHANT_PAST}) as d
        left join lateral (
          select review_state, outcome_state from decision_states s
          where s.workspace_id = $1 and s.decision_id = d.decision_id limit 1) as s on true) as past`,
    values: [workspace_id, of.merchant, of.decision_id, since, of.agent_id],
  });
  const row = result.rows[0] as PastRow;
  const past = (prefix: 'agent' | 'all'): MerchantPast => ({
    decisions: row[`${prefix}_decisions`],
    allowed: row[`${prefix}_allowed`],
    denied: row[`${prefix}_denied`],
    executed: row[`${prefix}_executed`],
    first_at: row[`${prefix}_first_at`],
    last_at: row[`${prefix}_last_at`],
  });
  return { with_agent: past('agent'), in_workspace: past('all') };
}
