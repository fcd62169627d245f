import { createHash } from 'node:crypto';
import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import { type Allowance, countersOfAllowance } from '@purser/rules/counters/allowances';
import { counterName, type StoredCounter } from '@purser/rules/counters/counters';
import { OPERATOR, type Origin } from '@purser/rules/domain/audit';
import { AnswersRead, NO_ANSWERS } from '@purser/rules/domain/question-history';
import type { RaisedQuestion } from '@purser/rules/domain/questions';
import { EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import { countersOf } from '@purser/rules/policy/counters';
import fc from 'fast-check';
import type pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAllowances } from '../../src/engine/commands/allowances/create-allowances.ts';
import { updateAllowance } from '../../src/engine/commands/allowances/update-allowance.ts';
import { createBudget } from '../../src/engine/commands/budgets/create-budget.ts';
import { updateBudget } from '../../src/engine/commands/budgets/update-budget.ts';
import { createAgent } from '../../src/engine/commands/create-agent.ts';
import { createApiKey } from '../../src/engine/commands/create-api-key.ts';
import { createAuthority } from '../../src/engine/commands/create-authority.ts';
import {
  type Assessed,
  type CreatedDecision,
  type KnownAuthority,
  makeCreateDecision,
} from '../../src/engine/commands/create-decision.ts';
import { createOutcome } from '../../src/engine/commands/create-outcome.ts';
import { createWebhook } from '../../src/engine/commands/create-webhook.ts';
import { deleteWebhook } from '../../src/engine/commands/delete-webhook.ts';
import { createChannel } from '../../src/engine/commands/notices/create-channel.ts';
import { deleteChannel } from '../../src/engine/commands/notices/delete-channel.ts';
import { updateChannel } from '../../src/engine/commands/notices/update-channel.ts';
import { answerQuestion } from '../../src/engine/commands/questions/answer-question.ts';
import { revokeApiKey } from '../../src/engine/commands/revoke-api-key.ts';
import { updateAgent } from '../../src/engine/commands/update-agent.ts';
import { updateWebhook } from '../../src/engine/commands/update-webhook.ts';
import { Stale } from '../../src/engine/lane/command.ts';
import { KnownRows } from '../../src/engine/lane/known-rows.ts';
import { type Lane, makeLane } from '../../src/engine/lane/lane.ts';
import { KINDS } from '../../src/engine/lane/tables.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import type { WantedCounter } from '../../src/engine/storage/derived/counters.ts';
import { getHead } from '../../src/engine/storage/ledger.ts';
import { withoutWorkspace } from '../../src/engine/storage/rows.ts';
import { addWorkspace, type Core } from '../../src/service/installation/runtime.ts';
import { TRUSTING_CLOCK } from '../support/clock.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/postgres.ts';
import { makeTestCore } from '../support/running-service.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/** A process that serves the database: its lane, what it knows, and the statements that it has sent. */
interface Node {
  lane: Lane;
  known: KnownRows;
  pool: pg.Pool;
  sent: string[];
}

/** How each kind that may be known is asked for by the name of one of its keys. */
const KEY_OF: Record<string, (name: string) => object> = {
  agents: (ref) => ({ ref }),
  authorities: (ref) => ({ ref }),
  budgets: (agent_id) => ({ agent_id }),
  questions: (name) => ({ agent_id: name.split(' ')[0], question_id: name.split(' ')[1] }),
  counters: (name) => wanted.get(name) as WantedCounter,
  keys: (key_id) => ({ key_id }),
  shared_budgets: () => ({}),
  allowances: (allowance_id) => ({ allowance_id }),
  review_policies: () => ({}),
  webhooks: () => ({}),
  channels: () => ({}),
  notice_bursts: (agent_id) => ({ agent_id }),
};
const QUESTION = {
  question_id: 'q_00000000000000000000000000',
  kind: 'new_merchant',
  merchant_key: 'm',
  about: null,
  sentence: 'May it be M?',
  answered: null,
} as const;
const CHANNEL = {
  name: 'Pager',
  type: 'webhook',
  target: 'hooks.example',
  sealed_settings: 'AAAA',
  settings_hash: 'sha256:00',
  filter: null,
  quiet_hours: null,
  show_claims: true,
} as const;
/** The counters that agents count in, by name. */
const wanted = new Map<string, WantedCounter>();
const SEED = Number(process.env.KNOWN_ROWS_SEED ?? 20_261_122);
const RUNS = Number(process.env.KNOWN_ROWS_RUNS);
const IN_A_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();
const by_operator: Origin = { actor: OPERATOR, request_id: null, client_address: null };
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const authorityOf = (monthly_budget_minor: number): Authority => ({
  purpose: { objective: 'Keep the staging servers running.' },
  currency: 'EUR',
  monthly_budget_minor,
  review_threshold_minor: 50,
  velocity_limits: [
    { name: 'minute', window: 'ROLLING', window_seconds: 60, limit_amount_minor: 1_000_000 },
    { name: 'shop', window: 'WEEK', per: 'MERCHANT', limit_count: 1_000 },
  ],
});
const actionOf = (amount_minor: number) => ({
  type: 'purchase',
  merchant: 'M',
  amount_minor,
  currency: 'EUR',
});

