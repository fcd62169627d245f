import { createHash } from 'node:crypto';
import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { Agent } from '@purser/rules/domain/agents';
import { OPERATOR } from '@purser/rules/domain/audit';
import { authorityHash } from '@purser/rules/domain/authorities';
import { AnswersRead, NO_ANSWERS } from '@purser/rules/domain/question-history';
import { EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import { HISTORY_NAMES as names } from '@purser/rules/purpose/history';
import type pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAgent } from '../../src/engine/commands/create-agent.ts';
import { createAuthority } from '../../src/engine/commands/create-authority.ts';
import { type CreateDecisionInput, makeCreateDecision } from '../../src/engine/commands/create-decision.ts';
import { createOutcome } from '../../src/engine/commands/create-outcome.ts';
import { type Command, done, refuse } from '../../src/engine/lane/command.ts';
import { BrokenInvariant, type Invariant } from '../../src/engine/lane/invariants.ts';
import { type Lane, makeLane } from '../../src/engine/lane/lane.ts';
import type { WorkingSet } from '../../src/engine/lane/working-set.ts';
import { makeWriteHealth } from '../../src/engine/lane/write-health.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import { verifyLedger } from '../../src/engine/verification/verify-ledger.ts';
import { readPastSpends } from '../../src/service/decisions/read-past-spends.ts';
import { addWorkspace, type Core } from '../../src/service/installation/runtime.ts';
import { TRUSTING_CLOCK } from '../support/clock.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore, NO_CHECKPOINT_FILES } from '../support/running-service.ts';

const TTL_S = 600;
const AUTHORITY: Authority = {
  purpose: { objective: 'Keep the staging servers running.' },
  currency: 'EUR',
  monthly_budget_minor: 100_000,
  review_threshold_minor: 1_000,
  velocity_limits: [{ name: 'daily', window: 'DAY', limit_amount_minor: 50_000 }],
};
const ASSESSMENT = {
  assessment: 'PURPOSE_ALIGNED' as const,
  confidence: 1,
  method: 'test/1',
  rationale: 'It fits.',
  evidence: [],
  vouched_by: null,
  is_final: false,
};
const origin = { actor: { ...OPERATOR, key_id: null }, request_id: null, client_address: null };
const createDecision = makeCreateDecision({ review_ttl_seconds: TTL_S, capability_ttl_seconds: TTL_S });
/** Its holds have expired as soon as they are made. */
const createExpired = makeCreateDecision({ review_ttl_seconds: -TTL_S, capability_ttl_seconds: TTL_S });

let database: TestDatabase;
let core: Core;
let pool: pg.Pool;
let lane: Lane;
let workspace_id: string;
let agent: Agent;
let keys = 0;
/** The lines that the lane logged, and the errors that it reported to metrics and readiness. */
let logged: { level: number; msg: string; invariant?: string; commands?: string[] }[] = [];
let failures: unknown[] = [];

beforeAll(async () => {
  database = await createMigratedDatabase();
  core = makeTestCore(database.connection);
  pool = makePool(database.connection, {
    max: 4,
    pipeline: true,
    onBroken: () => {},
    role: 'purser_service',
  });
  lane = newLane();
});
/** A lane that knows no rows yet. */
const newLane = () =>
  makeLane({
    pool,
    log: pino({ level: 'error' }, { write: (line) => logged.push(JSON.parse(line)) }),
    random: Math.random,
    clock: TRUSTING_CLOCK,
    now_ms: () => performance.now(),
    observeBatch: () => {},
    onFailed: (error) => failures.push(error),
  });
beforeEach(async () => {
  const begun = await addWorkspace(core, { name: 'W', plan: 'enterprise', trial_days: null, by: 'operator' });
  workspace_id = begun.workspace_id;
  agent = await lane.submit(workspace_id, createAgent, { slug: 'buyer', mode: 'ENFORCE' }, origin);
  const past = await readPastSpends(core.db, workspace_id, agent, AUTHORITY);
  const first = { agent: 'buyer', authority: AUTHORITY, note: null, expected_hash: null, past };
  await lane.submit(workspace_id, createAuthority, first, origin);
  logged = [];
  failures = [];
});
afterAll(async () => {
  await lane.drain();
  await pool.end();
  await core.close();
  await database.drop();
});

const spend = (amount_minor: number): CreateDecisionInput => ({
  agent_id: agent.agent_id,
  bound: false,
  request: {
    action: {
      type: 'purchase',
      merchant: 'hetzner.com',
      amount_minor,
      currency: 'EUR',
      description: 'A server',
    },
  },
  idempotency_key: `k${++keys}`,
  request_hash: createHash('sha256').update(`${amount_minor}`).digest(),
  assessed: {
    authority_hash: authorityHash(AUTHORITY),
    authority: AUTHORITY,
    directory: EMPTY_DIRECTORY,
    answers: new AnswersRead(NO_ANSWERS),
    questions: [],
    assessment: ASSESSMENT,
  },
});
const decide = async (amount_minor: number, command = createDecision) =>
  JSON.parse(
    ((await lane.submit(workspace_id, command, spend(amount_minor), origin)) as { document: string })
      .document,
  ) as Decision;

