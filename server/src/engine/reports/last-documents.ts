import type { Queryable } from '../storage/database.ts';

/**
 * Returns the last decision of each of these agents before each of `ends`, with its document; only decisions after `after`. All
 * three are positions in the order of ids. A look-up by key for each, however many decisions there are.
 */
export async function lastDocuments(
  db: Queryable,
  workspace_id: string,
  { agent_ids, after, ends }: { agent_ids: readonly string[]; after: string; ends: readonly string[] },
): Promise<{ end: string; document: string }[]> {
  const result = await db.query<{ workspace_id: string; end: string; document: string }>({
    name: 'load_last_documents',
    text: `with last as materialized (
        select distinct on (l.decision_id) e.id as end, l.decision_id
        from unnest($2::text[]) as a(agent_id) cross join unnest($3::text[]) as e(id)
        cross join lateral (
          select decision_id from decisions d where d.workspace_id = $1 and d.agent_id = a.agent_id and d.agent_id <> ''
            and d.decision_id >= $4 and d.decision_id < e.id order by d.decision_id desc limit 1) as l
        order by l.decision_id, e.id)
      select last.end, d.document from last cross join lateral (
        select document from decisions d where d.workspace_id = $1 and d.decision_id = last.decision_id limit 1) as d`,
    values: [workspace_id, agent_ids, ends, after],
  });
  return result.rows;
}