let database: TestDatabase;
let core: Core;
let nodes: [Node, Node];
let count = 0;

function makeNode(known = new KnownRows()): Node {
  const pool = makePool(database.connection, {
    max: 2,
    pipeline: true,
    plan: 'index_lookup',
    onBroken: () => {},
  });
  const sent: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: [{ name?: string; text: string }]) => {
      sent.push(given[0].name ?? given[0].text);
      return query(...given);
    }) as typeof client.query;
  });
  const lane = makeLane({
    pool,
    log: pino({ level: 'silent' }),
    random: Math.random,
    clock: TRUSTING_CLOCK,
    now_ms: () => performance.now(),
    observeBatch: () => {},
    known,
  });
  return { lane, known, pool, sent };
}

beforeAll(async () => {
  database = await createMigratedDatabase();
  core = makeTestCore(database.connection);
  nodes = [makeNode(), makeNode()];
});
afterAll(async () => {
  for (const { lane, pool } of nodes) await lane.drain().then(() => pool.end());
  await core.close();
  await database.drop();
});

/** A workspace with an agent and a key to ask for spends with. */
async function tenant({ budget_minor = 1_000 } = {}) {
  const plan = { plan: 'enterprise', trial_days: null, by: 'operator' } as const;
  const { workspace_id } = await addWorkspace(core, { name: 'W', ...plan });
  const submit = core.lane.submit.bind(core.lane, workspace_id) as (
    command: unknown,
    input: unknown,
    origin: Origin,
    // biome-ignore lint/suspicious/noExplicitAny: each command has a value of its own.
  ) => Promise<any>;
  const authority = authorityOf(budget_minor);
  const agent = await submit(createAgent, { slug: 'a', mode: 'ENFORCE', authority }, by_operator);
  const key = await submit(createApiKey, keyInput(), by_operator);
  const hash = agent.authority_hash as string;
  return { workspace_id, agent_id: agent.agent_id as string, key_id: key.key_id as string, authority, hash };
}
type Tenant = Awaited<ReturnType<typeof tenant>>;

const keyInput = () => {
  count += 1;
  const digest = sha256(`key ${count}`);
  const of = { agent: null, scopes: ['admin'] as const, principal_id: null, expires_in_seconds: null };
  return { name: 'k', bound_to: [], ...of, digest, secret_id: 'test', hint: 'sk_x' };
};

/** What is held expires in the moment of the decision, so that the next batch has to let it go. */
const expiring = makeCreateDecision({ review_ttl_seconds: 0, capability_ttl_seconds: 0 });
const lasting = makeCreateDecision({ review_ttl_seconds: 3_600, capability_ttl_seconds: 3_600 });

/** Decides a spend on a node as the service does: assessed for the authority it knows, or else the one that the lane names. */
async function decide(
  { lane }: Node,
  { workspace_id, agent_id, key_id, ...current }: Tenant,
  amount_minor: number,
  command = lasting,
  questions: readonly RaisedQuestion[] = [],
  allowance?: Allowance,
): Promise<Decision> {
  count += 1;
  const idempotency_key = `k${count}`;
  const action = actionOf(amount_minor);
  const origin = { ...by_operator, actor: { ...OPERATOR, type: 'api_key', key_id } as const };
  const input = { agent_id, bound: false, request: { action }, idempotency_key, request_hash: sha256('r') };
  const assessment = {
    assessment: 'PURPOSE_ALIGNED' as const,
    confidence: 1,
    method: 'test/1',
    rationale: 'It fits.',
    evidence: [],
    vouched_by: null,
    is_final: false,
  };
  for (let { hash, authority } = current; ; ) {
    const answers = new AnswersRead(NO_ANSWERS);
    const given = { directory: EMPTY_DIRECTORY, answers, assessment, questions };
    const assessed: Assessed = { authority_hash: hash, authority, ...given };
    const answer: CreatedDecision | Stale<KnownAuthority> = await lane.submit(
      workspace_id,
      command,
      { ...input, assessed, ...(allowance && { chain: { allowances: [allowance], budgets: [] } }) },
      origin,
    );
    if (!(answer instanceof Stale)) return JSON.parse(answer.document) as Decision;
    ({ hash, authority } = answer.current);
  }
}