/** A command that does something to the working set which no command may do. */
const doing = (act: (set: WorkingSet) => void): Command<unknown, unknown> => ({
  name: 'broken',
  needs: () => ({}),
  apply(set) {
    act(set);
    return done(null);
  },
});
/** The real decision of a spend, made wrong on its way into the working set. */
const decidingWrongly = (spoil: (decision: Decision) => Decision): Command<unknown, unknown> => ({
  name: 'broken',
  needs: (input) => createDecision.needs(input as CreateDecisionInput),
  apply(set, input, from) {
    const addDecision = set.addDecision.bind(set);
    set.addDecision = (row, decision) => addDecision(row, spoil(decision));
    return createDecision.apply(set, input as CreateDecisionInput, from) as never;
  },
});

const BROKEN: readonly [what: string, invariant: Invariant, command: Command<unknown, unknown>][] = [
  [
    'holds less than nothing',
    'budget_below_zero',
    doing((set) => set.putBudget({ ...set.budget(agent.agent_id, '2026-11', 'EUR'), held_minor: -1 })),
  ],
  [
    'has spent less than nothing',
    'budget_below_zero',
    doing((set) => set.putBudget({ ...set.budget(agent.agent_id, '2026-11', 'EUR'), committed_minor: -1 })),
  ],
  [
    'holds an amount that is no number',
    'budget_below_zero',
    doing((set) =>
      set.putBudget({ ...set.budget(agent.agent_id, '2026-11', 'EUR'), held_minor: Number.NaN }),
    ),
  ],
  [
    'leaves a gap in the chain',
    'event_not_next',
    doing((set) => {
      set.append('agent.created', 'agent', 'agt_x', Buffer.alloc(32));
      const event = set.changes.events.pop();
      if (event !== undefined) set.changes.events.push({ ...event, seq: event.seq + 1 });
    }),
  ],
  [
    'continues another chain',
    'event_not_next',
    doing((set) => {
      set.append('agent.created', 'agent', 'agt_x', Buffer.alloc(32));
      const event = set.changes.events.pop();
      if (event !== undefined) set.changes.events.push({ ...event, prev_hash: Buffer.alloc(32, 1) });
    }),
  ],
  [
    'takes an event back',
    'event_not_next',
    doing((set) => {
      set.append('agent.created', 'agent', 'agt_x', Buffer.alloc(32));
      set.changes.events.pop();
    }),
  ],
  [
    'adds a decision without its event',
    'decision_not_sealed',
    doing((set) => set.changes.decisions.push({ decision_id: 'dec_x' } as never)),
  ],
  [
    'publishes without webhooks',
    'published_without_webhooks',
    doing((set) => set.publish('decision.created', '{}', 'evt_x')),
  ],
  [
    'changes something and is refused',
    'change_without_success',
    {
      ...doing(() => {}),
      apply(set) {
        set.append('agent.created', 'agent', 'agt_x', Buffer.alloc(32));
        return refuse('not_found', 'No.');
      },
    },
  ],
  [
    'counts in a slot that is over',
    'slot_without_now',
    decidingWrongly((decision) => ({
      ...decision,
      reservation: {
        ...decision.reservation,
        limits: decision.reservation.limits?.map((limit) => ({
          ...limit,
          window: {
            ...limit.window,
            starts_at: '2020-01-01T00:00:00.000Z',
            ends_at: '2020-01-02T00:00:00.000Z',
          },
        })),
      } as Decision['reservation'],
    })),
  ],
  [
    'authorizes more than it holds',
    'hold_not_of_decision',
    decidingWrongly((decision) => ({
      ...decision,
      reservation: { ...decision.reservation, amount_minor: decision.reservation.amount_minor - 1 },
    })),
  ],
  [
    'authorizes more than was asked for',
    'hold_not_of_decision',
    decidingWrongly((decision) => ({
      ...decision,
      authorized_amount_minor: decision.authorized_amount_minor + 1,
      reservation: { ...decision.reservation, amount_minor: decision.reservation.amount_minor + 1 },
    })),
  ],
];

const rowsOf = async (sql: string) => (await core.db.query({ text: sql, values: [workspace_id] })).rows;
const verify = () =>
  verifyLedger(core.ledger_db, workspace_id, {
    since: 0,
    keys: core.secrets.verifyingKeys,
    checkpoint_dir: NO_CHECKPOINT_FILES,
    names,
  });

