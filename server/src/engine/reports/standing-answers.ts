import type { ReportBody } from '@purser/contract/reports';
import { MAX_STANDING_APPROVALS } from '@purser/contract/values/reports';
import type { Agent } from '@purser/rules/domain/agents';
import { firstIdAt } from '@purser/rules/values/ids';
import { summedAmount } from '@purser/rules/values/money';
import type { Static } from 'typebox';
import type { Queryable } from '../storage/database.ts';

/** The standing approvals of a report. */
export type ReportedStanding = Static<typeof ReportBody>['by_standing_approval'];

interface AnsweredRow {
  allowance_id: string;
  name: string | null;
  agent_id: string;
  currency: string;
  count: number;
  amount_minor: string;
}

/**
 * The standing approvals that answered a review ahead in SHADOW, with what they answered of the decisions made from `from` up
 * to, but not including, `to` (ISO UTC): most decisions first, at most `MAX_STANDING_APPROVALS`. A spend that names the
 * allowance itself does not count.
 */
export async function countStandingAnswers(
  db: Queryable,
  workspace_id: string,
  { agent_id, from, to }: { agent_id: string | null; from: string; to: string },
  agents: ReadonlyMap<string, Agent>,
): Promise<ReportedStanding> {
  // The lateral fixes the plan: each decision is looked up by its key. Texts in a document have their quotation marks escaped,
  // so that nobody's words read as the field.
  const result = await db.query<AnsweredRow & { workspace_id: string }>({
    name: 'count_standing_answers',
    text: `select a.allowance_id, a.name, a.agent_id, d.currency, count(*) as count,
        sum(d.requested_amount_minor)::text as amount_minor
      from allowances a
      join allowance_decisions k on k.workspace_id = $1 and k.allowance_id = a.allowance_id
        and k.decision_id >= $2 and k.decision_id < $3
      cross join lateral (
        select currency, requested_amount_minor from decisions d
        where d.workspace_id = $1 and d.decision_id = k.decision_id and d.mode = 'SHADOW'
          and strpos(d.document, ',"standing_approval":{"id":"' || a.allowance_id || '"') > 0 limit 1) as d
      where a.workspace_id = $1 and a.automatic and ($4::text is null or a.agent_id = $4)
      group by a.allowance_id, a.name, a.agent_id, d.currency
      order by count(*) desc, a.allowance_id limit ${MAX_STANDING_APPROVALS}`,
    values: [
      workspace_id,
      firstIdAt('decision', Date.parse(from)),
      firstIdAt('decision', Date.parse(to)),
      agent_id,
    ],
  });
  return result.rows.flatMap((row) => {
    const agent = agents.get(row.agent_id);
    if (agent === undefined) return [];
    const { allowance_id: id, name, currency, count } = row;
    const amount = { currency, count, ...summedAmount(BigInt(row.amount_minor)) };
    return [
      { allowance: { id, name }, agent: { id: agent.agent_id, slug: agent.slug }, count, amounts: [amount] },
    ];
  });
}
