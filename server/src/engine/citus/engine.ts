import type pg from 'pg';

/** The store of the data: one PostgreSQL, or Citus, whose workers hold the workspaces. */
export type EngineKind = 'postgres' | 'citus';

/** The engine as the connections of a process found it last. */
export interface Engine {
  kind: EngineKind;
  /** `host:port` of each worker that did not answer when it was asked last. */
  lost?: readonly string[];
}

const engines = new WeakMap<object, Engine>();

/** Notes which engine the connections of a pool find. */
export function noteEngine(pool: object, engine: Engine): void {
  engines.set(pool, engine);
}

/** Returns the engine behind a pool, as its newest connection found it. */
export const engineOf = (pool: object): EngineKind => engines.get(pool)?.kind ?? 'postgres';

/** Returns `host:port` of each worker behind a pool that did not answer when it was asked last. */
export const lostNodesOf = (pool: object): readonly string[] => engines.get(pool)?.lost ?? [];

/** SQL that is true where the Citus extension is installed, used or not. */
export const HAS_CITUS = "to_regclass('pg_catalog.pg_dist_partition') is not null";

/** Sends statements: a connection or a pool. */
export type Asking = Pick<pg.ClientBase, 'query'>;

/** Returns whether the tables were distributed; the database must have the extension. */
export async function isDistributed(db: Asking): Promise<boolean> {
  const found = await db.query<{ is_distributed: boolean }>({
    text: `select exists (select from pg_dist_partition
      where logicalrelid = to_regclass('public.ledger_heads') and partmethod = 'h') as is_distributed`,
  });
  return found.rows[0]?.is_distributed === true;
}

/** Returns the engine of a database: one with the extension whose tables were not distributed works as without it. */
export async function findEngine(db: Asking): Promise<EngineKind> {
  const found = await db.query<{ has_citus: boolean }>({ text: `select ${HAS_CITUS} as has_citus` });
  return found.rows[0]?.has_citus === true && (await isDistributed(db)) ? 'citus' : 'postgres';
}

/** A worker that holds workspaces. */
export interface Worker {
  host: string;
  port: number;
  /** `host:port` */
  node: string;
}

/** Returns the workers that hold workspaces, in the order in which they were added. */
export async function listWorkers(db: Asking): Promise<Worker[]> {
  const found = await db.query<Worker>({
    name: 'list_workers',
    text: `select nodename as host, nodeport as port, nodename || ':' || nodeport as node from pg_dist_node
      where groupid <> 0 and noderole = 'primary' and shouldhaveshards order by nodeid`,
  });
  return found.rows;
}
