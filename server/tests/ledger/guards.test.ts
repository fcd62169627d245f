import pg from 'pg';
import { expect } from 'vitest';
import { SERVICE_ROLE } from '../../src/engine/storage/database.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest();

test("the service's own role can add to history, and neither change nor remove it", async () => {
  const client = new pg.Client({ ...s.database.connection });
  await client.connect();
  try {
    await client.query(`set role ${SERVICE_ROLE}`);
    for (const table of [
      'decisions',
      'idempotency_keys',
      'ledger_events',
      'audit_records',
      'authorities',
      'reviews',
      'labels',
      'outcomes',
      'consumptions',
      'consumption_keys',
      'expired_reservations',
    ]) {
      for (const statement of [
        `update ${table} set workspace_id = workspace_id`,
        `delete from ${table}`,
        `truncate ${table}`,
      ]) {
        await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' });
      }
    }
    // A key that is kept under another digest leaves the one before; none is ever led to another key.
    for (const statement of ['update api_key_digests set key_id = key_id', 'truncate api_key_digests']) {
      await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' });
    }
    await expect(client.query('drop table decisions')).rejects.toMatchObject({ code: '42501' });
  } finally {
    await client.end();
  }
});
