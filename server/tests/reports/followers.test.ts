import { describe, expect } from 'vitest';
import { aggregateFeedback } from '../../src/engine/feedback/aggregate-feedback.ts';
import {
  type Follower,
  followNext,
  makeFollowerRound,
  type SkippedEvent,
} from '../../src/engine/followers/follow-chains.ts';
import {
  countSkippedEvents,
  findLaggingWorkspaces,
  getWatermark,
} from '../../src/engine/followers/follower-rows.ts';
import { rollUpDecisions } from '../../src/engine/reports/roll-up-decisions.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { fieldOf, freshKey, makeTestCore, spend, startTestService } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';

const { test, s, post, ask, makeAgent } = serviceTest();
let core: Core;
test.beforeAll(async () => {
  await makeAgent({}, { slug: 'bot' });
  core = makeTestCore(s.database.connection);
});
test.afterAll(() => core.close());

const decide = (action: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
  ask('bot', 100, { action, ...more });
const label = (decision_id: string, value = 'PURPOSE_MISALIGNED') =>
  post(`/v1/decisions/${decision_id}/labels`, { label: value });
const headSeq = async () =>
  (await core.db.query('select seq from ledger_heads where workspace_id = $1', [s.workspace_id])).rows[0]
    .seq as number;
/** Follows the chain to its end; gives what was left out. */
async function follow(follower: Follower): Promise<SkippedEvent[]> {
  const skipped: SkippedEvent[] = [];
  const onSkip = (one: SkippedEvent) => skipped.push(one);
  const end = await headSeq();
  while ((await getWatermark(core.db, follower.name, s.workspace_id)) < end) {
    await followNext(core.followers_db, follower, s.workspace_id, { onSkip });
  }
  return skipped;
}
/** Of whole days, today's among them. */
const report = () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  return s.call('GET', `/v1/reports/shadow?from=${day(-1)}&to=${day(1)}`);
};

