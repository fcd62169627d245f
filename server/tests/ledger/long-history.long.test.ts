import type { VerifyingKey } from '@purser/rules/domain/checkpoints';
import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import type pg from 'pg';
import { describe, expect } from 'vitest';
import { getWatermark } from '../../src/engine/followers/follower-rows.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import { loadDecisionCores, loadDecisionRecords } from '../../src/engine/storage/decisions.ts';
import { verifyLedger } from '../../src/engine/verification/verify-ledger.ts';
import { deriveSecrets } from '../../src/service/installation/secrets.ts';
import { AUTHORITY, freshKey, NO_CHECKPOINT_FILES, SECRET_KEY, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';

/** A history of several pages, which are verified at the same time, on as many connections as there are. */
const DECISIONS = 2_200;
const AT_ONCE = 50;

/** Texts and objects with the marks by which the core of a document is cut out of it. */
const MARKS = ',"explanation":"x","reservation":{"status":"HELD"},"task":"y"';
const HOSTILE = {
  task: MARKS,
  trace: [{ step: MARKS, kind: 'thought' }],
  context: { a: 1, explanation: 'x', reservation: { expires_at: null }, task: 'y', b: [MARKS] },
};

const { test, s } = serviceTest({ plan: 'team', env: { RATE_LIMIT_PER_MINUTE: '1000000' } });
let key: VerifyingKey;
const pools = new Map<string, pg.Pool>();
test.beforeAll(async () => {
  key = deriveSecrets(SECRET_KEY).checkpointKey;
  for (const [name, max] of [
    ['one connection', 1],
    ['two connections', 4],
  ] as const) {
    const onBroken = (error: Error) => {
      throw error;
    };
    const address = s.database.connection;
    pools.set(
      name,
      makePool(address, { max, pipeline: true, plan: 'index_lookup', lenient_types: true, onBroken }),
    );
  }
  for (const [slug, mode] of [
    ['watched', 'SHADOW'],
    ['bound', 'ENFORCE'],
  ]) {
    const authority = { ...AUTHORITY, review_threshold_minor: 1_000, monthly_budget_minor: 100_000_000 };
    await s.call('POST', '/v1/agents', { body: { slug, mode, authority } });
  }
  let made = 0;
  const makeSome = async () => {
    while (made < DECISIONS) {
      const n = made++;
      const body = { ...spend(n % 3 === 0 ? 'bound' : 'watched', 500 + n), ...(n % 5 === 0 ? HOSTILE : {}) };
      const reply = await s.call('POST', '/v1/decisions', { body, idempotency_key: freshKey() });
      expect(reply.status).toBe(201);
      if (n % 7 !== 0) continue;
      const path = `/v1/decisions/${reply.body.decision_id}`;
      await s.call('POST', `${path}/labels`, { body: { label: 'PURPOSE_ALIGNED' } });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  // What is learnt from the history was learnt before somebody edits it.
  const { rows } = await s.sql('select max(seq)::int as seq from ledger_events where workspace_id = $1', [
    s.workspace_id,
  ]);
  const db = pools.get('one connection') as pg.Pool;
  await until(async () => (await getWatermark(db, 'learning', s.workspace_id)) >= rows[0].seq);
});
test.afterAll(async () => {
  for (const pool of pools.values()) await pool.end();
});

const verify = (pool: pg.Pool, since = 0) =>
  verifyLedger(pool, s.workspace_id, { since, keys: [key], checkpoint_dir: NO_CHECKPOINT_FILES, names });
const shown = (found: Awaited<ReturnType<typeof verify>>) => ({
  events_checked: found.events_checked,
  // Which of them the service had signed by now is chance.
  breaks: found.breaks.flatMap(({ seq, kind, detail }) => (/signed/.test(detail) ? [] : [`${seq} ${kind}`])),
});

/** Does something to the history behind the service's back, and undoes it. */
async function afterDoing(change: string, look: () => Promise<void>): Promise<void> {
  const tables = ['ledger_events', 'decision_states', 'expiring_holds'];
  for (const table of tables) await s.sql(`create table kept_${table} as table ${table}`);
  try {
    await s.sql(change.replaceAll(/\bW\b/g, `'${s.workspace_id}'`));
    await look();
  } finally {
    for (const table of tables) {
      await s.sql(`truncate ${table}; insert into ${table} table kept_${table}; drop table kept_${table}`);
    }
  }
}

describe.each(['one connection', 'two connections'])('on %s', (name) => {
  const pool = () => pools.get(name) as pg.Pool;

  test('a long history is valid from wherever on', async () => {
    const whole = await verify(pool());
    expect(shown(whole)).toEqual({ events_checked: whole.head.seq, breaks: [] });
    expect(whole.head.seq).toBeGreaterThan(DECISIONS * 1.1);
    for (const since of [1, 499, 500, 501, 1_700, whole.head.seq - 1, whole.head.seq]) {
      expect(shown(await verify(pool(), since))).toEqual({
        events_checked: whole.head.seq - since,
        breaks: [],
      });
    }
  });

  test.each([
    ['one event is missing', 'seq = 250', ['250 GAP']],
    ['the last event of a page is missing', 'seq = 500', ['500 GAP']],
    ['events are missing over pages', 'seq between 400 and 1600', ['400 GAP']],
    [
      'events are missing in several pages',
      'seq in (3, 502, 1100, 2001)',
      ['3 GAP', '502 GAP', '1100 GAP', '2001 GAP'],
    ],
  ])('%s: found there, and the events behind it are checked', async (_, which, expected) => {
    const { rows } = await s.sql(
      `select count(*)::int as count from ledger_events where workspace_id = $1 and not (${which})`,
      [s.workspace_id],
    );
    await afterDoing(`delete from ledger_events where workspace_id = W and ${which}`, async () => {
      const found = shown(await verify(pool()));
      expect(found.events_checked).toBe(rows[0].count);
      expect(found.breaks.filter((each) => each.endsWith('GAP'))).toEqual(expected);
      // The rows that lost their events belong to none.
      expect(new Set(found.breaks.map((each) => each.split(' ')[1]))).toEqual(
        new Set(['GAP', 'ROW_MISMATCH']),
      );
    });
  });

  test('places beyond all numbers of ours are a gap, however many pages of them there are', async () => {
    await afterDoing(
      `insert into ledger_events select workspace_id, 9223372036854773000 + seq, id, type, subject_type, subject_id,
        occurred_at, data_hash, prev_hash, hash from ledger_events where workspace_id = W and seq <= 1700`,
      async () => {
        const found = await verify(pool());
        expect(found.valid).toBe(false);
        expect(found.events_checked).toBe(found.head.seq + 1_700);
        expect([found.first_break_seq, found.breaks[0]?.kind]).toEqual([found.head.seq + 1, 'GAP']);
      },
    );
  });

  test('more than can be told: the first are', async () => {
    const { rows } = await s.sql(
      `select min(e.seq)::int as first, count(*)::int as count from ledger_events e join decision_states s
        on s.workspace_id = e.workspace_id and s.decision_id = e.subject_id where e.workspace_id = $1`,
      [s.workspace_id],
    );
    expect(rows[0].count).toBeGreaterThan(700);
    await afterDoing(
      'truncate decision_states; delete from expiring_holds where workspace_id = W',
      async () => {
        const { breaks, first_break_seq } = await verify(pool());
        expect([breaks.length, first_break_seq]).toEqual([1_000, rows[0].first]);
        expect(breaks.map((each) => each.seq)).toEqual(breaks.map((each) => each.seq).sort((a, b) => a - b));
      },
    );
  });

  test('an edit in each page is found at its place', async () => {
    // The last decision and the last label of a page among them: what follows in their tables is on the next page.
    const { rows } = await s.sql(
      `select max(seq)::int as seq from ledger_events where workspace_id = $1 and seq <= 2500
        and type in ('decision.created', 'decision.label.recorded') group by (seq - 1) / 500, type order by 1`,
      [s.workspace_id],
    );
    const seqs = [...new Set([11, 510, 1_015, 1_999, ...rows.map(({ seq }) => seq as number)])].sort(
      (a, b) => a - b,
    );
    expect(rows).toHaveLength(10);
    await afterDoing(
      `update ledger_events set id = id || 'x' where workspace_id = W and seq in (${seqs.join(', ')})`,
      async () => {
        const found = shown(await verify(pool()));
        expect(found.breaks).toEqual(seqs.map((seq) => `${seq} ENTRY_ALTERED`));
      },
    );
  });
});

test('the core of a document is what the whole says, whatever people wrote into it', async () => {
  const db = pools.get('one connection') as pg.Pool;
  const { rows } = await s.sql('select decision_id from decisions where workspace_id = $1', [s.workspace_id]);
  const ids = rows.map((row) => row.decision_id as string);
  const cores = await loadDecisionCores(db, s.workspace_id, ids);
  const whole = await loadDecisionRecords(
    db,
    ids.map((decision_id) => ({ workspace_id: s.workspace_id, decision_id })),
  );
  const by_id = new Map(whole.map((each) => [each.decision.decision_id, each]));
  expect(cores.length).toBe(DECISIONS);
  for (const { decision, state } of cores) {
    const expected = by_id.get(decision.decision_id);
    expect(state).toEqual(expected?.state);
    expect(expected?.decision).toMatchObject(decision);
    expect(Object.keys(decision)).toEqual(
      expect.arrayContaining([
        'decision_id',
        'decision',
        'review_state',
        'authorized_amount_minor',
        'currency',
        'mode',
      ]),
    );
    expect(Object.keys(decision)).toEqual(
      expect.arrayContaining(['reservation', 'capability', 'agent', 'action']),
    );
    expect(Object.keys(decision)).not.toContain('policy_trace');
  }
});
