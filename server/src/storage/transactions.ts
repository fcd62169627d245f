import type pg from 'pg';
import type { Client, Queryable } from './database.ts';

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
