import type pg from 'pg';
import { type Client, cut } from './database.ts';

/** A connection that has answered nothing for this long is given up; a statement may take a minute. */
const SILENCE_MS = 70_000;

/**
 * Reads one snapshot of the database, without holding up any writer, on a connection of its own. `pool` is one with
 * `pipeline`: the next page is on its way while one is worked on. `read` calls `alive` with every page; a connection
 * that falls silent is cut.
 */
export async function withinSnapshot<T>(
  pool: pg.Pool,
  read: (client: Client, alive: () => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  const silence = setTimeout(() => cut(client, new Error('the database connection fell silent')), SILENCE_MS);
  let failure: Error | undefined;
  try {
    await client.query('begin isolation level repeatable read read only');
    // Every look-up is of another key: remembering them costs four times the look-up (measured).
    await client.query('set local enable_memoize = off');
    const result = await read(client, () => silence.refresh());
    await client.query('commit');
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    clearTimeout(silence);
    client.release(failure);
  }
}
