import { randomBytes } from 'node:crypto';
import { type PostgresConnection, SUPERUSER } from '@purser/embedded-postgres';
import pg from 'pg';
import { inject } from 'vitest';
import type {} from './global-setup.ts';

/** A database for one test file. */
export interface TestDatabase {
  /** As the role that owns it. */
  connection: PostgresConnection;
  /** Ends all connections to it and removes it. */
  drop(): Promise<void>;
}

/** The PostgreSQL of this test run, as its superuser. */
export function superuserConnection(): PostgresConnection {
  return inject('postgres');
}

/** The same connection as a URL, for what takes a `DATABASE_URL`. */
export function connectionUrl({ host, port, user, database }: PostgresConnection): string {
  return `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

/** Runs one statement as the superuser, on the database that always exists. */
export async function asSuperuser(statement: string): Promise<void> {
  const client = new pg.Client({ ...superuserConnection(), ...SUPERUSER });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/**
 * Makes a database of its own for a test file, owned by the role `purser`: empty, or a copy of `template`, to
 * which nobody may be connected at that moment.
 */
export async function createTestDatabase(options: { template?: string } = {}): Promise<TestDatabase> {
  const database = `test_${randomBytes(8).toString('hex')}`;
  const template = pg.escapeIdentifier(options.template ?? 'template1');
  // Copying files takes half the time of writing each page to the log, which nobody reads here.
  await asSuperuser(`create database ${database} owner purser template ${template} strategy file_copy`);
  return {
    connection: { ...superuserConnection(), user: 'purser', database },
    drop: () => asSuperuser(`drop database if exists ${database} with (force)`),
  };
}

/** Makes a migrated database of its own for a test file. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ template: inject('template') });
}
