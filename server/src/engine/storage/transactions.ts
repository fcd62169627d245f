import type pg from 'pg';
import { type Client, type Queryable, sqlState } from './database.ts';

/**
 * The same connection or pool, whose queries are sent one after another: what asks for several things at once works on a
 * single connection too, and takes no more than one of a pool. pg would queue the queries of a connection itself, but
 * warns that version 9 will refuse to.
 */
export function oneAtATime<C extends Queryable>(client: C): C {
  let last: Promise<unknown> = Promise.resolve();
  const query = (...args: unknown[]) => {
    const next = last.then(() => (client.query as (...all: unknown[]) => Promise<unknown>)(...args));
    last = next.catch(() => {});
    return next;
  };
  return Object.create(client, { query: { value: query } }) as C;
}

/**
 * Runs `work` in a transaction of its own; with `reading`, in a read-only snapshot. If `work` throws, the transaction is
 * rolled back, the connection is closed, and the error is rethrown.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  options: { reading: boolean },
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query(options.reading ? 'begin isolation level repeatable read read only' : 'begin');
    const result = await work(oneAtATime(client));
    await client.query('commit');
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(failure);
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Commits a transaction that takes new space on the database's disk, which a small write to existing tables may not need:
 * on a full disk it fails as the writes of customers do. It leaves nothing behind. Where the service's user may not create
 * temporary tables, it only writes to the write-ahead log.
 */
export async function probeWrite(db: Queryable): Promise<void> {
  try {
    await db.query({
      text: `create temporary table purser_write_probe on commit drop as
        select repeat('x', 1500) as filler from generate_series(1, 50)`,
    });
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    await db.query({ text: "select pg_logical_emit_message(true, 'purser', repeat('x', 8192))" });
  }
}
