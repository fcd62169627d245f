import { afterAll, beforeAll, expect, test } from 'vitest';
import { placeOf } from '../../src/engine/citus/local-tables.ts';
import {
  AUTHORITY,
  freshKey,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { recordStatements } from '../support/statements.ts';
import { isTest, readSources } from './sources.ts';

/** Every statement that the service sends. */
const sent = recordStatements();
let s: RunningService;

beforeAll(async () => {
  s = await startTestService({ env: { REVIEW_TTL_SECONDS: '1' } });
});
afterAll(async () => {
  await s.stop();
  sent.stop();
});

/** A person may be a member of several workspaces, and is looked for before it is known in which one. */
const OF_PEOPLE = [
  'emails',
  'notification_settings',
  'passkey_challenges',
  'sessions',
  'setup_codes',
  'used_oidc_states',
  'user_identities',
  'user_passkeys',
  'users',
];
/** Tables that answer the question which workspace something belongs to, or belong to no workspace. */
const OF_NO_WORKSPACE = ['api_key_digests', 'installation', 'schema_migrations', ...OF_PEOPLE];

test('every primary key and unique index begins with workspace_id, so that the schema distributes by it', async () => {
  const { rows } = await s.sql(
    `select c.relname as "table", i.relname as index, a.attname as first
      from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
      where n.nspname = 'public' and (x.indisunique or x.indisprimary)`,
  );
  expect(rows.length).toBeGreaterThan(15);
  const others = rows.filter((row) => row.first !== 'workspace_id' && !OF_NO_WORKSPACE.includes(row.table));
  expect(others).toEqual([]);
});

/** What a worker looks for in all workspaces at once: on an engine that spreads them, on every machine. */
const OF_ALL_WORKSPACES = [
  'counters_by_until',
  'emails_due',
  'expiring_holds_by_time',
  'notification_settings_due',
  'webhook_queues_due',
];
/** A card event names its rail before anybody knows its workspace. */
const BY_RAIL = ['rails_by_id'];
/** How a person's workspaces, sessions and ways to sign in are found. */
const BY_PERSON = [
  'invitations_by_email',
  'members_by_user',
  'sessions_by_user',
  'user_identities_by_user',
  'user_passkeys_by_user',
];

test('every other index begins with workspace_id too, but for what workers look for in all workspaces', async () => {
  const { rows } = await s.sql(
    `select i.relname as index from pg_index x join pg_class c on c.oid = x.indrelid
      join pg_class i on i.oid = x.indexrelid join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
      where n.nspname = 'public' and not x.indisunique and a.attname <> 'workspace_id'`,
  );
  expect(rows.map((row) => row.index).sort()).toEqual(
    [...BY_PERSON, ...OF_ALL_WORKSPACES, ...BY_RAIL].sort(),
  );
});

test('there is no foreign key, trigger, sequence or exclusion constraint that a distributed engine would refuse', async () => {
  const found = await s.sql(
    `select conname as name from pg_constraint c join pg_namespace n on n.oid = c.connamespace
        where n.nspname = 'public' and contype in ('f', 'x', 't')
      union all select tgname from pg_trigger where not tgisinternal
      union all select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and relkind = 'S'`,
  );
  expect(found.rows).toEqual([]);
});

test('every table has a workspace_id', async () => {
  const { rows } = await s.sql(
    `select c.relname as "table" from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'p') and not exists (
        select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped)`,
  );
  expect(rows.map((row) => row.table).sort()).toEqual(
    [
      'installation',
      'schema_migrations',
      ...OF_PEOPLE.filter((table) => !['emails', 'sessions'].includes(table)),
    ].sort(),
  );
});

test('every table without a workspace stays on the coordinator of a distributed engine, and what finds a workspace too', () => {
  for (const table of OF_NO_WORKSPACE) expect([table, placeOf(table)]).not.toEqual([table, 'distributed']);
  expect(['ledger_heads', 'decisions', 'counters'].map(placeOf)).toEqual([
    'distributed',
    'distributed',
    'distributed',
  ]);
});

/** The SQL in the sources of the service; what is put into it is as in the source. */
function* statementsInSources(): Generator<[path: string, text: string]> {
  for (const [path, source] of readSources()) {
    if (!path.startsWith('server/src/') || path.includes('/migration/') || isTest(path)) continue;
    for (const [, ...found] of source.matchAll(SQL)) yield [path, found.find((text) => text) as string];
  }
}
const SQL =
  /`(\s*(?:select|with|update|delete|insert)\s[^`]*)`|'((?:select|with|update|delete|insert)\s[^'\n]*)'/g;
/** The clock where a statement reads it by itself, and not in a select of its own. */
const BARE_CLOCK = /(?<!\(select )clock_timestamp\(\)|\b(?:coalesce|case)\b[^;]*\bnow\(\)/;

test('no statement has a form that Citus refuses: a clock in what changes rows, no column from another node', async () => {
  const found = await s.sql(
    "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
  );
  const tables = new Set(found.rows.map((row) => row.relname as string));
  const refused: string[] = [];
  let count = 0;
  for (const [path, text] of statementsInSources()) {
    count += 1;
    const changed = /\b(?:update (?!set)|delete from |insert into )(\w+)/.exec(text)?.[1] ?? '';
    const changing = /^\s*insert/.test(text) ? (/ do update set [\s\S]*/.exec(text)?.[0] ?? '') : text;
    if (tables.has(changed) && placeOf(changed) !== 'plain' && BARE_CLOCK.test(changing))
      refused.push(`${path}: reads the clock where it changes ${changed}`);
    const named = [...text.matchAll(/\b(?:from|join)\s+(\w+)/g)].map(([, name]) => name as string);
    const places = new Set(
      named.filter((name) => tables.has(name)).map((name) => placeOf(name) === 'distributed'),
    );
    if (places.size > 1 && /\bselect from\b/.test(text))
      refused.push(`${path}: selects no column of tables on several nodes`);
  }
  expect(count).toBeGreaterThan(300);
  expect(refused).toEqual([]);
});

test('every statement on a table of workspaces names workspace_id', async () => {
  await s.call('POST', '/v1/agents', { body: { slug: 'a', mode: 'ENFORCE', authority: AUTHORITY } });
  const agent = (await s.call('GET', '/v1/agents/a')).body;
  const key = (await s.call('POST', '/v1/api-keys', { body: { name: 'k', agent_id: agent.id } })).body.key;
  const decided = await s.call('POST', '/v1/decisions', {
    key,
    body: spend(undefined, 100),
    idempotency_key: freshKey(),
  });
  const { decision_id } = decided.body;
  const reviewed = { action: 'ALLOW', reason_code: 'OK' };
  await s.call('POST', `/v1/decisions/${decision_id}/reviews`, { body: reviewed });
  await s.call('POST', `/v1/decisions/${decision_id}/labels`, { body: { label: 'PURPOSE_ALIGNED' } });
  const consumer = (await s.call('POST', '/v1/api-keys', { body: { name: 'c', scopes: ['consume'] } })).body
    .key;
  const shown = (await s.call('GET', `/v1/decisions/${decision_id}`, { key })).body;
  await s.call('POST', '/v1/capabilities/consume', {
    key: consumer,
    body: { token: shown.capability?.token ?? 'none', amount_minor: 100, currency: 'EUR' },
    idempotency_key: freshKey(),
  });
  await s.call('POST', `/v1/decisions/${decision_id}/outcomes`, {
    body: { type: 'SPEND_EXECUTED', amount_minor: 100 },
  });
  for (const path of [
    '/v1/decisions?agent=a&reviewed=true&labeled=true&q=h',
    `/v1/decisions/${decision_id}/outcomes`,
    '/v1/agents',
    '/v1/agents/a/authority',
    '/v1/api-keys',
    '/v1/workspace',
    '/v1/audit',
    '/v1/ledger/events',
    '/v1/ledger/verify',
  ]) {
    expect((await s.call('GET', path)).status).toBe(200);
  }
  const tables = (
    await s.sql(`select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and relkind in ('r', 'p')`)
  ).rows.map((row) => row.relname as string);
  const ofWorkspaces = tables.filter((table) => !OF_NO_WORKSPACE.includes(table));
  const touching = [...sent.texts].filter(
    (text) =>
      /^\s*(select|insert|update|delete|with)\b/i.test(text) &&
      !/\bpg_(class|constraint|index|trigger)\b/.test(text) &&
      ofWorkspaces.some((table) => new RegExp(`\\b(from|join|into|update)\\s+${table}\\b`).test(text)),
  );
  expect(touching.length).toBeGreaterThan(30);
  expect(touching.filter((text) => !text.includes('workspace_id'))).toEqual([]);
});