test('the follower of lines looks at a workspace without any only after 10,000 events', async () => {
  const { workspace_id } = await s.addWorkspace({ plan: 'team' });
  const client = await core.db.connect();
  try {
    await client.query('begin');
    const isBehind = async () =>
      (await findLaggingWorkspaces(client, 'coverage', { after: '', without: [], limit: 1_000 })).includes(
        workspace_id,
      );
    const moveHead = (by: number) =>
      client.query('update ledger_heads set seq = seq + $2 where workspace_id = $1', [workspace_id, by]);
    await client.query(
      'insert into coverage_watermarks values ($1, 0) on conflict (workspace_id) do update set seq = 0',
      [workspace_id],
    );
    expect(await isBehind()).toBe(false);
    await moveHead(10_000);
    expect(await isBehind()).toBe(true);
    await moveHead(-10_000);
    await client.query(
      `insert into line_matches (workspace_id, line_id, feed, spend_key, starts_at, occurred_at, ends_at, currency, amount_minor, state)
        values ($1, 'lin_1', 'csv', 'k', now(), now(), now(), 'EUR', 1, 'HISTORY')`,
      [workspace_id],
    );
    expect(await isBehind()).toBe(true);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

describe('what clients send', () => {
  test.each([
    ['{"note":"a\\u0000b"}', 'context.note'],
    ['{"deep":[{"a\\u0000b":1}]}', 'context.deep[0]'],
    ['{"note":"\\ud800"}', 'context.note'],
    ['{"\\udfff":1}', 'context'],
  ])(
    'with a NUL or a lone surrogate in the context is refused, naming the field: %s',
    async (context, field) => {
      const raw = JSON.stringify(spend('bot', 100, { context: {} })).replace(
        '"context":{}',
        `"context":${context}`,
      );
      const reply = await s.call('POST', '/v1/decisions', { raw, idempotency_key: freshKey() });
      expect([reply.status, reply.body.error.code, fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
    },
  );

  test('and was kept before NUL was refused keeps no report from its answer: what is labelled counts', async () => {
    const { decision_id } = await decide({}, { context: { note: 'here' } });
    await s.sql(
      `update decisions set document = replace(document, '"note":"here"', '"note":"a\\u0000b","purpose":{"assessment":"x"}')
        where decision_id = $1`,
      [decision_id],
    );
    await label(decision_id);
    const tail = await report();
    expect(tail.status).toBe(200);
    expect(await follow(rollUpDecisions)).toEqual([]);
    const added_up = await report();
    expect(added_up.status).toBe(200);
    expect(added_up.body.labels).toEqual(tail.body.labels);
    expect(tail.body.labels.matrix.PURPOSE_ALIGNED.PURPOSE_MISALIGNED).toBe(1);
    expect(await countSkippedEvents(core.db)).toEqual({ report: 0, learning: 0, search: 0, coverage: 0 });
  });

  test('as one endless word stops no learning: what is labelled afterwards is learnt', async () => {
    let word = '';
    for (let i = 0; i < 1_990; i++) word += String.fromCodePoint(0x4e00 + ((i * 7_919) % 20_000));
    await label((await decide({ description: word })).decision_id);
    await label((await decide({ merchant: 'ﷺ㍿㌀㌁㌂㌃㌄㌅㌆㌇'.repeat(20) })).decision_id);
    await label((await decide({ description: 'zinnober' })).decision_id);
    expect(await follow(aggregateFeedback)).toEqual([]);
    const { rows } = await s.sql(
      'select word, greatest(length(word), length(merchant))::int as length from feedback',
    );
    expect(rows.map((row) => row.word)).toContain('zinnober');
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(200);
  });
});

describe('an event that cannot be added up', () => {
  test('is found and left out alone, once, and is seen in the metrics, in the log and by who asks for readiness', async () => {
    const begin = await headSeq();
    for (let i = 0; i < 40; i++) await decide({ merchant: i === 23 ? 'Poison' : `Shop ${i}` });
    await s.halt();
    // What the service's own worker has added up is thrown away, and added up again here.
    await s.sql('truncate report_watermarks, report_counters, report_counted');
    const refuse = `check (measure <> 'merchants' or name <> 'Poison')`;
    await s.sql(`alter table report_counters add constraint never ${refuse} not valid`);
    const told: object[] = [];
    const log = { warn: () => {}, error: (what: object) => told.push(what) };
    const round = makeFollowerRound({
      pool: core.followers_db,
      follower: rollUpDecisions,
      max_pages: 10,
      log: log as never,
    });
    try {
      for (let i = 0; i < 3; i++) await round();
    } finally {
      await s.sql('alter table report_counters drop constraint never');
    }
    expect(told).toMatchObject([{ follower: 'report', workspace_id: s.workspace_id, seq: begin + 24 }]);
    expect(await countSkippedEvents(core.db)).toEqual({ report: 1, learning: 0, search: 0, coverage: 0 });
    const { rows } = await s.sql("select reason from skipped_events where follower = 'report'");
    expect(rows[0].reason).toContain('never');
    const names = await s.sql(
      "select name from report_counters where measure = 'merchants' and slice = '' and name like 'Shop%'",
    );
    expect(names.rows).toHaveLength(39);
    const again = await startTestService({ beside: s });
    const readiness = () => again.call('GET', '/readyz', { key: null });
    // A busy machine may not be ready at once.
    await until(async () => (await readiness()).status === 200);
    expect((await readiness()).body.detail.skipped_events).toEqual({
      report: 1,
      learning: 0,
      search: 0,
      coverage: 0,
    });
    await again.halt();
  });

  test('is not one for which the database can do nothing: then everything waits, and nothing is left out', async () => {
    const before = await countSkippedEvents(core.db);
    const { decision_id } = await core.db
      .query('select decision_id from decisions order by decision_id limit 1')
      .then(({ rows }) => rows[0]);
    const again = await startTestService({ beside: s });
    await again.call('POST', `/v1/decisions/${decision_id}/labels`, { body: { label: 'PURPOSE_ALIGNED' } });
    await again.halt();
    const at = await getWatermark(core.db, 'report', s.workspace_id);
    await s.sql('delete from report_watermarks');
    await s.sql('alter table report_counters rename to put_away');
    const onSkip = () => expect.unreachable();
    const next = () => followNext(core.followers_db, rollUpDecisions, s.workspace_id, { onSkip });
    try {
      await expect(next()).rejects.toThrow(/report_counters/);
    } finally {
      await s.sql('alter table put_away rename to report_counters');
    }
    expect(at).toBeGreaterThan(0);
    expect(await getWatermark(core.db, 'report', s.workspace_id)).toBe(0);
    expect(await countSkippedEvents(core.db)).toEqual(before);
  });
});

test('a workspace that is gone leaves nothing behind, whenever a follower finds it', async () => {
  const onSkip = ({ error }: SkippedEvent) => {
    throw error;
  };
  for (const follower of [aggregateFeedback, rollUpDecisions])
    expect(await followNext(core.followers_db, follower, 'ws_gone', { onSkip })).toBe(false);
  const left = await s.sql(
    `select workspace_id from feedback_watermarks where workspace_id = 'ws_gone'
     union all select workspace_id from report_watermarks where workspace_id = 'ws_gone'`,
  );
  expect(left.rows).toEqual([]);
});