describe('a command that breaks an invariant', () => {
  test.each(BROKEN)(
    'and %s is refused before the commit, alone and loudly',
    async (_what, invariant, command) => {
      const before = await rowsOf('select seq from ledger_heads where workspace_id = $1');
      // The first occupies the lane, so that the others share the batch after it.
      const first = lane.submit(workspace_id, createAgent, { slug: 'first' }, origin);
      const shared = [
        lane.submit(workspace_id, createDecision, spend(100), origin),
        lane.submit(workspace_id, command, spend(200), origin),
        lane.submit(workspace_id, createDecision, spend(400), origin),
      ];
      await first;
      const answers = await Promise.allSettled(shared);
      expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(answers[1]).toMatchObject({
        reason: { code: 'internal_error', cause: expect.any(BrokenInvariant) },
      });
      expect(logged).toEqual([expect.objectContaining({ level: 50, invariant, commands: ['broken'] })]);
      expect(failures).toEqual([expect.objectContaining({ invariant })]);
      const [budget] = await rowsOf(
        'select held_minor, committed_minor from budgets where workspace_id = $1',
      );
      expect(budget).toEqual({ held_minor: 500, committed_minor: 0 });
      const after = await rowsOf('select seq from ledger_heads where workspace_id = $1');
      expect(after[0]?.seq - before[0]?.seq).toBe(3);
      expect((await verify()).valid).toBe(true);
    },
  );

  test('says nothing about the database, so the process stays ready', () => {
    const health = makeWriteHealth({ now_ms: () => 0, write: async () => {} });
    for (let i = 0; i < 5; i++) health.noteFailure(new BrokenInvariant('budget_below_zero', 'a test'));
    expect(() => health.check()).not.toThrow();
  });
});

test('a record that would count for less than nothing is refused before the commit', async () => {
  const { decision_id } = await decide(100);
  const label: Command<unknown, unknown> = {
    name: 'broken',
    needs: () => ({ decisions: [decision_id] }),
    apply(set) {
      const history = set.records.history.bind(set.records);
      set.records.history = (id) => {
        const found = history(id);
        return { ...found, state: { ...found.state, amount_minor: -5 } };
      };
      set.records.addLabel({
        label_id: set.newId('label'),
        decision_id,
        questions: [],
        created_at: set.now,
      } as never);
      return done(null);
    },
  };
  const refused = lane.submit(workspace_id, label, null, origin);
  await expect(refused).rejects.toMatchObject({ code: 'internal_error' });
  expect(logged).toEqual([expect.objectContaining({ invariant: 'state_below_zero' })]);
  const [state] = await rowsOf('select held_minor, committed_minor from budgets where workspace_id = $1');
  expect(state).toEqual({ held_minor: 100, committed_minor: 0 });
  expect((await verify()).valid).toBe(true);
});

describe('a counter that was changed beside the lane', () => {
  async function lose() {
    await rowsOf('update budgets set held_minor = 0 where workspace_id = $1');
    lane = newLane();
  }

  test('never goes below zero: what would take more from it is refused, and its neighbours are carried out', async () => {
    const { decision_id } = await decide(100);
    await lose();
    const first = lane.submit(workspace_id, createAgent, { slug: 'first' }, origin);
    const outcome = {
      decision_id,
      only_agent: null,
      type: 'SPEND_FAILED' as const,
      amount_minor: null,
      currency: null,
      external_reference: null,
      occurred_at: null,
      source: 'CLIENT_REPORTED' as const,
      usage: null,
    };
    const shared = [
      lane.submit(workspace_id, createOutcome, outcome, origin),
      lane.submit(workspace_id, createAgent, { slug: 'second' }, origin),
    ];
    await first;
    const [refused, carried_out] = await Promise.allSettled(shared);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'internal_error' } });
    expect(carried_out).toMatchObject({ status: 'fulfilled', value: { slug: 'second' } });
    expect(logged).toEqual([expect.objectContaining({ invariant: 'budget_below_zero' })]);
    expect(await rowsOf('select held_minor from budgets where workspace_id = $1')).toEqual([
      { held_minor: 0 },
    ]);
    expect(await rowsOf('select outcome_id from outcomes where workspace_id = $1')).toEqual([]);
  });

  test('holds no other command back when a hold in it expires', async () => {
    await decide(2_000, createExpired);
    await lose();
    const first = lane.submit(workspace_id, createAgent, { slug: 'first' }, origin);
    const shared = [
      lane.submit(workspace_id, createDecision, spend(100), origin),
      lane.submit(workspace_id, createAgent, { slug: 'second' }, origin),
    ];
    await first;
    const [refused, carried_out] = await Promise.allSettled(shared);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'internal_error' } });
    expect(carried_out).toMatchObject({ status: 'fulfilled', value: { slug: 'second' } });
    expect(logged).toEqual([
      expect.objectContaining({ invariant: 'budget_below_zero', commands: ['createDecision'] }),
    ]);
    expect(await rowsOf('select held_minor from budgets where workspace_id = $1')).toEqual([
      { held_minor: 0 },
    ]);
  });
});
