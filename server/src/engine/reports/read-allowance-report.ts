import { firstIdAt } from '@purser/rules/values/ids';
import { summedAmount } from '@purser/rules/values/money';
import { STATUS_NOW } from '../allowances/find-allowances.ts';
import type { Queryable } from '../storage/database.ts';
import { heldAmountOf } from '../storage/decisions.ts';

/** The decisions and open allowances of one value of a label, in one currency. Sums are capped at 2^53-1. */
export interface LabelSums {
  value: string;
  currency: string;
  spends: number;
  denied: number;
  reviews: number;
  held_minor: number;
  committed_minor: number;
  amount_cut?: true;
  open: number;
}

/**
 * Sums the decisions made from `from` up to, but not including, `to` (ISO UTC) under allowances with this label, each once,
 * with their money as of now: a hold that has expired counts no longer, whether its expiry was recorded or not. Most
 * money first, at most `limit` rows. One statement, so one moment.
 */
export async function sumByLabel(
  db: Queryable,
  workspace_id: string,
  asked: { key: string; agent_id: string | null; from: string; to: string; limit: number },
): Promise<LabelSums[]> {
  type Row = Omit<LabelSums, 'held_minor' | 'committed_minor'> & {
    held_minor: string;
    committed_minor: string;
  };
  // The laterals fix the plan: each decision is looked up by its key, then its state by its own. One without a state is as
  // its document says.
  const result = await db.query<Row & { workspace_id: string }>({
    name: 'sum_by_label',
    text: `with uses as (
        select distinct l.value, k.decision_id from allowance_labels l
        join allowance_decisions k on k.workspace_id = $1 and k.allowance_id = l.allowance_id
          and k.decision_id >= $4 and k.decision_id < $5
        where l.workspace_id = $1 and l.key = $2),
      spent as (
        select u.value, d.currency, count(*) as spends, count(*) filter (where d.decision = 'DENY') as denied,
          count(*) filter (where d.decision = 'REVIEW') as reviews,
          coalesce(sum(case when s.decision_id is null then d.held
            when s.reservation_status = 'HELD' and (s.expires_at is null or s.expires_at > (select clock_timestamp()))
            then s.amount_minor end), 0) as held_minor,
          coalesce(sum(s.amount_minor) filter (where s.reservation_status = 'COMMITTED'), 0) as committed_minor
        from uses u
        cross join lateral (
          select agent_id, decision, currency, ${heldAmountOf('document')} as held from decisions d
          where d.workspace_id = $1 and d.decision_id = u.decision_id limit 1) as d
        left join lateral (
          select * from decision_states s
          where s.workspace_id = $1 and s.decision_id = u.decision_id limit 1) as s on true
        where $3::text is null or d.agent_id = $3
        group by u.value, d.currency),
      opened as (
        select l.value, a.currency, count(*) as open from allowance_labels l
        join allowances a on a.workspace_id = $1 and a.allowance_id = l.allowance_id
        where l.workspace_id = $1 and l.key = $2 and ($3::text is null or a.agent_id = $3) and ${STATUS_NOW} = 'OPEN'
        group by l.value, a.currency)
      select value, currency, coalesce(spends, 0)::bigint as spends, coalesce(denied, 0)::bigint as denied,
        coalesce(reviews, 0)::bigint as reviews, coalesce(held_minor, 0)::text as held_minor,
        coalesce(committed_minor, 0)::text as committed_minor, coalesce(open, 0)::bigint as open
      from spent full join opened using (value, currency)
      order by coalesce(spent.held_minor, 0) + coalesce(spent.committed_minor, 0) desc, value collate "C", currency collate "C"
      limit $6`,
    values: [
      workspace_id,
      asked.key,
      asked.agent_id,
      firstIdAt('decision', Date.parse(asked.from)),
      firstIdAt('decision', Date.parse(asked.to)),
      asked.limit,
    ],
  });
  return result.rows.map(({ held_minor, committed_minor, open, ...row }) => {
    const held = summedAmount(BigInt(held_minor));
    const committed = summedAmount(BigInt(committed_minor));
    return {
      ...row,
      held_minor: held.amount_minor,
      committed_minor: committed.amount_minor,
      ...(held.amount_cut || committed.amount_cut ? { amount_cut: true as const } : {}),
      open,
    };
  });
}
