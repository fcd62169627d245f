import pg from 'pg';
import { engineOf } from '../citus/engine.ts';
import { type Client, cut } from '../storage/database.ts';

/** A connection that has been silent for this long is closed; a statement may take a minute. */
const SILENCE_MS = 70_000;

/** Every look-up has a different key, so memoizing them costs four times the look-up (measured). */
const DISABLE_MEMOIZE = 'set local enable_memoize = off';

/** A snapshot of the database on its own connection, which blocks no writer. */
interface Snapshot {
  client: Client;
  /** Must be called with every page: a silent connection is closed. */
  alive(): void;
  /** Releases the connection; after a failure it is closed. */
  close(failure?: Error): Promise<void>;
}

/**
 * Opens a snapshot. `pool` must be made with `pipeline`, so that the next page is loaded while one is worked on. `moment`
 * is the id of a snapshot that another connection exported; without it the snapshot is of now.
 */
async function openSnapshot(pool: pg.Pool, moment?: string): Promise<Snapshot> {
  const client = await pool.connect();
  const silence = setTimeout(
    () => cut(client, new Error('the database connection stopped responding')),
    SILENCE_MS,
  );
  const release = (failure?: Error) => {
    clearTimeout(silence);
    client.release(failure);
  };
  try {
    await client.query('begin isolation level repeatable read read only');
    if (moment !== undefined) {
      await client.query(`set transaction snapshot ${client.escapeLiteral(moment)}`);
    }
    await client.query(DISABLE_MEMOIZE);
  } catch (error) {
    release(error as Error);
    throw error;
  }
  return {
    client,
    alive: () => silence.refresh(),
    async close(failure) {
      let broken = failure;
      if (failure === undefined) {
        await client.query('rollback').catch((error: Error) => {
          broken = error;
        });
      }
      release(broken);
    },
  };
}

/** Returns whether a second connection would leave half of the pool to others. */
function hasToSpare(pool: pg.Pool): boolean {
  const in_use = pool.totalCount - pool.idleCount;
  return pool.waitingCount === 0 && in_use < (pool.options.max ?? 1) / 2;
}

/**
 * Opens the same snapshot on a second connection, so that the database can use two cores. Returns null if the pool cannot
 * spare one. Must be called before anything else is read from `first`.
 */
async function openBeside(pool: pg.Pool, first: Snapshot): Promise<Snapshot | null> {
  // A snapshot that is exported on Citus is that of the coordinator alone.
  if (engineOf(pool) === 'citus' || !hasToSpare(pool)) return null;
  try {
    const exported = await first.client.query<{ moment: string }>('select pg_export_snapshot() as moment');
    return await openSnapshot(pool, exported.rows[0]?.moment);
  } catch {
    // The first connection is enough. If it is broken too, the next statement fails.
    await first.client.query('rollback and chain');
    await first.client.query(DISABLE_MEMOIZE);
    return null;
  }
}

/** How long a batch may keep the head from us. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Takes the snapshots of the coordinator and of the workspace's worker while no batch of the workspace can commit between
 * the two, so that people and keys, which lie on the one, agree with the history, which lies on the other. The connection
 * that holds the batches off is not of the pool: readers that have all of its connections would wait there for each other.
 */
async function takeBoth(pool: pg.Pool, snapshot: Snapshot, workspace_id: string): Promise<void> {
  const holder = new pg.Client({ ...pool.options, statement_timeout: LOCK_TIMEOUT_MS });
  // One that breaks fails its statement too.
  holder.on('error', () => {});
  const head = (lock: string) => ({
    text: `select seq from ledger_heads where workspace_id = $1 ${lock}`,
    values: [workspace_id],
  });
  try {
    await holder.connect();
    await holder.query('begin');
    await holder.query(head('for update'));
    await snapshot.client.query(head(''));
    await holder.query('rollback');
  } catch (error) {
    await snapshot.close(error as Error);
    throw error;
  } finally {
    await holder.end();
  }
}

/** Functions that the reader of a snapshot calls to keep or release its connections. */
export interface SnapshotCare {
  /** Must be called with every page: a silent connection is closed. */
  alive(): void;
  /** Releases the second connection early, if there is one. */
  closeBeside(): Promise<void>;
}

/**
 * Calls `read` with one snapshot, on one connection or, if the pool can spare another, on two. When `read` has ended no
 * statement may be running on either.
 */
export async function withinSnapshot<T>(
  pool: pg.Pool,
  workspace_id: string,
  read: (clients: readonly [Client, ...Client[]], care: SnapshotCare) => Promise<T>,
): Promise<T> {
  const first = await openSnapshot(pool);
  if (engineOf(pool) === 'citus') await takeBoth(pool, first, workspace_id);
  let second: Snapshot | null = null;
  let failure: Error | undefined;
  const closeBeside = async () => {
    const closing = second?.close(failure);
    second = null;
    await closing;
  };
  const alive = () => {
    first.alive();
    second?.alive();
  };
  try {
    second = await openBeside(pool, first);
    const clients: [Client, ...Client[]] = [first.client, ...(second === null ? [] : [second.client])];
    return await read(clients, { alive, closeBeside });
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    await Promise.all([first.close(failure), closeBeside()]);
  }
}
