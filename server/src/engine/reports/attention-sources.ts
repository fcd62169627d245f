import type { Label } from '@purser/contract/records';
import type { ReviewState } from '@purser/rules/domain/decisions';
import { firstIdAt } from '@purser/rules/values/ids';
import type { Queryable } from '../storage/database.ts';

/** The newest decisions of a period that the levels of attention are compared by. */
const MAX_COMPARED = 1_000;
/** Agents among them. Those with fewer decisions are left out. */
const MAX_AGENTS = 20;

/** A decision of a period, with what people said of it. */
export interface SaidOf {
  decision_id: string;
  agent_id: string;
  review_state: ReviewState | null;
  label: Label['label'] | null;
}

/** Returns the newest decisions of a period in SHADOW, oldest first: at most `MAX_COMPARED`, of the busiest agents. */
export async function loadSaidOfShadow(
  db: Queryable,
  workspace_id: string,
  { agent_id, from, to }: { agent_id: string | null; from: string; to: string },
): Promise<SaidOf[]> {
  const result = await db.query<SaidOf>({
    name: 'load_said_of_shadow',
    text: `select d.decision_id, d.agent_id, s.review_state, l.label from (
        select decision_id, agent_id from decisions
        where workspace_id = $1 and mode = 'SHADOW' and decision_id >= $2 and decision_id < $3
          and ($4::text is null or agent_id = $4) order by decision_id desc limit ${MAX_COMPARED}) as d
      left join lateral (
        select * from decision_states s where s.workspace_id = $1 and s.decision_id = d.decision_id limit 1) as s on true
      left join lateral (
        select label from labels l where l.workspace_id = $1 and l.label_id = s.label_id limit 1) as l on true
      order by d.decision_id`,
    values: [
      workspace_id,
      firstIdAt('decision', Date.parse(from)),
      firstIdAt('decision', Date.parse(to)),
      agent_id,
    ],
  });
  const counts = new Map<string, number>();
  for (const row of result.rows) counts.set(row.agent_id, (counts.get(row.agent_id) ?? 0) + 1);
  const busiest = new Set(
    [...counts]
      .sort(([, a], [, b]) => b - a)
      .slice(0, MAX_AGENTS)
      .map(([id]) => id),
  );
  return result.rows.filter((row) => busiest.has(row.agent_id));
}
