import { connectOnce, type DatabaseAddress } from '../storage/database.ts';

/** Engines that speak PostgreSQL's protocol and that nobody has run Purser on, by what `version()` says. */
const UNTESTED: readonly [said: RegExp, name: string][] = [
  [/CockroachDB/i, 'CockroachDB'],
  [/-YB-|YugabyteDB/i, 'YugabyteDB'],
];

/** Returns the name of the engine behind the address if it is one that was never tested, else null. */
export async function findUntestedEngine(address: DatabaseAddress): Promise<string | null> {
  const client = await connectOnce(address);
  try {
    const found = await client.query<{ version: string }>('select version() as version');
    const version = found.rows[0]?.version ?? '';
    return UNTESTED.find(([said]) => said.test(version))?.[1] ?? null;
  } finally {
    await client.end();
  }
}
