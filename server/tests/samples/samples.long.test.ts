import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setSampleClock } from '../../src/engine/samples/sample-clocks.ts';
import { createOperatorSample, makeOpenSample, samplesOf } from '../../src/sample-server.ts';
import { readConfig } from '../../src/service/config/config.ts';
import { addWorkspace, type Core, makeCore } from '../../src/service/installation/runtime.ts';
import { type Browser, setUp } from '../support/browser.ts';
import { TRUSTING_CLOCK } from '../support/clock.ts';
import {
  makeKey,
  type RunningService,
  refusal,
  SECRET_KEY,
  startTestService,
} from '../support/running-service.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(5);

const log = pino({ level: 'silent' });
const config = readConfig({ PORT: '0' });
const DAY_MS = 86_400_000;

let s: RunningService;
let core: Core;
let made: { workspace_id: string; admin_key: string };
let ada: Browser;
beforeAll(async () => {
  s = await startTestService({ plan: 'team' });
  const opened = databaseOf(s);
  core = makeCore(opened, log);
  made = (await createOperatorSample(core, config, opened)) as typeof made;
});
afterAll(async () => {
  await core.close();
  await s.stop();
});

const databaseOf = ({ database, checkpoint_dir }: RunningService) => ({
  address: database.connection,
  secret_key: SECRET_KEY,
  guarded: true,
  checkpoint_dir,
  clock: TRUSTING_CLOCK,
});
const get = async (path: string) => {
  const { status, body, text } = await s.call('GET', path, { key: made.admin_key });
  expect(status, text).toBe(200);
  return body;
};
const all = async (path: string) => {
  const rows = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await get(
      `${path}${path.includes('?') ? '&' : '?'}limit=200${cursor && `&cursor=${cursor}`}`,
    );
    rows.push(...page.data);
    cursor = page.next_cursor;
  }
  return rows;
};

/** The number of rows of a workspace, by table, of those that have any. */
async function rowsOf(workspace_id: string): Promise<Record<string, number>> {
  const tables = await s.sql(
    `select table_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and column_name = 'workspace_id' and table_type = 'BASE TABLE'`,
  );
  expect(tables.rows.length).toBeGreaterThan(40);
  const counts: Record<string, number> = {};
  for (const { table_name } of tables.rows) {
    const found = await s.sql(`select count(*)::int as n from "${table_name}" where workspace_id = $1`, [
      workspace_id,
    ]);
    if (found.rows[0].n > 0) counts[table_name] = found.rows[0].n;
  }
  return counts;
}

describe('a sample', () => {
  test('is a workspace that says so, and others say that they are none', async () => {
    expect(await get('/v1/workspace')).toMatchObject({
      sample: true,
      name: 'Sample data',
      id: made.workspace_id,
    });
    expect((await s.call('GET', '/v1/workspace')).body).toMatchObject({ sample: false });
  });

  test('has decisions of four weeks, in the order of time, none later than now', async () => {
    const decisions = await all('/v1/decisions');
    expect(decisions.length).toBeGreaterThan(150);
    const times = decisions.map((each) => Date.parse(each.created_at));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(Math.max(...times)).toBeLessThan(Date.now());
    expect(Math.min(...times)).toBeGreaterThan(Date.now() - 29 * DAY_MS);
    expect(Math.min(...times)).toBeLessThan(Date.now() - 26 * DAY_MS);
    const days = new Set(decisions.map((each) => each.created_at.slice(0, 10)));
    expect(days.size).toBeGreaterThan(15);
    const kinds = new Set(decisions.map((each) => `${each.mode} ${each.decision}`));
    expect(kinds).toEqual(
      new Set([
        'SHADOW ALLOW',
        'SHADOW REVIEW',
        'SHADOW DENY',
        'ENFORCE ALLOW',
        'ENFORCE REVIEW',
        'ENFORCE DENY',
      ]),
    );
  });

  test('has reviews of every state, labels, outcomes of agents and of the rail, and a shared budget in use', async () => {
    const decisions = await all('/v1/decisions');
    const states = new Set(decisions.map((each) => each.review_state));
    for (const state of ['ALLOWED', 'DENIED', 'EXPIRED']) expect(states).toContain(state);
    const outcomes = new Set(decisions.map((each) => each.outcome_state));
    for (const state of ['NONE', 'EXECUTED']) expect(outcomes).toContain(state);
    expect(decisions.filter((each) => each.label !== null).length).toBeGreaterThan(30);
    const agents = await all('/v1/agents');
    expect(agents.map((each) => each.mode).sort()).toEqual(['ENFORCE', 'SHADOW', 'SHADOW', 'SHADOW']);
  });

  test('was decided by the engine alone: its whole history verifies', async () => {
    const { status, body } = await s.call('GET', '/v1/ledger/verify', { key: made.admin_key });
    expect(status).toBe(200);
    expect(body).toMatchObject({ valid: true, breaks: [] });
    expect(body.events_checked).toBeGreaterThan(500);
  });

  test('has a shadow report that says something', async () => {
    await until(async () => (await get('/v1/reports/shadow')).labels.labeled > 0);
    const report = await get('/v1/reports/shadow');
    expect(report.by_merchant.length).toBeGreaterThan(5);
    expect(report.by_reason.length).toBeGreaterThan(2);
  });

  test('leaves the clock of every other connection alone, and its own is gone', async () => {
    const { rows } = await s.sql('select count(*)::int as n from sample_clocks');
    expect(rows[0].n).toBe(0);
    const { body } = await s.call('POST', '/v1/agents', { body: { slug: 'of-today' } });
    expect(Math.abs(Date.parse(body.created_at) - Date.now())).toBeLessThan(60_000);
    const agent = await s.call('POST', '/v1/agents', { key: made.admin_key, body: { slug: 'of-today' } });
    expect(Math.abs(Date.parse(agent.body.created_at) - Date.now())).toBeLessThan(60_000);
  });

  test('is made once: the operator gets the same again, without its key', async () => {
    const again = await createOperatorSample(core, config, databaseOf(s));
    expect(again).toEqual({ workspace_id: made.workspace_id, admin_key: null });
  });

  test('that the operator made before there was anybody is administrated by the first person', async () => {
    ada = await setUp(s);
    const { body } = await ada.call('GET', '/v1/me');
    expect(body.workspace.id).toBe(s.workspace_id);
    expect(body.workspaces).toContainEqual(
      expect.objectContaining({ id: made.workspace_id, role: 'admin', status: 'active' }),
    );
    expect((await createOperatorSample(core, config, databaseOf(s))).workspace_id).toBe(made.workspace_id);
  });
});