/** Rows as text, in an order of their own; of counters the slots that count at a moment. */
const asText = (rows: readonly object[], now_ms: number) =>
  rows
    .map((row) => ('slots' in row ? { ...row, slots: slotsAt(row as StoredCounter, now_ms) } : row))
    .map((row) => JSON.stringify(Object.entries(row).sort()))
    .sort();
const slotsAt = ({ slots }: StoredCounter, now_ms: number) =>
  slots.filter(({ until_ms }) => until_ms > now_ms).sort((a, b) => (a.slot < b.slot ? -1 : 1));

/** Compares all that a node would take for known at the present head with the database. Returns how much that is. */
async function expectTrue({ known }: Node, workspace_id: string, keys: Record<string, string[]>) {
  const head = await getHead(core.db, workspace_id);
  if (head === undefined || !known.holdsAt(workspace_id, head, Number.POSITIVE_INFINITY)) return [];
  const client = await core.db.connect();
  const compared: string[] = [];
  try {
    for (const [kind, { rowsOf, known: knowable }] of KINDS) {
      if (knowable === undefined) continue;
      const keyOf = KEY_OF[kind];
      if (keyOf === undefined) throw new Error(`${kind} may be known, and this test does not look`);
      for (const name of keys[kind] ?? ['']) {
        const rows = known.find(workspace_id, kind, name);
        if (rows === undefined) continue;
        const stored = await rowsOf(client, [{ ...keyOf(name), workspace_id }]);
        expect(asText(rows, head.time_ms), `${kind} ${name}`).toEqual(
          asText(stored.map(withoutWorkspace), head.time_ms),
        );
        compared.push(kind);
      }
    }
  } finally {
    client.release();
  }
  return compared;
}

