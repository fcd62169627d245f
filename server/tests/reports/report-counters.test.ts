import type { Decision } from '@purser/contract/decisions';
import type { IdKind } from '@purser/contract/ids';
import { OPERATOR } from '@purser/rules/domain/audit';
import { apply } from '@purser/rules/domain/decision-history';
import { type DecisionState, initialState } from '@purser/rules/domain/decision-states';
import { judgeOutcome, type Outcome, summarizeOutcomes } from '@purser/rules/domain/outcomes';
import { makeIdsAt } from '@purser/rules/values/ids';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgent } from '../../src/engine/commands/create-agent.ts';
import { followNext } from '../../src/engine/followers/follow-chains.ts';
import { getWatermark } from '../../src/engine/followers/follower-rows.ts';
import { sumOverview } from '../../src/engine/reports/overview.ts';
import { loadOverviewSources } from '../../src/engine/reports/read-overview.ts';
import { loadReportSources } from '../../src/engine/reports/read-shadow-report.ts';
import { loadSpending, type SpendingBy } from '../../src/engine/reports/read-spending.ts';
import { rollUpDecisions } from '../../src/engine/reports/roll-up-decisions.ts';
import { sumCounters } from '../../src/engine/reports/shadow-report.ts';
import { sumSpending } from '../../src/engine/reports/spending.ts';
import { putDecisionStates } from '../../src/engine/storage/decision-states.ts';
import { insertDecisions } from '../../src/engine/storage/decisions.ts';
import { insertLabels } from '../../src/engine/storage/labels.ts';
import { insertOutcomes } from '../../src/engine/storage/outcomes.ts';
import { insertReviews } from '../../src/engine/storage/reviews.ts';
import { addWorkspace, type Core } from '../../src/service/installation/runtime.ts';
import { naiveOverview, naiveReport, naiveSpending, type SeenDecision } from '../support/naive-report.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore } from '../support/running-service.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

const HOUR_MS = 3_600_000;
/** REPORT_RUNS makes a longer run. */
const RUNS = Number(process.env.REPORT_RUNS);
/** The middle of a day, in a month that nothing else is in. */
const BEGIN_MS = Date.parse('2026-03-28T12:00:00.000Z');
const REASONS = [
  ['WITHIN_AUTHORITY'],
  ['AMOUNT_LIMITED'],
  ['PURPOSE_UNCLEAR', 'REVIEW_THRESHOLD_EXCEEDED'],
  ['PURPOSE_MISALIGNED'],
  ['MERCHANT_BLOCKED', 'PURPOSE_MISALIGNED'],
  ['NO_AUTHORITY'],
];
const KINDS = ['ALLOW', 'ALLOW', 'REVIEW', 'REVIEW', 'DENY', 'DENY'] as const;
const PURPOSES = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'] as const;

let database: TestDatabase;
let core: Core;

beforeAll(async () => {
  database = await createMigratedDatabase();
  core = makeTestCore(database.connection);
});
afterAll(async () => {
  await core.close();
  await database.drop();
});

/** Adds up a page of so many events; nothing may be left out. Whether there is more. */
const rollUpNext = (node: Core, workspace_id: string, max_events: number) =>
  followNext(node.followers_db, rollUpDecisions, workspace_id, {
    max_events,
    onSkip: ({ error }) => {
      throw error;
    },
  });

/** Adds up everything. */
async function rollUpAll(workspace_id: string): Promise<void> {
  while (await rollUpNext(core, workspace_id, 500));
}

