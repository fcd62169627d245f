import type pg from 'pg';
import type { Logger } from 'pino';
import { type Engine, type EngineKind, findEngine, HAS_CITUS } from '../citus/engine.ts';

/** A worker of Citus, as this process last found it. */
export interface WatchedNode {
  /** `host:port` */
  node: string;
  reachable: boolean;
}

export interface NodeWatch {
  /** Looks at the engine, and asks each worker for at most a second. */
  look(): Promise<void>;
  /** The workers that hold workspaces, as they were at the last look; none on plain PostgreSQL. */
  nodes(): readonly WatchedNode[];
}

interface NodeWatchOptions {
  db: pg.Pool;
  engine: Engine;
  log: Logger;
  /** Called when the tables have been distributed: connections that were opened before then work no longer. */
  onEngine: (kind: EngineKind) => void;
}

/** A node that does not answer within this time is lost. */
const ASK_MS = 1_000;

const WORKERS = `select nodename as host, nodeport as port from pg_dist_node
  where groupid <> 0 and noderole = 'primary' and shouldhaveshards order by nodeid`;

/** Returns whether the coordinator reaches a worker now. */
async function isReachable(db: pg.Pool, { host, port }: { host: string; port: number }): Promise<boolean> {
  const client = await db.connect();
  try {
    await client.query(`begin; set local statement_timeout = ${ASK_MS}`);
    const text = 'select citus_check_connection_to_node($1, $2) as is_up';
    const found = await client.query<{ is_up: boolean }>({ text, values: [host, port] });
    return found.rows[0]?.is_up === true;
  } catch {
    return false;
  } finally {
    await client.query('rollback').then(
      () => client.release(),
      (error: Error) => client.release(error),
    );
  }
}

/** Makes the watch over the nodes of a database. It logs one line when a node is lost, and one when it is back. */
export function makeNodeWatch({ db, engine, log, onEngine }: NodeWatchOptions): NodeWatch {
  let nodes: readonly WatchedNode[] = [];
  const note = (found: readonly WatchedNode[]) => {
    for (const { node, reachable } of found) {
      const before = nodes.find((each) => each.node === node)?.reachable ?? true;
      if (before && !reachable)
        log.error({ node }, 'a node of the database is lost; its workspaces are refused');
      if (!before && reachable) log.info({ node }, 'a node of the database is back');
    }
    nodes = found;
  };
  return {
    nodes: () => nodes,
    async look() {
      const installed = await db.query<{ has_citus: boolean }>({ text: `select ${HAS_CITUS} as has_citus` });
      const kind = installed.rows[0]?.has_citus === true ? await findEngine(db) : 'postgres';
      if (kind !== engine.kind) {
        engine.kind = kind;
        log.info({ engine: kind }, 'the engine of the database changed; connections are opened again');
        onEngine(kind);
      }
      if (kind === 'postgres') return note([]);
      const workers = await db.query<{ host: string; port: number }>({ name: 'list_workers', text: WORKERS });
      const found: WatchedNode[] = [];
      for (const { host, port } of workers.rows)
        found.push({ node: `${host}:${port}`, reachable: await isReachable(db, { host, port }) });
      note(found);
    },
  };
}
