import type pg from 'pg';
import type { Client } from './database.ts';

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
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(failure);
  }
}