/** A workspace whose history is written by hand, at moments of the test's choosing. */
async function makeHistory() {
  const { workspace_id } = await addWorkspace(core, {
    name: 'W',
    plan: 'enterprise',
    trial_days: null,
    by: 'operator',
  });
  const origin = { actor: OPERATOR, request_id: null, client_address: null };
  const agents: string[] = [];
  for (const slug of ['one', 'two', 'three']) {
    const agent = await core.lane.submit(workspace_id, createAgent, { slug }, origin);
    agents.push(agent.agent_id);
  }
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  let now_ms = BEGIN_MS;
  const states = new Map<string, { decision: Decision; state: DecisionState; reports: Outcome[] }>();
  const seen: SeenDecision[] = [];

  /** Everything that one event brings, in one transaction, as the lane writes it. */
  async function write(
    type: string,
    subject: string,
    id: string,
    work: (client: pg.PoolClient) => Promise<unknown>,
  ): Promise<void> {
    const client = await core.db.connect();
    try {
      await client.query('begin');
      await work(client);
      await client.query(
        `with head as (update ledger_heads set seq = seq + 1 where workspace_id = $1 returning seq)
        insert into ledger_events select $1, seq, $2, $3, $4, $5, $6, '\\x00', '\\x00', '\\x00' from head`,
        [workspace_id, `evt_${id}`, type, subject, id, new Date(now_ms).toISOString()],
      );
      await client.query('commit');
    } finally {
      client.release();
    }
  }
  const newId = (kind: IdKind) => makeIdsAt(now_ms, random)(kind);

  return {
    workspace_id,
    agents,
    seen,
    pass(ms: number) {
      now_ms += ms;
    },
    async decide(pick: {
      agent: number;
      kind: number;
      merchant: number;
      amount: number;
      enforce: boolean;
      usd: boolean;
    }) {
      now_ms += 1;
      const decision_id = newId('decision');
      const agent_id = agents[pick.agent] as string;
      const decision = KINDS[pick.kind] as Decision['decision'];
      const reason_codes = REASONS[pick.kind] as Decision['reason_codes'];
      const assessment = PURPOSES[(pick.kind + pick.merchant) % 3] as (typeof PURPOSES)[number];
      const merchant = `Merchant ${pick.merchant}`;
      const currency = pick.usd ? 'USD' : 'EUR';
      const mode = pick.enforce ? 'ENFORCE' : 'SHADOW';
      const created_at = new Date(now_ms).toISOString();
      const holds = decision !== 'DENY';
      const made = {
        decision_id,
        decision,
        mode,
        reason_codes,
        purpose: { assessment },
        currency,
        agent: { id: agent_id },
        action: { merchant },
        review_state: decision === 'REVIEW' ? 'PENDING' : null,
        reservation: {
          reservation_id: null,
          status: holds ? 'HELD' : 'NONE',
          amount_minor: holds ? pick.amount : 0,
          currency,
          period: created_at.slice(0, 7),
          expires_at: null,
        },
        capability: null,
      } as unknown as Decision;
      const document = JSON.stringify(made);
      const row = {
        decision_id,
        agent_id,
        idempotency_key: decision_id,
        request_hash: Buffer.alloc(32),
        decision,
        mode,
        reason_codes,
        merchant,
        requested_amount_minor: pick.amount,
        currency,
        created_at,
        document,
        core: null,
        live_at: [],
      } as const;
      await write('decision.created', 'decision', decision_id, (client) =>
        insertDecisions(client, [{ workspace_id, rows: [row as never] }]),
      );
      states.set(decision_id, { decision: made, state: initialState(made), reports: [] });
      seen.push({
        decision_id,
        agent_id,
        decision,
        mode,
        reason_codes,
        merchant,
        amount_minor: pick.amount,
        currency,
        created_at,
        assessment,
        review_state: decision === 'REVIEW' ? 'PENDING' : null,
        first_review_at: null,
        by_key_maker: false,
        label: null,
        outcome_state: 'NONE',
        executed_minor: 0,
      });
    },
    async review(index: number, action: 'ALLOW' | 'DENY') {
      const one = seen[index % Math.max(1, seen.length)];
      if (one === undefined || one.decision !== 'REVIEW') return;
      now_ms += 1;
      const kept = states.get(one.decision_id) as NonNullable<ReturnType<typeof states.get>>;
      const review = {
        review_id: newId('review'),
        decision_id: one.decision_id,
        action,
        reason_code: 'X',
        comment: null,
        supersedes: kept.state.review_id,
        principal_id: null,
        key_id: 'key_1',
        questions: [],
        remember: null,
        signature: null,
        via: null,
        created_at: new Date(now_ms).toISOString(),
        by_key_maker: index % 3 === 0,
        on_behalf_of: null,
        voice: null,
        capability_expires_at: null,
      };
      kept.state = apply(kept, { type: 'decision.review.recorded', at: review.created_at, review }).state;
      await write('decision.review.recorded', 'review', review.review_id, async (client) => {
        await insertReviews(client, [{ workspace_id, rows: [review] }]);
        await putDecisionStates(client, [{ workspace_id, rows: [kept.state] }]);
      });
      one.review_state = action === 'ALLOW' ? 'ALLOWED' : 'DENIED';
      one.first_review_at ??= review.created_at;
      one.by_key_maker = review.by_key_maker;
    },
    async label(index: number, which: number) {
      const one = seen[index % Math.max(1, seen.length)];
      if (one === undefined) return;
      now_ms += 1;
      const kept = states.get(one.decision_id) as NonNullable<ReturnType<typeof states.get>>;
      const label = {
        label_id: newId('label'),
        decision_id: one.decision_id,
        label: PURPOSES[which] as (typeof PURPOSES)[number],
        comment: null,
        supersedes: null,
        principal_id: null,
        key_id: 'key_1',
        questions: [],
        created_at: new Date(now_ms).toISOString(),
      };
      kept.state = { ...kept.state, label_id: label.label_id };
      await write('decision.label.recorded', 'label', label.label_id, async (client) => {
        await insertLabels(client, [{ workspace_id, rows: [label] }]);
        await putDecisionStates(client, [{ workspace_id, rows: [kept.state] }]);
      });
      one.label = label.label;
    },
    async outcome(index: number, type: Outcome['type'], amount: number, rail: boolean) {
      const one = seen[index % Math.max(1, seen.length)];
      if (one === undefined) return;
      const kept = states.get(one.decision_id) as NonNullable<ReturnType<typeof states.get>>;
      const report = {
        type,
        amount_minor: amount,
        currency: one.currency,
        external_reference: null,
        source: rail ? ('PAYMENT_RAIL' as const) : ('CLIENT_REPORTED' as const),
      };
      const judged = judgeOutcome(kept.reports, report);
      if (!judged.ok) return;
      now_ms += 1;
      const at = new Date(now_ms).toISOString();
      const outcome: Outcome = {
        ...report,
        amount_minor: judged.amount_minor,
        outcome_id: newId('outcome'),
        decision_id: one.decision_id,
        occurred_at: at,
        key_id: 'key_1',
        principal_id: null,
        recorded_at: at,
        flags: [],
        usage: null,
      };
      kept.state = apply(kept, { type: 'decision.outcome.recorded', at, report: outcome }).state;
      kept.reports.push(outcome);
      await write('decision.outcome.recorded', 'outcome', outcome.outcome_id, async (client) => {
        await insertOutcomes(client, [{ workspace_id, rows: [outcome] }]);
        await putDecisionStates(client, [{ workspace_id, rows: [kept.state] }]);
      });
      one.outcome_state = kept.state.outcome_state;
      one.executed_minor = summarizeOutcomes(kept.reports).executed_minor;
    },
    async report(asked: { from: string; to: string; agent_id: string | null }) {
      const sources = await loadReportSources(core.reports_db, workspace_id, asked);
      return sumCounters(sources?.counters ?? [], { max_merchants: 20, agent_id: asked.agent_id });
    },
    async spending(asked: { from: string; to: string; agent_id: string | null; by: SpendingBy }) {
      const { now, before } = await loadSpending(core.reports_db, workspace_id, { ...asked, max_parts: 3 });
      return sumSpending(now, before, { max_parts: 3 });
    },
    async overview(asked: { from: string; to: string; agent_id: string | null }) {
      const { counters } = await loadOverviewSources(core.reports_db, workspace_id, asked);
      return sumOverview(counters, { max_merchants: 20, agent_id: asked.agent_id });
    },
  };
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('decide' as const),
      agent: fc.nat(2),
      kind: fc.nat(5),
      merchant: fc.nat(60),
      // Twice the largest is beyond what a JSON number carries.
      amount: fc.oneof(fc.integer({ min: 1, max: 9_999 }), fc.constant(Number.MAX_SAFE_INTEGER)),
      enforce: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
      usd: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('review' as const), index: fc.nat(), allow: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('label' as const), index: fc.nat(), which: fc.nat(2) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('outcome' as const),
      index: fc.nat(),
      type: fc.constantFrom(
        'SPEND_EXECUTED',
        'SPEND_FAILED',
        'PARTIALLY_REFUNDED',
        'REFUNDED',
        'SPEND_EXECUTED',
      ),
      amount: fc.integer({ min: 1, max: 500 }),
      rail: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 20 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('roll_up' as const), limit: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('report' as const),
      from_h: fc.integer({ min: -30, max: 300 }),
      hours: fc.integer({ min: 1, max: 300 }),
      whole: fc.boolean(),
      /** The bounds are moments at which decisions were made. */
      at: fc.option(fc.tuple(fc.nat(), fc.nat())),
      agent: fc.option(fc.nat(2)),
    }),
  },
);

