import type pg from 'pg';

/** The store of the data: one PostgreSQL, or Citus, whose workers hold the workspaces. */
export type EngineKind = 'postgres' | 'citus';

/** The engine as the connections of a process found it last. */
export interface Engine {
  kind: EngineKind;
}

const engines = new WeakMap<object, Engine>();

/** Notes which engine the connections of a pool find. */
export function noteEngine(pool: object, engine: Engine): void {
  engines.set(pool, engine);
}

/** Returns the engine behind a pool, as its newest connection found it. */
export const engineOf = (pool: object): EngineKind => engines.get(pool)?.kind ?? 'postgres';

/** SQL that is true where the Citus extension is installed, used or not. */
export const HAS_CITUS = "to_regclass('pg_catalog.pg_dist_partition') is not null";

/** Returns the engine of a database that has the extension: one whose tables were not distributed works as before. */
export async function findEngine(client: Pick<pg.ClientBase, 'query'>): Promise<EngineKind> {
  const found = await client.query<{ is_distributed: boolean }>({
    text: `select exists (select from pg_dist_partition
      where logicalrelid = to_regclass('public.ledger_heads') and partmethod = 'h') as is_distributed`,
  });
  return found.rows[0]?.is_distributed === true ? 'citus' : 'postgres';
}