describe('a sample is removed', () => {
  test('by nobody who has no rights in it, and no other workspace ever is', async () => {
    const refused = await s.call('DELETE', '/v1/workspace/sample');
    expect(refusal(refused)).toEqual([409, 'not_a_sample']);
    const samples = samplesOf(core, config, databaseOf(s));
    await expect(samples.remove(s.workspace_id)).rejects.toMatchObject({ code: 'not_a_sample' });
    await expect(samples.remove('ws_00000000000000000000000000')).rejects.toMatchObject({
      code: 'not_a_sample',
    });
    expect((await s.call('GET', '/v1/workspace')).status).toBe(200);
    const reader = await makeKey(s, { scopes: ['read'] }, made.admin_key);
    expect(refusal(await s.call('DELETE', '/v1/workspace/sample', { key: reader.key }))).toEqual([
      403,
      'insufficient_scope',
    ]);
  });

  test('as a whole: no row of it is left in any table, no checkpoint, and its keys are unknown', async () => {
    await until(async () => (await rowsOf(made.workspace_id)).checkpoints !== undefined);
    const before = await rowsOf(s.workspace_id);
    expect(Object.keys(await rowsOf(made.workspace_id)).length).toBeGreaterThan(20);
    const removed = await s.call('DELETE', '/v1/workspace/sample', { key: made.admin_key });
    expect(removed.status).toBe(204);
    expect(await rowsOf(made.workspace_id)).toEqual({});
    expect(existsSync(join(s.checkpoint_dir, made.workspace_id))).toBe(false);
    expect((await s.call('GET', '/v1/workspace', { key: made.admin_key })).status).toBe(401);
    for (const [table, count] of Object.entries(before))
      expect((await rowsOf(s.workspace_id))[table], table).toBeGreaterThanOrEqual(count);
    expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true });
  });
});

describe('the sample of a person', () => {
  test('needs a person, is theirs to administrate, is made once, and is left for their own workspace', async () => {
    expect(refusal(await s.call('POST', '/v1/workspace/sample'))).toEqual([403, 'insufficient_scope']);
    const first = await ada.call('POST', '/v1/workspace/sample');
    expect(first.status, first.text).toBe(201);
    const again = await ada.call('POST', '/v1/workspace/sample');
    expect([again.status, again.body]).toEqual([200, first.body]);
    const { workspace_id } = first.body;
    const me = await ada.call('POST', '/v1/me/workspace', { body: { workspace_id } });
    expect(me.body).toMatchObject({ role: 'admin', workspace: { id: workspace_id } });
    expect((await ada.call('GET', '/v1/workspace')).body.sample).toBe(true);
    expect((await ada.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true });
    expect((await ada.call('DELETE', '/v1/workspace/sample')).status).toBe(204);
    const after = await ada.call('GET', '/v1/me');
    expect(after.body).toMatchObject({
      workspace: { id: s.workspace_id },
      workspaces: [{ id: s.workspace_id }],
    });
    expect(await rowsOf(workspace_id)).toEqual({});
  });
});

test('a sample whose writer died is removed by the next one, and nothing else of it is swept meanwhile', async () => {
  const dead = 'ws_01M7YJTT2MPED49YAGY4HRQNSN';
  const opened = databaseOf(s);
  await setSampleClock(core.db, dead, Date.now() - 20 * DAY_MS);
  const sample = makeOpenSample(config, opened, log)(dead);
  await addWorkspace(sample.core, {
    name: 'Sample data',
    plan: 'team' as const,
    trial_days: null,
    by: 'system' as const,
    sample: dead,
  });
  await sample.close();
  expect(Object.keys(await rowsOf(dead))).toContain('ledger_heads');
  const { workspace_id } = await createOperatorSample(core, config, opened);
  expect(workspace_id).not.toBe(dead);
  expect(await rowsOf(dead)).toEqual({});
  await samplesOf(core, config, opened).remove(workspace_id);
});

test('without its row the clock of a sample has no time, so that nothing can be written by it', async () => {
  const sample = makeOpenSample(config, databaseOf(s), log)('ws_01M7YJTT2MPED49YAGY4HRQNSX');
  const by = { name: 'Sample data', plan: 'team' as const, trial_days: null, by: 'system' as const };
  await expect(
    addWorkspace(sample.core, { ...by, sample: 'ws_01M7YJTT2MPED49YAGY4HRQNSX' }),
  ).rejects.toThrow();
  await sample.close();
  expect(await rowsOf('ws_01M7YJTT2MPED49YAGY4HRQNSX')).toEqual({});
});