describe('the report', () => {
  test('is the sum over all decisions, for every history, period, agent and however much was added up', async () => {
    let reports = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 120 }), async (steps) => {
        const history = await makeHistory();
        const check = async (asked: { from: string; to: string; agent_id: string | null }) => {
          reports += 1;
          expect(await history.report(asked)).toEqual(naiveReport(history.seen, asked));
          expect(await history.overview(asked)).toEqual(naiveOverview(history.seen, asked));
          for (const by of ['agent', 'merchant'] as const) {
            const spending = { ...asked, by };
            expect(await history.spending(spending)).toEqual(naiveSpending(history.seen, spending, 3));
          }
        };
        for (const each of steps) {
          switch (each.what) {
            case 'decide':
              await history.decide(each);
              break;
            case 'review':
              await history.review(each.index, each.allow ? 'ALLOW' : 'DENY');
              break;
            case 'label':
              await history.label(each.index, each.which);
              break;
            case 'outcome':
              await history.outcome(each.index, each.type as Outcome['type'], each.amount, each.rail);
              break;
            case 'pass':
              history.pass(each.hours * HOUR_MS);
              break;
            case 'roll_up':
              await rollUpNext(core, history.workspace_id, each.limit);
              break;
            case 'report': {
              const agent_id = each.agent === null ? null : (history.agents[each.agent] as string);
              const moments = (each.at ?? []).flatMap(
                (n) => history.seen[n % Math.max(1, history.seen.length)]?.created_at ?? [],
              );
              const [from, to] = moments.sort();
              if (from !== undefined && to !== undefined && from < to) await check({ from, to, agent_id });
              const grain = each.whole ? 24 * HOUR_MS : 1_237_017;
              const round = (ms: number) => Math.floor(ms / grain) * grain;
              const from_ms = round(BEGIN_MS + each.from_h * HOUR_MS);
              await check({
                from: new Date(from_ms).toISOString(),
                to: new Date(from_ms + Math.max(grain, round(each.hours * HOUR_MS))).toISOString(),
                agent_id,
              });
            }
          }
        }
        const always = { from: '2026-03-01T00:00:00.000Z', to: '2026-07-01T00:00:00.000Z', agent_id: null };
        await check(always);
        await rollUpAll(history.workspace_id);
        await check(always);
        await check({ ...always, agent_id: history.agents[0] as string });
      }),
      { numRuns: RUNS, seed: 5, endOnFailure: true },
    );
    expect(reports).toBeGreaterThan(4 * RUNS);
  });
});

