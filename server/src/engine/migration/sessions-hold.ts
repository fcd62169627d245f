import type pg from 'pg';
import { connectOnce, type DatabaseAddress } from '../storage/database.ts';

/** The database cannot be used by sessions; the message names the cause and the cure. */
export class NoSessionError extends Error {
  override name = 'NoSessionError';
}

const ROUNDS = 4;
const PATIENCE_MS = 10_000;
const POOLER =
  'DATABASE_URL: the database is behind a pooler in transaction mode, but Purser needs a session for each connection; set its pool_mode to session, or connect to the database directly.';
const TOO_FEW =
  'DATABASE_URL: the database, or its pooler, gave no second connection within 10 s; allow as many as a process opens (36 for each of SERVE_PROCESSES).';

/** The mark and the process that a connection's session has in a transaction of its own. */
async function markOf(client: pg.Client): Promise<{ mark: string | null; pid: number }> {
  const found = await client.query<{ mark: string | null; pid: number }>(
    "select current_setting('purser.session', true) as mark, pg_backend_pid() as pid",
  );
  return found.rows[0] as { mark: string | null; pid: number };
}

/**
 * Two sessions are marked, and read back in transactions that overlap. A pooler that lends its connections by transaction
 * gives each of the two the one that the other had just before.
 */
async function compare(open: () => Promise<pg.Client>): Promise<void> {
  const first = await open();
  const second = await open().catch((cause: unknown) => {
    throw new NoSessionError(TOO_FEW, { cause });
  });
  const sessions: { client: pg.Client; mark: string | null; pid: number }[] = [];
  for (const client of [first, second]) {
    await client.query("select set_config('purser.session', gen_random_uuid()::text, false)");
    sessions.push({ client, ...(await markOf(client)) });
  }
  for (let round = 0; round < ROUNDS; round++) {
    // The order of beginning and of ending is turned around in between, whichever connection a pooler lends first.
    const order = round % 2 === 0 ? sessions : [...sessions].reverse();
    for (const { client, mark, pid } of order) {
      await client.query('begin');
      const found = await markOf(client);
      if (mark === null || found.mark !== mark || found.pid !== pid) throw new NoSessionError(POOLER);
    }
    for (const { client } of round < 2 ? order : [...order].reverse()) await client.query('commit');
  }
}

/** Throws NoSessionError unless a connection to this database is one session from its beginning to its end. */
export async function checkSessions(address: DatabaseAddress): Promise<void> {
  const open: pg.Client[] = [];
  let late: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    late = setTimeout(() => reject(new NoSessionError(TOO_FEW)), PATIENCE_MS);
  });
  const comparing = compare(async () => {
    const client = await connectOnce(address);
    open.push(client);
    return client;
  });
  try {
    await Promise.race([comparing, tooLate]);
  } catch (error) {
    comparing.catch(() => {});
    // A pooler in statement mode takes no transaction at all.
    if (/pooling mode/.test((error as Error).message)) throw new NoSessionError(POOLER, { cause: error });
    throw error;
  } finally {
    clearTimeout(late);
    // A session that does not answer is not waited for.
    for (const client of open) void client.end().catch(() => {});
  }
}
