import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { checkReady, LATEST_MIGRATION, MigrationError, migrate } from '../../src/engine/migration/migrate.ts';
import {
  MIGRATIONS,
  type Migration,
  type RunMigrationsOptions,
  runMigrations,
} from '../../src/engine/migration/run-migrations.ts';
import { connectOnce } from '../../src/engine/storage/database.ts';
import { asSuperuser, connectionUrl, createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
const guest = `guest_${randomBytes(8).toString('hex')}`;
beforeAll(async () => {
  database = await createTestDatabase();
  await asSuperuser(`create role ${guest} login`);
});
afterAll(async () => {
  await database.drop();
  await asSuperuser(`drop role ${guest}`);
});

test('a database that was set up with another SECRET_KEY is told in one line, and stays as it was', async () => {
  const own = await createTestDatabase();
  const key = Buffer.alloc(32, 1);
  await migrate(own.connection, [key]);
  await migrate(own.connection, [key]);
  const other = migrate(own.connection, [Buffer.alloc(32, 2)]);
  await expect(other).rejects.toThrow(MigrationError);
  await expect(other).rejects.toThrow(/^SECRET_KEY is not the key[^\n]*$/);
  await migrate(own.connection, [Buffer.alloc(32, 2), key]);
  await own.drop();
});

test('a database that is not encoded in UTF8 is told in one line', async () => {
  const name = `ascii_${randomBytes(8).toString('hex')}`;
  await asSuperuser(`create database ${name} encoding 'SQL_ASCII' locale 'C' template template0`);
  const ascii = migrate({ ...database.connection, database: name });
  await expect(ascii).rejects.toThrow(/^the database encoding is SQL_ASCII[^\n]*$/);
  await asSuperuser(`drop database ${name}`);
});

test('a user that may not make tables, and a database that takes no writes, are told in one line', async () => {
  const asGuest = migrate({ ...database.connection, user: guest });
  await expect(asGuest).rejects.toThrow(MigrationError);
  await expect(asGuest).rejects.toThrow(
    /^the schema could not .*\(permission denied for schema public\)[^\n]*$/,
  );

  await asSuperuser(`alter database ${database.connection.database} set default_transaction_read_only = on`);
  const readOnly = migrate(database.connection);
  await expect(readOnly).rejects.toThrow(MigrationError);
  await expect(readOnly).rejects.toThrow(/read-only transaction\)[^\n]*$/);
});

/** A migration of a later build. */
function later(version: number, sql: string, compatible_with = version): Migration {
  return { version, name: `later-${version}`, sql, md5: `md5-${version}`, compatible_with };
}

