import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MigrationError, migrate } from '../src/storage/migrate.ts';
import { asSuperuser, createTestDatabase, type TestDatabase } from './postgres.ts';

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
  await migrate(own.connection, key);
  await migrate(own.connection, key);
  const other = migrate(own.connection, Buffer.alloc(32, 2));
  await expect(other).rejects.toThrow(MigrationError);
  await expect(other).rejects.toThrow(/^SECRET_KEY is not the one[^\n]*$/);
  await migrate(own.connection, key);
  await own.drop();
});

test('a database that is not encoded in UTF8 is told in one line', async () => {
  const name = `ascii_${randomBytes(8).toString('hex')}`;
  await asSuperuser(`create database ${name} encoding 'SQL_ASCII' locale 'C' template template0`);
  const ascii = migrate({ ...database.connection, database: name });
  await expect(ascii).rejects.toThrow(/^the database is encoded in SQL_ASCII[^\n]*$/);
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