test('the first merchants are the right ones where those added up and those not yet added up differ', async () => {
  const history = await makeHistory();
  const decide = async (merchant: number, times: number) => {
    for (let i = 0; i < times; i++) {
      const enforce = i % 4 === 1;
      await history.decide({ agent: i % 3, kind: i % 6, merchant, amount: 1, enforce, usd: false });
    }
  };
  for (let merchant = 0; merchant < 40; merchant++) await decide(merchant, 1 + (merchant % 4));
  await rollUpNext(core, history.workspace_id, 1_000);
  // From far behind to the front, to the edge, and new.
  await decide(0, 6);
  await decide(4, 1);
  await decide(8, 2);
  await decide(99, 4);
  const asked = { from: '2026-03-01T00:00:00.000Z', to: '2026-07-01T00:00:00.000Z', agent_id: null };
  const report = await history.report(asked);
  expect(report.by_merchant).toHaveLength(20);
  expect(report).toEqual(naiveReport(history.seen, asked));
  expect(await history.overview(asked)).toEqual(naiveOverview(history.seen, asked));
});

describe('adding up', () => {
  test('two nodes at once count every event once', async () => {
    const history = await makeHistory();
    for (let i = 0; i < 120; i++) {
      await history.decide({
        agent: i % 3,
        kind: i % 6,
        merchant: i % 7,
        amount: i + 1,
        enforce: false,
        usd: false,
      });
      if (i % 5 === 0) await history.label(i, i % 3);
    }
    const other = makeTestCore(database.connection);
    try {
      const head = (
        await core.db.query('select seq from ledger_heads where workspace_id = $1', [history.workspace_id])
      ).rows[0].seq;
      let more = [true];
      while (more.includes(true)) {
        more = await Promise.all(
          [core, other, core, other].map((node) => rollUpNext(node, history.workspace_id, 7)),
        );
      }
      expect(await getWatermark(core.db, 'report', history.workspace_id)).toBe(head);
    } finally {
      await other.close();
    }
    const asked = { from: '2026-03-01T00:00:00.000Z', to: '2026-07-01T00:00:00.000Z', agent_id: null };
    expect(await history.report(asked)).toEqual(naiveReport(history.seen, asked));
  });

  test('the sums can be thrown away: everything is added up again', async () => {
    const history = await makeHistory();
    const asked = { from: '2026-03-01T00:00:00.000Z', to: '2026-07-01T00:00:00.000Z', agent_id: null };
    for (let i = 0; i < 20; i++) {
      await history.decide({
        agent: 0,
        kind: i % 6,
        merchant: i % 7,
        amount: 10,
        enforce: false,
        usd: false,
      });
      await history.label(i, i % 3);
    }
    await rollUpNext(core, history.workspace_id, 25);
    const client = new pg.Client({ ...database.connection });
    await client.connect();
    for (const table of ['report_watermarks', 'report_counters', 'report_counted']) {
      await client.query(`delete from ${table} where workspace_id = $1`, [history.workspace_id]);
    }
    await client.end();
    expect(await history.report(asked)).toEqual(naiveReport(history.seen, asked));
    await rollUpAll(history.workspace_id);
    expect(await history.report(asked)).toEqual(naiveReport(history.seen, asked));
  });

  test('a report is refused for a while, not slow, where very much has not been added up', async () => {
    const history = await makeHistory();
    await core.db.query('update ledger_heads set seq = seq + 300000 where workspace_id = $1', [
      history.workspace_id,
    ]);
    const asked = { from: '2026-03-01T00:00:00.000Z', to: '2026-07-01T00:00:00.000Z', agent_id: null };
    await expect(history.report(asked)).rejects.toMatchObject({ code: 'unavailable', retry_after_s: 60 });
  });

  test('a node that dies before it has committed leaves nothing behind', async () => {
    const history = await makeHistory();
    for (let i = 0; i < 20; i++) {
      await history.decide({
        agent: 0,
        kind: i % 6,
        merchant: i % 7,
        amount: 10,
        enforce: false,
        usd: false,
      });
    }
    const { workspace_id } = history;
    // The watermark is written last: a row that cannot be written fails after all sums were sent.
    const client = new pg.Client({ ...database.connection });
    await client.connect();
    await client.query(
      `alter table report_watermarks add constraint never check (workspace_id <> '${workspace_id}' or seq = 0)`,
    );
    try {
      await expect(rollUpNext(core, workspace_id, 100)).rejects.toThrow(/never/);
      const { rows } = await core.db.query('select 1 from report_counters where workspace_id = $1', [
        workspace_id,
      ]);
      expect(rows).toEqual([]);
    } finally {
      await client.query('alter table report_watermarks drop constraint never');
      await client.end();
    }
    const asked = { from: '2026-03-01T00:00:00.000Z', to: '2026-07-01T00:00:00.000Z', agent_id: null };
    expect(await history.report(asked)).toEqual(naiveReport(history.seen, asked));
    await rollUpNext(core, workspace_id, 100);
    expect(await history.report(asked)).toEqual(naiveReport(history.seen, asked));
  });
});
