import type pg from 'pg';
import type { Client } from './database.ts';

/**
 * Does the work in one transaction of its own; `reading`: in one snapshot, without any write. What the work throws
 * undoes it, and the connection is not used again.
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
