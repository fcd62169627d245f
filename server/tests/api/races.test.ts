import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Core } from '../../src/service/installation/runtime.ts';
import { makeReservationSweep } from '../../src/service/workers/expire-reservations.ts';
import {
  AUTHORITY,
  type CallOptions,
  freshKey,
  makeKey,
  makeTestCore,
  type Reply,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/** How often each race is run: over a thousand in all; RACES makes it more. */
const ROUNDS = Number(process.env.RACES);
const AT_ONCE = 100;
const CAPABILITY_TTL_MS = 60_000;
const REVIEW_TTL_MS = 600_000;
const BEGIN_MS = Date.UTC(2026, 10, 1, 8);
const PAYEE = 'stripe:acct_1';

let now_ms = BEGIN_MS;
let nodes: [RunningService, RunningService];
let core: Core;
let reviewers: [string, string];
let adapters: [string, string];
const log = pino({ level: 'silent' });

beforeAll(async () => {
  const env = {
    CAPABILITY_TTL_SECONDS: String(CAPABILITY_TTL_MS / 1000),
    REVIEW_TTL_SECONDS: String(REVIEW_TTL_MS / 1000),
  };
  const first = await startTestService({ env, stopped_at_ms: BEGIN_MS, plan: 'enterprise' });
  nodes = [first, await startTestService({ env, beside: first })];
  core = makeTestCore(first.database.connection);
  const key = async (scopes: string[]) => (await makeKey(first, { scopes })).key;
  reviewers = [await key(['review', 'read']), await key(['review', 'read'])];
  adapters = [await key(['consume']), await key(['consume'])];
});
afterAll(async () => {
  await core.close();
  await nodes[1].stop();
  await nodes[0].stop();
});

interface Made {
  decision_id: string;
  reservation: { reservation_id: string };
  capability: { capability_id: string; token: string } | null;
}
let agents = 0;
async function agent(mode: 'SHADOW' | 'ENFORCE' = 'ENFORCE'): Promise<string> {
  const slug = `agent-${++agents}`;
  const body = { slug, mode, authority: { ...AUTHORITY, review_threshold_minor: 100 } };
  expect((await nodes[0].call('POST', '/v1/agents', { body })).status).toBe(201);
  return slug;
}
async function ask(slug: string, amount: number, payee_id?: string): Promise<Made> {
  const action = payee_id === undefined ? {} : { payee_id };
  const body = spend(slug, amount, { action });
  const reply = await nodes[0].call('POST', '/v1/decisions', { body, idempotency_key: freshKey() });
  expect(reply.status).toBe(201);
  return reply.body;
}

type Racer = { method?: string; path: string; options: CallOptions };
const reviewBy = (n: 0 | 1, made: Made, action: string): Racer => ({
  path: `/v1/decisions/${made.decision_id}/reviews`,
  options: { key: reviewers[n], body: { action, reason_code: 'RACE' } },
});
const consumeBy = (n: 0 | 1, made: Made, idempotency_key = freshKey(), payee_id?: string): Racer => ({
  path: '/v1/capabilities/consume',
  options: {
    key: adapters[n],
    idempotency_key,
    body: { token: made.capability?.token, amount_minor: 10, currency: 'EUR', payee_id },
  },
});
const outcomeBy = (n: 0 | 1, made: Made, type: string, amount_minor?: number): Racer => ({
  path: `/v1/decisions/${made.decision_id}/outcomes`,
  options: { key: adapters[n], body: { type, amount_minor } },
});

/** Sends all at once, each to the next node, in turns the first or the last of them ahead. */
function race(round: number, racers: readonly Racer[]): Promise<Reply[]> {
  const started = racers.map((racer, i) => ({ racer, node: nodes[(round + i) % 2] as RunningService, i }));
  if (round % 4 >= 2) started.reverse();
  const replies: Promise<Reply>[] = [];
  for (const { racer, node, i } of started) {
    replies[i] = node.call(racer.method ?? 'POST', racer.path, racer.options);
  }
  return Promise.all(replies);
}

/** Status, or the refusal's code. */
const told = (reply: Reply): string => reply.body?.error?.code ?? String(reply.status);
const toldOf = (replies: readonly Reply[]) => replies.map(told).sort();

/** Runs `ROUNDS` races, `AT_ONCE` of them side by side. */
async function rounds<T>(
  prepare: (round: number) => Promise<T>,
  run: (round: number, made: T) => Promise<void>,
) {
  for (let done = 0; done < ROUNDS; done += AT_ONCE) {
    const count = Math.min(AT_ONCE, ROUNDS - done);
    const made = await Promise.all(Array.from({ length: count }, (_, i) => prepare(done + i)));
    await Promise.all(made.map((each, i) => run(done + i, each)));
  }
}

/** How often each subject is in the history under one type. */
async function eventsOf(type: string): Promise<Map<string, number[]>> {
  const { rows } = await nodes[0].sql(
    'select subject_id, seq::int as seq from ledger_events where type = $1 order by seq',
    [type],
  );
  const seqs = new Map<string, number[]>();
  for (const { subject_id, seq } of rows) seqs.set(subject_id, [...(seqs.get(subject_id) ?? []), seq]);
  return seqs;
}
const get = async (id: string) => (await nodes[1].call('GET', `/v1/decisions/${id}`)).body;
/** The agent's counters by the sum of its states. */
async function expectCountersToAgree(): Promise<void> {
  const { rows } = await nodes[0].sql(`
    select b.held_minor, b.committed_minor,
      coalesce(sum(s.amount_minor) filter (where s.status = 'HELD'), 0) as held,
      coalesce(sum(s.amount_minor) filter (where s.status = 'COMMITTED'), 0) as committed
    from budgets b left join (
      select d.workspace_id, d.agent_id, to_char(d.created_at at time zone 'UTC', 'YYYY-MM') as period,
        coalesce(s.reservation_status, d.document::json #>> '{reservation,status}') as status,
        coalesce(s.amount_minor, (d.document::json #>> '{reservation,amount_minor}')::bigint) as amount_minor
      from decisions d left join decision_states s using (workspace_id, decision_id)
    ) s on s.workspace_id = b.workspace_id and s.agent_id = b.agent_id and s.period = b.period
    group by b.workspace_id, b.agent_id, b.period, b.held_minor, b.committed_minor`);
  for (const row of rows) {
    expect([row.held_minor, row.committed_minor]).toEqual([row.held, row.committed]);
  }
}

describe(`of racers on two nodes exactly one wins, ${ROUNDS} times`, () => {
  test('ALLOW against DENY: one review is in force, the other is told review_final', async () => {
    const slug = await agent();
    const won: Record<string, string> = {};
    await rounds(
      () => ask(slug, 200),
      async (round, made) => {
        const replies = await race(round, [reviewBy(0, made, 'ALLOW'), reviewBy(1, made, 'DENY')]);
        expect(toldOf(replies)).toEqual(['201', 'review_final']);
        const winner = replies.find((each) => each.status === 201) as Reply;
        won[made.decision_id] = winner.body.action;
      },
    );
    const kept = await nodes[0].sql('select decision_id, action from reviews');
    expect(Object.fromEntries(kept.rows.map((row) => [row.decision_id, row.action]))).toEqual(won);
    expect(kept.rowCount).toBe(ROUNDS);
    expect((await eventsOf('decision.review.recorded')).size).toBe(ROUNDS);
    for (const [id, action] of Object.entries(won).slice(-20)) {
      expect(await get(id)).toMatchObject({
        effective_decision: action,
        reservation: { status: action === 'ALLOW' ? 'HELD' : 'RELEASED' },
      });
    }
    await expectCountersToAgree();
  });

  test('consumers: one pays, the others are told capability_used; with one idempotency key all hear the same', async () => {
    const slug = await agent();
    const before = (await eventsOf('capability.consumed')).size;
    await rounds(
      () => ask(slug, 10),
      async (round, made) => {
        if (round % 2 === 0) {
          const replies = await race(round, [consumeBy(0, made), consumeBy(1, made), consumeBy(0, made)]);
          expect(toldOf(replies)).toEqual(['201', 'capability_used', 'capability_used']);
        } else {
          const key = freshKey();
          const replies = await race(round, [consumeBy(0, made, key), consumeBy(1, made, key)]);
          expect(toldOf(replies)).toEqual(['200', '201']);
          expect(replies[0]?.text).toBe(replies[1]?.text);
        }
      },
    );
    const events = await eventsOf('capability.consumed');
    expect(events.size - before).toBe(ROUNDS);
    expect([...events.values()].every((seqs) => seqs.length === 1)).toBe(true);
  });

  test('outcomes: one is recorded, one that contradicts it is told outcome_conflict, one that repeats it gets it', async () => {
    const slug = await agent('SHADOW');
    let executed = 0;
    await rounds(
      () => ask(slug, 10),
      async (round, made) => {
        const [one, other, same] = await race(round, [
          outcomeBy(0, made, 'SPEND_EXECUTED', 7),
          outcomeBy(1, made, 'SPEND_CANCELLED'),
          outcomeBy(1, made, 'SPEND_EXECUTED', 7),
        ]);
        const said = [one, same].map((each) => told(each as Reply)).sort();
        if (told(other as Reply) === '201') expect(said).toEqual(['outcome_conflict', 'outcome_conflict']);
        else {
          expect([...said, told(other as Reply)]).toEqual(['200', '201', 'outcome_conflict']);
          expect(one?.body).toEqual(same?.body);
          executed += 1;
        }
      },
    );
    const { rows } = await nodes[0].sql(
      `select held_minor::int, committed_minor::int from budgets join agents using (workspace_id, agent_id)
        where slug = $1`,
      [slug],
    );
    expect(rows).toEqual([{ held_minor: 0, committed_minor: 7 * executed }]);
  });

  test('running out against outcomes, reviews and consumers: the hold goes once, and nobody pays or allows after that', async () => {
    const slug = await agent();
    const kinds = ['executed', 'cancelled', 'consumed', 'reviewed'] as const;
    for (let done = 0; done < ROUNDS; done += AT_ONCE) {
      const made = await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, ROUNDS - done) }, async (_, i) => {
          const kind = kinds[i % kinds.length] as (typeof kinds)[number];
          return { kind, made: await ask(slug, kind === 'reviewed' ? 200 : 10, PAYEE) };
        }),
      );
      // Time passes both deadlines while everybody is on the way, and two nodes and a worker sweep.
      const racers = made.map(({ kind, made: each }, i) => {
        const n = (i % 2) as 0 | 1;
        if (kind === 'consumed') return consumeBy(n, each, freshKey(), PAYEE);
        if (kind === 'reviewed') return reviewBy(n, each, 'ALLOW');
        return outcomeBy(n, each, kind === 'executed' ? 'SPEND_EXECUTED' : 'SPEND_CANCELLED', 10);
      });
      const half = racers.length / 2;
      const early = race(0, racers.slice(0, half));
      now_ms += REVIEW_TTL_MS + 5_000;
      const moved = nodes[0].setClock(now_ms);
      const sweeping = Promise.all(
        Array.from({ length: 3 }, () => makeReservationSweep({ db: core.db, lane: core.lane, log })()),
      );
      const late = race(1, racers.slice(half));
      const replies = [...(await early), ...(await late)];
      await Promise.all([moved, sweeping]);
      await makeReservationSweep({ db: core.db, lane: core.lane, log })();
      const run_out = await eventsOf('reservation.expired');
      const shown = await nodes[0].call('GET', `/v1/decisions?agent=${slug}&limit=200`);
      const now = new Map<string, { reservation: { status: string } }>(
        shown.body.data.map((each: { decision_id: string }) => [each.decision_id, each]),
      );
      for (const [i, { kind, made: each }] of made.entries()) {
        const reply = replies[i] as Reply;
        const gone = run_out.get(each.reservation.reservation_id)?.length ?? 0;
        const status = now.get(each.decision_id)?.reservation.status;
        const found = [kind, told(reply), (reply.body.flags ?? []).join(), gone, status].join(' ');
        const possible = {
          executed: ['executed 201  0 COMMITTED', 'executed 201 LATE 1 COMMITTED'],
          cancelled: ['cancelled 201  0 RELEASED', 'cancelled 201  1 EXPIRED'],
          consumed: ['consumed 201  0 HELD', 'consumed capability_expired  1 EXPIRED'],
          // What a review allowed in time runs out with its own capability, later.
          reviewed: ['reviewed 201  0 HELD', 'reviewed review_final  1 EXPIRED', 'reviewed 201  1 EXPIRED'],
        };
        expect(possible[kind]).toContain(found);
      }
    }
    await expectCountersToAgree();
  });

  test('after a new authority no review, and after a pause no consumption, gets through', async () => {
    const together = 20;
    for (let done = 0; done < ROUNDS; done += together) {
      const slug = await agent();
      const pending = await Promise.all(Array.from({ length: together / 2 }, () => ask(slug, 200)));
      const issued = await Promise.all(Array.from({ length: together / 2 }, () => ask(slug, 10)));
      const reviews = pending.map((made, i) => reviewBy((i % 2) as 0 | 1, made, 'ALLOW'));
      const changed = { path: `/v1/agents/${slug}/authority`, options: { body: AUTHORITY } };
      reviews.splice(done % reviews.length, 0, changed);
      const consumers = issued.map((made, i) => consumeBy((i % 2) as 0 | 1, made));
      const paused = { method: 'PATCH', path: `/v1/agents/${slug}`, options: { body: { status: 'paused' } } };
      consumers.splice(done % consumers.length, 0, paused);
      const round = done / together;
      const replies = await (round % 2 === 0 ? race(round, reviews) : race(round, consumers));
      const event = round % 2 === 0 ? 'authority.created' : 'agent.updated';
      const turn = Math.max(...[...(await eventsOf(event)).values()].flat());
      const [type, of, refused] =
        round % 2 === 0
          ? ['decision.review.recorded', 'review_id', 'authority_changed']
          : ['capability.consumed', 'capability_id', 'agent_not_active'];
      const recorded = await eventsOf(type as string);
      let accepted = 0;
      for (const reply of replies) {
        const id = reply.body[of as string];
        if (id === undefined) expect(['200', '201', refused]).toContain(told(reply));
        else {
          accepted += 1;
          const [seq, ...more] = recorded.get(id) as number[];
          expect(more).toEqual([]);
          expect(seq).toBeLessThan(turn);
        }
      }
      const after = [...recorded.values()].flat().filter((seq) => seq > turn);
      expect(after).toEqual([]);
      expect(replies.filter((reply) => told(reply) === refused)).toHaveLength(together / 2 - accepted);
    }
  });

  test('after all of these races the ledger verifies', async () => {
    const { body } = await nodes[1].call('GET', '/v1/ledger/verify');
    expect([body.valid, body.breaks]).toEqual([true, []]);
  });
});
