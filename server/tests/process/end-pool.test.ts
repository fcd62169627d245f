import { expect, test } from 'vitest';
import { endPool, makePool } from '../../src/engine/storage/database.ts';
import { asSuperuser, createTestDatabase } from '../support/postgres.ts';

test('when a pool has ended its connections are gone: stopping the server then breaks none', async () => {
  const database = await createTestDatabase();
  const broken: Error[] = [];
  const pool = makePool(database.connection, { max: 8, onBroken: (error) => void broken.push(error) });
  const open = new Set<unknown>();
  pool.on('connect', (client) => {
    open.add(client);
    client.once('end', () => open.delete(client));
  });
  await Promise.all(Array.from({ length: 8 }, () => pool.query('select pg_sleep(0.01)')));
  expect(open.size).toBe(8);
  await endPool(pool);
  expect(open.size).toBe(0);
  await asSuperuser(`drop database ${database.connection.database} with (force)`);
  expect(broken).toEqual([]);
});
