import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVICE_ROLE } from '../../src/storage/database.ts';
import { type RunningService, startTestService } from '../support/running-service.ts';

let s: RunningService;
beforeAll(async () => {
  s = await startTestService();
});
afterAll(() => s.stop());

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

describe('the schema distributes by workspace_id', () => {
  test('every key and unique index begins with it, and there are no foreign keys, triggers or sequences', async () => {
    const keys = await s.sql(`
      select c.relname as table, a.attname as first from pg_index i
        join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
        join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
      where n.nspname = 'public' and i.indisunique and c.relname not in ('schema_migrations', 'api_key_digests', 'installation')`);
    expect(keys.rows.length).toBeGreaterThan(10);
    for (const row of keys.rows) expect(row).toEqual({ table: row.table, first: 'workspace_id' });
    const count = async (text: string) => (await s.sql(text)).rows[0].n;
    expect(
      await count(
        "select count(*)::int as n from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace",
      ),
    ).toBe(0);
    expect(await count('select count(*)::int as n from pg_trigger where not tgisinternal')).toBe(0);
    expect(await count("select count(*)::int as n from pg_sequences where schemaname = 'public'")).toBe(0);
  });
});