describe('a migration', () => {
  let own: TestDatabase;
  let client: pg.Client;
  let watcher: pg.Client;
  beforeEach(async () => {
    own = await createTestDatabase();
    client = await connectOnce(own.connection);
    watcher = await connectOnce(own.connection);
    onTestFinished(async () => {
      await Promise.all([client.end(), watcher.end()]);
      await own.drop();
    });
  });

  /** Runs migrations on a connection of their own. */
  async function run(options: RunMigrationsOptions) {
    const runner = await connectOnce(own.connection);
    return runMigrations(runner, options).finally(() => runner.end());
  }
  /** Waits until somebody waits for a lock in this database. */
  async function untilBlocked(): Promise<number> {
    for (;;) {
      // On a connection of its own: within a transaction these statistics stand still.
      const found = await watcher.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and wait_event <> 'advisory'`,
      );
      if (found.rows[0] !== undefined) return found.rows[0].pid;
      await wait(5);
    }
  }
  const tableExists = async (name: string) =>
    (await client.query('select to_regclass($1) is not null as is_there', [name])).rows[0].is_there;
  const recorded = async () =>
    (
      await client.query('select version::int from schema_migrations where version > 0 order by version')
    ).rows.map((row) => row.version);

  test('and its record are there together or not at all, though the process is killed between the two', async () => {
    await run({ migrations: MIGRATIONS.slice(0, 6) });
    // The script of migration 7 needs nothing of this table, its record does.
    await client.query('begin; lock table schema_migrations in share mode');
    const args = [fileURLToPath(new URL('../../dist/main.js', import.meta.url)), 'migrate'];
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: connectionUrl(own.connection),
      SECRET_KEY: randomBytes(32).toString('base64'),
    };
    const first = spawn(process.execPath, args, { env });
    const backend = await untilBlocked();
    first.kill('SIGKILL');
    await once(first, 'exit');
    // The machine goes with it: what was sent is not carried out any more.
    await asSuperuser(`select pg_terminate_backend(${backend})`);
    await client.query('commit');

    const second = spawn(process.execPath, args, { env });
    let output = '';
    for (const stream of [second.stdout, second.stderr]) stream.on('data', (chunk) => (output += chunk));
    const [code] = await once(second, 'close');
    expect(output).toMatch(/^Applied: dealings/);
    expect(code).toBe(0);
    expect(await recorded()).toEqual(MIGRATIONS.map((each) => each.version));
  });

  test('that loses its connection half way leaves nothing, and is applied by the next start', async () => {
    await client.query('create table busy (id integer)');
    await client.query('begin; lock table busy in share mode');
    const migrations = [later(1, 'create table made (id integer); insert into busy values (1)')];
    const cut = run({ migrations, lock_timeout_ms: 60_000 });
    const refused = expect(cut).rejects.toThrow(/terminating connection/);
    await asSuperuser(`select pg_terminate_backend(${await untilBlocked()})`);
    await refused;
    expect(await tableExists('made')).toBe(false);
    expect(await tableExists('schema_migrations')).toBe(false);
    await client.query('commit');
    expect((await run({ migrations })).applied).toEqual(['later-1']);
    expect([await tableExists('made'), await recorded()]).toEqual([true, [1]]);
  });

  test('is applied once, however many nodes start at the same moment', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => migrate(own.connection)));
    expect(all.flatMap((each) => each.applied)).toEqual(MIGRATIONS.map((each) => each.name));
    expect(await recorded()).toEqual(MIGRATIONS.map((each) => each.version));
  });

  test('does not wait for locks without end, lets others pass, and is tried again', async () => {
    await client.query('create table busy (id integer)');
    const reader = await connectOnce(own.connection);
    await reader.query('begin; select * from busy');
    const migrations = [later(1, 'alter table busy add column more integer')];
    const given_up = await run({ migrations, lock_timeout_ms: 20, tries: 3, pause_ms: 5 }).catch(
      (error) => error,
    );
    expect(given_up).toBeInstanceOf(MigrationError);
    expect(given_up.message).toMatch(
      /^migration 1 \(later-1\) failed \(canceling statement due to lock timeout\) and was rolled back; end the long transactions that hold its tables, and start again$/,
    );
    const waiting = run({ migrations, lock_timeout_ms: 50, tries: 100_000, pause_ms: 5 });
    await untilBlocked();
    // This one queues behind the migration until that gives way, while the long transaction is still open.
    await client.query('select * from busy');
    await reader.query('commit');
    await reader.end();
    expect((await waiting).applied).toEqual(['later-1']);
  });

  test('that fails is told in words, with what to do where its record alone is missing', async () => {
    await run({});
    await client.query('delete from schema_migrations where version = 9');
    const failed = await run({}).catch((error) => error);
    expect(failed).toBeInstanceOf(MigrationError);
    expect(failed.message).toMatch(
      /^migration 9 \(skipped-events\) failed \(relation "skipped_events" already exists\)[^\n]*$/,
    );
    await client.query(/record it with "(.*)" and start again/.exec(failed.message)?.[1] as string);
    expect((await run({})).applied).toEqual([]);
  });

  test('that was edited after it was applied is refused, on a newer schema too', async () => {
    await run({ migrations: [...MIGRATIONS, later(900, 'select 1', 1)] });
    await client.query(`update schema_migrations set md5 = 'another' where version = 3`);
    await expect(migrate(own.connection)).rejects.toThrow(
      /^migration 3 \([a-z-]+\) of this build differs from the one/,
    );
  });

  test('recorded by an earlier installation stays valid, and the next one gives its table the new columns', async () => {
    await migrate(own.connection);
    await client.query(
      `alter table schema_migrations drop column compatible_with, drop column applied_by;
        insert into schema_migrations (version) values (0)`,
    );
    expect((await migrate(own.connection)).applied).toEqual([]);
    await run({ migrations: [...MIGRATIONS, later(LATEST_MIGRATION + 1, 'select 1', LATEST_MIGRATION)] });
    const { rows } = await client.query('select * from schema_migrations order by version desc limit 1');
    expect(rows[0]).toMatchObject({
      compatible_with: LATEST_MIGRATION,
      applied_by: expect.stringMatching(/^\d/),
    });
  });

  test('declares with which older builds it is compatible', () => {
    for (const { version, sql, compatible_with } of MIGRATIONS.filter((each) => each.version > 7)) {
      expect(sql, `${version}`).toMatch(/^-- compatible-with: \d+$/m);
      expect(compatible_with).toBeLessThanOrEqual(version);
    }
  });
});

describe('an older build on a newer schema', () => {
  let own: TestDatabase;
  beforeEach(async () => {
    own = await createTestDatabase();
    await migrate(own.connection);
    onTestFinished(() => own.drop());
  });
  const onIt = async <T>(work: (client: pg.Client) => Promise<T>) => {
    const client = await connectOnce(own.connection);
    return work(client).finally(() => client.end());
  };
  const migrateFurther = (...migrations: Migration[]) =>
    onIt((client) => runMigrations(client, { migrations: [...MIGRATIONS, ...migrations] }));

  test('works where every later migration says that it may, and says that the schema is newer', async () => {
    await migrateFurther(later(900, 'select 1', LATEST_MIGRATION), later(901, 'select 1', 1));
    expect(await migrate(own.connection)).toMatchObject({ applied: [], newer: 901 });
    await onIt(checkReady);
  });

  test('is refused where one of them needs a newer build, and is told which version', async () => {
    await migrateFurther(later(900, 'select 1'), later(901, 'select 1', 1));
    await onIt((client) =>
      client.query(`update schema_migrations set applied_by = '3.2.1' where version = 900`),
    );
    const refused = await migrate(own.connection).catch((error) => error);
    expect(refused).toBeInstanceOf(MigrationError);
    expect(refused.message).toMatch(
      /^the schema is at migration 901 and needs a build with migration 900, but this one \([^)]+\) ends at \d+; start version 3\.2\.1 or newer$/,
    );
    await expect(onIt(checkReady)).rejects.toThrow(MigrationError);
  });

  test('is refused where a later record says nothing', async () => {
    await onIt((client) => client.query('insert into schema_migrations (version) values (999)'));
    await expect(migrate(own.connection)).rejects.toThrow(/needs a build with migration 999/);
    await expect(onIt(checkReady)).rejects.toThrow(MigrationError);
  });
});