describe('what a process knows of a workspace', () => {
  test('is what the database says, whatever several nodes do', async () => {
    const compared = new Set<string>();
    const step = fc.record({
      on: fc.nat(1),
      // Decisions come most often, so that rows stay known over several batches.
      what: fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom('spend', 'spend for a moment', 'spend', 'cancel') },
        {
          weight: 4,
          arbitrary: fc.constantFrom(
            'pause',
            'go on',
            'edit',
            'limit',
            'answer',
            'answer',
            'key',
            'revoke',
            'listen',
            'mute',
            'forget',
            'tell',
            'hush',
            'cap',
            'trim',
          ),
        },
      ),
      agent: fc.nat(1),
      amount_minor: fc.integer({ min: 1, max: 80 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 30 }), async (steps) => {
        const first = await tenant();
        const { workspace_id } = first;
        const team = { slug: 'team', currency: 'EUR', period: 'TOTAL', limit_minor: 300 } as const;
        await core.lane.submit(workspace_id, createBudget, team, by_operator);
        const other = await core.lane.submit(
          workspace_id,
          createAgent,
          { slug: 'b', mode: 'ENFORCE', authority: { ...authorityOf(400), budgets: ['team'] } },
          by_operator,
        );
        const agents = [first.agent_id, other.agent_id];
        const keys = [first.key_id];
        const names = agents.flatMap((agent_id) =>
          [...countersOf(authorityOf(1), agent_id, actionOf(1)).values()].map((counter) => {
            wanted.set(counterName(counter), counter);
            return counterName(counter);
          }),
        );
        const allowances: Allowance[] = [];
        const endpoints: string[] = [];
        const channels: string[] = [];
        let decision_id: string | null = null;
        for (const { on, what, agent, amount_minor } of steps) {
          const node = nodes[on] as Node;
          const agent_id = agents[agent] as string;
          const submit = node.lane.submit.bind(node.lane, workspace_id) as typeof node.lane.submit extends (
            workspace_id: string,
            ...rest: infer Rest
          ) => unknown
            ? // biome-ignore lint/suspicious/noExplicitAny: each command has a value of its own.
              (...rest: Rest) => Promise<any>
            : never;
          const last = endpoints.at(-1);
          if (what.startsWith('spend')) {
            // The agent may be paused, and the key revoked.
            const command = what === 'spend' ? lasting : expiring;
            const under = allowances.findLast((each) => each.agent_id === agent_id);
            const of_agent = { ...first, agent_id };
            const made = await decide(node, of_agent, amount_minor, command, [QUESTION], under).catch(
              () => null,
            );
            decision_id = made?.decision_id ?? decision_id;
          } else if (what === 'cancel' && decision_id !== null) {
            const of = { decision_id, only_agent: null, source: 'CLIENT_REPORTED' } as const;
            const none = { amount_minor: null, currency: null, external_reference: null, occurred_at: null };
            const input = { ...of, ...none, type: 'SPEND_CANCELLED' };
            await submit(createOutcome as never, input as never, by_operator).catch(() => undefined);
          } else if (what === 'pause' || what === 'go on') {
            const status = what === 'pause' ? 'paused' : 'active';
            await submit(
              updateAgent as never,
              { agent: agent_id, changes: { status } } as never,
              by_operator,
            );
          } else if (what === 'edit') {
            const budgets = agent === 1 ? { budgets: ['team'] } : {};
            const authority = { ...authorityOf(amount_minor * 20), ...budgets };
            const input = { agent: agent_id, authority, note: null, expected_hash: null, past: null };
            await submit(createAuthority as never, input as never, by_operator);
          } else if (what === 'answer') {
            const said = { answer: amount_minor % 2 === 0 ? 'YES' : 'NO', comment: null, requesters: [] };
            const input = { agent_id, question_id: QUESTION.question_id, ...said };
            await submit(answerQuestion as never, input as never, by_operator).catch(() => undefined);
          } else if (what === 'cap') {
            const body = { agent: agent_id, currency: 'EUR', amount_minor, expires_at: IN_A_WEEK };
            const given = [{ body, body_hash: '', above: [], key: null, prefix: '' }];
            const input = { allowances: given, maker: 'test', agent_id: null };
            const [made] = await submit(createAllowances as never, input as never, by_operator);
            allowances.push(made.allowance);
            for (const counter of countersOfAllowance(made.allowance)) {
              wanted.set(counter.name, counter);
              names.push(counter.name);
            }
          } else if (what === 'trim' && allowances.length > 0) {
            const { path } = allowances.at(-1) as Allowance;
            await submit(updateAllowance as never, { path, changes: { amount_minor } } as never, by_operator);
          } else if (what === 'limit') {
            const changes = { limit_minor: amount_minor * 10 };
            await submit(updateBudget as never, { budget: 'team', changes } as never, by_operator);
          } else if (what === 'key') {
            const made = await submit(createApiKey as never, keyInput() as never, by_operator);
            keys.push(made.key_id);
            first.key_id = made.key_id;
          } else if (what === 'revoke') {
            await submit(revokeApiKey as never, { key_id: first.key_id } as never, by_operator);
          } else if (what === 'listen' && endpoints.length < 3) {
            const input = { url: 'https://hooks.example/in', events: null, sealed_secret: 'AAAA' };
            endpoints.push((await submit(createWebhook as never, input as never, by_operator)).endpoint_id);
          } else if (what === 'mute' && last !== undefined) {
            const changes = { status: amount_minor % 2 === 0 ? 'disabled' : 'active' };
            const input = { endpoint_id: last, changes, reason: 'by_admin' };
            await submit(updateWebhook as never, input as never, by_operator);
          } else if (what === 'tell' && channels.length < 3) {
            const { channel_id } = await submit(createChannel as never, CHANNEL as never, by_operator);
            channels.push(channel_id);
          } else if (what === 'hush') {
            const channel_id = channels.pop();
            const input = { channel_id, changes: { status: 'disabled' }, reason: 'REQUESTED' };
            if (channel_id === undefined) continue;
            if (amount_minor % 2 === 0)
              await submit(deleteChannel as never, { channel_id } as never, by_operator);
            else await submit(updateChannel as never, input as never, by_operator);
          } else if (what === 'forget' && last !== undefined) {
            endpoints.pop();
            await submit(deleteWebhook as never, { endpoint_id: last } as never, by_operator);
          }
          const questions = agents.map((id) => `${id} ${QUESTION.question_id}`);
          const asked = {
            agents,
            authorities: agents,
            budgets: agents,
            counters: names,
            allowances: allowances.map(({ allowance_id }) => allowance_id),
            keys,
            questions,
            notice_bursts: agents,
          };
          for (const each of nodes) {
            for (const kind of await expectTrue(each, workspace_id, asked)) compared.add(kind);
          }
        }
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
    expect([...compared].sort()).toEqual(Object.keys(KEY_OF).sort());
  });

  test('spares the next batch all statements but the look-ups of what nobody can know', async () => {
    const [node] = nodes;
    const asked = await tenant();
    // The first makes the counter of the month; what is not there is not known.
    for (const amount_minor of [10, 11]) await decide(node, asked, amount_minor);
    node.sent.length = 0;
    expect((await decide(node, asked, 12)).decision).toBe('ALLOW');
    const look = ['begin', 'lock_heads', 'load_due_holds', 'load_earlier_decisions'];
    const writes = ['add_to_counters_counted', expect.stringMatching(/^write_wide_/)];
    expect(node.sent).toEqual([...look, ...writes, 'commit']);
  });

  test('is loaded again once another node wrote: a pause, a revoked key and spent money hold at once', async () => {
    const [here, there] = nodes;
    const asked = await tenant({ budget_minor: 100 });
    const { workspace_id, agent_id: agent, key_id } = asked;
    for (const amount_minor of [30, 10]) {
      expect((await decide(here, asked, amount_minor)).decision).toBe('ALLOW');
    }
    expect((await decide(there, asked, 45)).decision).toBe('ALLOW');
    expect((await decide(here, asked, 16)).reason_code).toBe('MONTHLY_BUDGET_EXCEEDED');
    await there.lane.submit(workspace_id, updateAgent, { agent, changes: { status: 'paused' } }, by_operator);
    await expect(decide(here, asked, 1)).rejects.toMatchObject({ code: 'agent_not_active' });
    await there.lane.submit(workspace_id, updateAgent, { agent, changes: { status: 'active' } }, by_operator);
    expect((await decide(here, asked, 1)).decision).toBe('ALLOW');
    await there.lane.submit(workspace_id, revokeApiKey, { key_id }, by_operator);
    await expect(decide(here, asked, 1)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('is trusted again only after the head was found where this node left it', async () => {
    const [here, there] = nodes;
    const asked = await tenant();
    const loads = () => here.sent.filter((name) => name === 'load_budgets').length;
    const loadsOf = async (work: () => Promise<unknown>) => {
      here.sent.length = 0;
      await work();
      return loads();
    };
    for (const amount_minor of [10, 11]) await decide(here, asked, amount_minor);
    expect(await loadsOf(() => decide(here, asked, 12))).toBe(0);
    await decide(there, asked, 13);
    // What was taken for known is loaded behind the lock, and the next time along with it.
    expect(await loadsOf(() => decide(here, asked, 14))).toBe(1);
    expect(await loadsOf(() => decide(here, asked, 15))).toBe(1);
    expect(await loadsOf(() => decide(here, asked, 16))).toBe(0);
  });

  test('is forgotten after a batch that failed', async () => {
    const [here] = nodes;
    const asked = await tenant();
    await decide(here, asked, 10);
    const head = await getHead(core.db, asked.workspace_id);
    if (head === undefined) throw new Error('there is no head');
    expect(here.known.holdsAt(asked.workspace_id, head, Number.POSITIVE_INFINITY)).toBe(true);
    const unwritable = {
      name: 'unwritable',
      needs: () => ({}),
      apply: (set: Parameters<typeof updateAgent.apply>[0]) => {
        set.keys.noteUse({ key_id: 'a\u0000b', last_used_at: set.now });
        return { kind: 'done', value: null } as const;
      },
    };
    await expect(here.lane.submit(asked.workspace_id, unwritable, null, by_operator)).rejects.toMatchObject({
      code: 'internal_error',
    });
    expect(here.known.holdsAt(asked.workspace_id, head, Number.POSITIVE_INFINITY)).toBe(false);
    expect((await decide(here, asked, 11)).decision).toBe('ALLOW');
  });

  test('is bounded: a workspace of which more is known than its share begins anew', async () => {
    const node = makeNode(new KnownRows(4_000));
    const asked = await tenant({ budget_minor: 100 });
    for (const amount_minor of [10, 11, 12]) await decide(node, asked, amount_minor);
    expect((await decide(node, asked, 68)).reason_code).toBe('MONTHLY_BUDGET_EXCEEDED');
    await node.lane.drain();
    await node.pool.end();
  });
});
