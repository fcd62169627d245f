import type { Queryable } from '../storage/database.ts';

/** Returns the node, `host:port`, on which each workspace of a distributed database lies. */
export async function listPlaces(db: Queryable): Promise<Map<string, string>> {
  const found = await db.query<{ workspace_id: string; node: string }>({
    text: `select h.workspace_id, s.nodename || ':' || s.nodeport as node
      from (select workspace_id from ledger_heads) h
      join citus_shards s on s.shardid = get_shard_id_for_distribution_column('ledger_heads', h.workspace_id)`,
  });
  return new Map(found.rows.map(({ workspace_id, node }) => [workspace_id, node]));
}
