import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVICE_ROLE } from '../src/storage/database.ts';
import { AUTHORITY, freshKey, type RunningService, spend, startTestService } from './running-service.ts';

let s: RunningService;
beforeAll(async () => {
  s = await startTestService();
  await s.call('POST', '/v1/agents', { body: { slug: 'a', authority: AUTHORITY } });
  await s.call('POST', '/v1/agents/a/authority', { body: { ...AUTHORITY, monthly_budget_minor: 100_000 } });
  await s.call('POST', '/v1/api-keys', { body: { name: 'k', scopes: ['read'], expires_in_seconds: 600 } });
  // It is told of nothing that happens here.
  await s.call('POST', '/v1/webhooks', {
    body: { url: 'https://receiver.invalid/', events: ['decision.label.recorded'] },
  });
  for (let i = 1; i <= 5; i++) {
    await s.call('POST', '/v1/decisions', { body: spend('a', i), idempotency_key: freshKey() });
  }
});
afterAll(() => s.stop());

const verify = async () => (await s.call('GET', '/v1/ledger/verify')).body;

/** Runs statements behind the service's back, verifies, and undoes them. */
async function tamper(statements: string[]) {
  const tables = [
    'workspaces',
    'ledger_heads',
    'ledger_events',
    'audit_records',
    'agents',
    'authorities',
    'api_keys',
    'decisions',
    'idempotency_keys',
    'webhook_endpoints',
  ];
  for (const table of tables) await s.sql(`create table kept_${table} as table ${table}`);
  try {
    for (const statement of statements) await s.sql(statement);
    return await verify();
  } finally {
    for (const table of tables) {
      await s.sql(`truncate ${table}`);
      await s.sql(`insert into ${table} select * from kept_${table}`);
      await s.sql(`drop table kept_${table}`);
    }
  }
}

test('an untouched history is valid, before and after', async () => {
  expect(await verify()).toMatchObject({ valid: true, breaks: [], first_break_seq: null });
  expect((await tamper([])).valid).toBe(true);
});

describe('every column of every row that history stands on is sealed', () => {
  /** An edit of each type that no check of the database forbids. */
  const edits: Record<string, string> = {
    text: "coalesce(COLUMN, '') || 'x'",
    bigint: 'COLUMN + 1000',
    integer: 'coalesce(COLUMN, 0) + 1000',
    bytea: 'set_byte(COLUMN, 0, (get_byte(COLUMN, 0) + 1) % 256)',
    'timestamp with time zone': "coalesce(COLUMN, now()) + interval '1 second'",
    json: '\'{"edited":true}\'::json',
    ARRAY: "array_append(COLUMN, 'x')",
    boolean: 'not COLUMN',
  };
  const TABLES: [string, string, string[]][] = [
    ['decisions', 'decision_id = (select min(decision_id) from decisions)', ['workspace_id']],
    ['idempotency_keys', 'decision_id = (select min(decision_id) from decisions)', ['workspace_id']],
    ['ledger_events', 'seq = 3', ['workspace_id']],
    ['audit_records', 'seq = 3', ['workspace_id']],
    ['agents', "slug = 'a'", ['workspace_id']],
    ['authorities', 'version = 1', ['workspace_id']],
    ['api_keys', "kind = 'read_only'", ['workspace_id']],
    // The caller's own name for things is how it is found at all.
    ['workspaces', 'true', ['workspace_id']],
    ['ledger_heads', 'true', ['workspace_id', 'time_ms']],
    ['webhook_endpoints', 'true', ['workspace_id']],
  ];
  test.each(TABLES)('%s', async (table, where, excepted) => {
    const { rows } = await s.sql(
      'select column_name, data_type from information_schema.columns where table_name = $1 order by ordinal_position',
      [table],
    );
    const checked = rows.filter((row) => !excepted.includes(row.column_name));
    expect(checked.length).toBeGreaterThan(1);
    for (const { column_name, data_type } of checked) {
      const edit = edits[data_type];
      if (edit === undefined) throw new Error(`no edit for ${data_type}`);
      const found = await tamper([
        `update ${table} set ${column_name} = ${edit.replaceAll('COLUMN', column_name)} where ${where}`,
      ]);
      expect([table, column_name, found.valid]).toEqual([table, column_name, false]);
      expect(found.first_break_seq).toBe(Math.min(...found.breaks.map((each: { seq: number }) => each.seq)));
    }
  });
});

describe('rows that went, came or moved are reported where it happened', () => {
  const kinds = (found: { breaks: { kind: string }[] }) => new Set(found.breaks.map((each) => each.kind));

  test('an event cut out of the middle is a gap', async () => {
    const found = await tamper(['delete from ledger_events where seq = 4']);
    expect([found.first_break_seq, found.breaks[0].kind]).toEqual([5, 'GAP']);
  });
  test('a cut tail is truncated', async () => {
    const found = await tamper(['delete from ledger_events where seq > 6']);
    expect([found.first_break_seq, ...kinds(found)]).toContain('TRUNCATED');
    expect(found.breaks.find((each: { kind: string }) => each.kind === 'TRUNCATED').seq).toBe(7);
  });
  test('a deleted chain is truncated', async () => {
    expect(kinds(await tamper(['delete from ledger_events']))).toContain('TRUNCATED');
    expect(kinds(await tamper(['delete from ledger_events', 'delete from ledger_heads']))).toContain(
      'TRUNCATED',
    );
  });
  test('two swapped events are altered', async () => {
    const found = await tamper([
      'update ledger_events set seq = -1 where seq = 4',
      'update ledger_events set seq = 4 where seq = 5',
      'update ledger_events set seq = 5 where seq = -1',
    ]);
    expect(found.first_break_seq).toBe(4);
    expect(kinds(found)).toContain('ENTRY_ALTERED');
  });
  test('a deleted decision, a deleted idempotency key and a removed authority are missed', async () => {
    for (const statement of [
      'delete from decisions where decision_id = (select min(decision_id) from decisions)',
      'delete from idempotency_keys where decision_id = (select min(decision_id) from decisions)',
      'delete from authorities where version = 1',
      'delete from audit_records where seq = 3',
      "delete from api_keys where kind = 'read_only'",
      'delete from webhook_endpoints',
    ]) {
      expect([statement, ...kinds(await tamper([statement]))]).toEqual([statement, 'ROW_MISMATCH']);
    }
  });
  test('an agent that no event made is noticed', async () => {
    const found = await tamper([
      `insert into agents select workspace_id, 'agt_00000000000000000000000000', 'smuggled', name, mode, status, null, null, created_at, updated_at from agents limit 1`,
    ]);
    expect([...kinds(found)]).toEqual(['ROW_MISMATCH']);
  });
});

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
      'api_key_digests',
    ]) {
      for (const statement of [
        `update ${table} set workspace_id = workspace_id`,
        `delete from ${table}`,
        `truncate ${table}`,
      ]) {
        await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' });
      }
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
      where n.nspname = 'public' and i.indisunique
        and c.relname not in ('schema_migrations', 'installation', 'api_key_digests')`);
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
