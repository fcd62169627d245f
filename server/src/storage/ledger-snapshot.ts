import type pg from 'pg';
import { type Client, cut } from './database.ts';

/** A connection that has answered nothing for this long is given up; a statement may take a minute. */
const SILENCE_MS = 70_000;

/** One moment of the database, read on a connection of its own, without holding up any writer. */
export interface Snapshot {
  client: Client;
  /** To be called with every page: a connection that falls silent is cut. */
  alive(): void;
  /** Gives the connection back; after a failure it is closed. */
  close(failure?: Error): Promise<void>;
}

/** Opens a snapshot. `pool` is one with `pipeline`: the next page is on its way while one is worked on. */
export async function openSnapshot(pool: pg.Pool): Promise<Snapshot> {
  const client = await pool.connect();
  const silence = setTimeout(() => cut(client, new Error('the database connection fell silent')), SILENCE_MS);
  const release = (failure?: Error) => {
    clearTimeout(silence);
    client.release(failure);
  };
  try {
    await client.query('begin isolation level repeatable read read only');
    // Every look-up is of another key: remembering them costs four times the look-up (measured).
    await client.query('set local enable_memoize = off');
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

/** Reads one snapshot. */
export async function withinSnapshot<T>(
  pool: pg.Pool,
  read: (client: Client, alive: () => void) => Promise<T>,
): Promise<T> {
  const snapshot = await openSnapshot(pool);
  let failure: Error | undefined;
  try {
    return await read(snapshot.client, snapshot.alive);
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    await snapshot.close(failure);
  }
}
