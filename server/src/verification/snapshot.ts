import type pg from 'pg';
import { type Client, cut } from '../storage/database.ts';

/** A connection that has answered nothing for this long is given up; a statement may take a minute. */
const SILENCE_MS = 70_000;

/** Every look-up is of another key: remembering them costs four times the look-up (measured). */
const LOOK_UPS_DIFFER = 'set local enable_memoize = off';

/** One moment of the database, read on a connection of its own, without holding up any writer. */
interface Snapshot {
  client: Client;
  /** To be called with every page: a connection that falls silent is cut. */
  alive(): void;
  /** Gives the connection back; after a failure it is closed. */
  close(failure?: Error): Promise<void>;
}

/**
 * Opens a snapshot. `pool` is one with `pipeline`: the next page is on its way while one is worked on. `moment` is the
 * one that another snapshot exported; else it is now.
 */
async function openSnapshot(pool: pg.Pool, moment?: string): Promise<Snapshot> {
  const client = await pool.connect();
  const silence = setTimeout(() => cut(client, new Error('the database connection fell silent')), SILENCE_MS);
  const release = (failure?: Error) => {
    clearTimeout(silence);
    client.release(failure);
  };
  try {
    await client.query('begin isolation level repeatable read read only');
    if (moment !== undefined) {
      await client.query(`set transaction snapshot ${client.escapeLiteral(moment)}`);
    }
    await client.query(LOOK_UPS_DIFFER);
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

/** Whether a second connection would leave half of the pool to others. */
function hasToSpare(pool: pg.Pool): boolean {
  const in_use = pool.totalCount - pool.idleCount;
  return pool.waitingCount === 0 && in_use < (pool.options.max ?? 1) / 2;
}

/**
 * A second connection to the same moment, where the pool can spare one, so that the database can use two of its
 * cores. Null where there is none to be had. Asked before anything else is read of `first`.
 */
async function openBeside(pool: pg.Pool, first: Snapshot): Promise<Snapshot | null> {
  if (!hasToSpare(pool)) return null;
  try {
    const exported = await first.client.query<{ moment: string }>('select pg_export_snapshot() as moment');
    return await openSnapshot(pool, exported.rows[0]?.moment);
  } catch {
    // One connection is enough; whatever is wrong with it, the statements to come will tell.
    await first.client.query('rollback and chain');
    await first.client.query(LOOK_UPS_DIFFER);
    return null;
  }
}

/** What keeps the connections of a snapshot in order. */
export interface SnapshotCare {
  /** To be called with every page: a connection that falls silent is cut. */
  alive(): void;
  /** Gives the second connection back before the end, where there is one. */
  closeBeside(): Promise<void>;
}

/**
 * Reads one snapshot, on one connection or, where the pool can spare it, on two. The first is always there. Once
 * `read` has ended nothing may be under way on any of them.
 */
export async function withinSnapshot<T>(
  pool: pg.Pool,
  read: (clients: readonly [Client, ...Client[]], care: SnapshotCare) => Promise<T>,
): Promise<T> {
  const first = await openSnapshot(pool);
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
