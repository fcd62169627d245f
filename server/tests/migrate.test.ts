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
