import type pg from 'pg';
import type { Logger } from 'pino';
import { type Engine, type EngineKind, findEngine, listWorkers, type Worker } from '../citus/engine.ts';

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

/** Returns whether the coordinator reaches a worker now. */
async function isReachable(db: pg.Pool, { host, port }: Worker): Promise<boolean> {
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
  // Not `engine.kind`, which the first new connection after a change sets, while older ones are still open.
  let known: EngineKind | null = null;
  const note = (found: readonly WatchedNode[]) => {
    for (const { node, reachable } of found) {
      const before = nodes.find((each) => each.node === node)?.reachable ?? true;
      if (before && !reachable)
        log.error({ node }, 'a node of the database is lost; its workspaces are refused');
      if (!before && reachable) log.info({ node }, 'a node of the database is back');
    }
    nodes = found;
    engine.lost = found.flatMap(({ node, reachable }) => (reachable ? [] : node));
  };
  return {
    nodes: () => nodes,
    async look() {
      const kind = await findEngine(db);
      if (known !== null && kind !== known) {
        log.info({ engine: kind }, 'the engine of the database changed; connections are opened again');
        onEngine(kind);
      }
      known = kind;
      engine.kind = kind;
      if (kind === 'postgres') return note([]);
      const found: WatchedNode[] = [];
      for (const worker of await listWorkers(db))
        found.push({ node: worker.node, reachable: await isReachable(db, worker) });
      note(found);
    },
  };
}
