import fc from 'fast-check';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Core } from '../../src/service/installation/runtime.ts';
import { makeReservationSweep } from '../../src/service/workers/expire-reservations.ts';
import {
  add,
  authorized,
  CAPABILITY_TTL_MS,
  capabilityStatus,
  clearMoment,
  consume,
  counter,
  inForce,
  judge,
  type Model,
  type ModelAuthority,
  type ModelDecision,
  moveTo,
  outcomeState,
  REVIEW_TTL_MS,
  report,
  review,
  reviewed,
  type Source,
  verified,
} from '../support/histories-model.ts';
import {
  broken,
  join,
  type ModelLimit,
  type ModelTerms,
  rowsOf,
  TIME_ZONE,
  useOf,
} from '../support/limits-model.ts';
import {
  AUTHORITY,
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

/**
 * Random histories against the reference model, on two nodes and real PostgreSQL. A failure prints its seed and
 * path: run it again with HISTORIES_SEED and HISTORIES_PATH. HISTORIES_RUNS makes a longer run.
 */
const SEED = Number(process.env.HISTORIES_SEED ?? 20_261_121);
const RUNS = Number(process.env.HISTORIES_RUNS);
const PATH = process.env.HISTORIES_PATH;
const MIN_COMMANDS = 40;
const MAX_COMMANDS = 60;
/** After a failure, shorter histories that fail are looked for no longer than this. */
const MAX_SHRINK_MS = 120_000;
/** No more than a bound for what hangs. */
const TIMEOUT_MS = 900_000 + RUNS * 100_000;
const BEGIN_MS = Date.UTC(2026, 10, 29, 8);

let nodes: RunningService[];
let core: Core;
const log = pino({ level: 'silent' });

beforeAll(async () => {
  const env = {
    REVIEW_TTL_SECONDS: String(REVIEW_TTL_MS / 1000),
    CAPABILITY_TTL_SECONDS: String(CAPABILITY_TTL_MS / 1000),
  };
  const first = await startTestService({ env, stopped_at_ms: BEGIN_MS });
  nodes = [first, await startTestService({ env, beside: first })];
  core = makeTestCore(first.database.connection);
});
afterAll(async () => {
  await core.close();
  for (const node of [...nodes].reverse()) await node.stop();
});

/** The running system: one workspace of two agents, and who acts in it. */
interface Real {
  workspace_id: string;
  /** Asks for spends. */
  admin: string;
  reviewer: string;
  adapter: string;
  turn: number;
  /** Requests that were answered, to be sent again. */
  decided: { body: object; idempotency_key: string; reply: Reply }[];
  consumed: { body: object; idempotency_key: string; reply: Reply }[];
}

const LIMITS = [
  { per_transaction: 400, threshold: 100, budget: 1_000 },
  { per_transaction: 400, threshold: 100, budget: 600 },
  { per_transaction: 1_000, threshold: 0, budget: 2_000 },
];
const NO_TERMS: ModelTerms = { limits: [], duplicates: null, new_merchant: null, allowed: null };
const MERCHANTS = ['Hetzner Online', 'Zinnober Kontor'];

const authorityBody = ({ per_transaction, threshold, budget, ...terms }: ModelAuthority) => ({
  ...AUTHORITY,
  // What was paid or denied before is learnt in its own time, which is not of this model.
  on_purpose_unclear: 'ALLOW',
  per_transaction_limit_minor: per_transaction,
  review_threshold_minor: threshold,
  monthly_budget_minor: budget,
  ...(terms.limits.length === 0 ? {} : { time_zone: TIME_ZONE, velocity_limits: terms.limits }),
  ...(terms.duplicates === null
    ? {}
    : { duplicate_window_seconds: terms.duplicates.seconds, on_duplicate: terms.duplicates.on }),
  ...(terms.new_merchant === null
    ? {}
    : {
        on_new_merchant: terms.new_merchant.on,
        new_merchant_threshold_minor: terms.new_merchant.threshold,
      }),
  ...(terms.allowed === null
    ? {}
    : { allowed_merchants: terms.allowed.merchants, on_other_merchants: terms.allowed.on }),
});

const WINDOWS: Omit<ModelLimit, 'name'>[] = [
  { window: 'DAY' },
  { window: 'WEEK', per: 'MERCHANT' },
  { window: 'MONTH' },
  { window: 'ROLLING', window_seconds: 60 },
  { window: 'ROLLING', window_seconds: 600, per: 'PAYEE' },
  { window: 'ROLLING', window_seconds: 86_400 * 3 },
];
const NUMBERS: Partial<ModelLimit>[] = [
  { limit_amount_minor: 300 },
  { limit_count: 3 },
  { limit_amount_minor: 700, limit_count: 6 },
  { limit_amount_minor: 150, on_exceeded: 'REVIEW' },
];
const anyLimits = fc
  .tuple(fc.subarray(WINDOWS, { maxLength: 3 }), fc.nat(NUMBERS.length - 1))
  .map(([windows, n]) =>
    windows.map((window, i) => ({ name: `limit-${i}`, ...window, ...NUMBERS[(n + i) % NUMBERS.length] })),
  );
const seldom = <T>(of: fc.Arbitrary<T>) => fc.option(of, { freq: 1 });
const anyOn = fc.constantFrom<'REVIEW' | 'DENY'>('REVIEW', 'DENY');
const anyTerms: fc.Arbitrary<ModelTerms> = fc.record({
  limits: anyLimits,
  duplicates: seldom(fc.record({ seconds: fc.constantFrom(60, 600), on: anyOn })),
  new_merchant: seldom(fc.record({ threshold: fc.constantFrom(0, 60), on: anyOn })),
  allowed: seldom(fc.record({ merchants: fc.constantFrom(MERCHANTS, MERCHANTS.slice(1)), on: anyOn })),
});

async function setUp(): Promise<{ model: Model; real: Real }> {
  const [node] = nodes as [RunningService];
  await node.setClock(BEGIN_MS);
  const { workspace_id, admin_key: admin } = await node.addWorkspace({ plan: 'team' });
  const key = async (scopes: string[]) => (await makeKey(node, { scopes }, admin)).key;
  const model: Model = { now_ms: BEGIN_MS, agents: [], decisions: [], known: new Set() };
  for (const mode of ['SHADOW', 'ENFORCE'] as const) {
    const authority: ModelAuthority = { ...(LIMITS[0] as (typeof LIMITS)[number]), ...NO_TERMS };
    const slug = mode.toLowerCase();
    const body = { slug, mode, authority: authorityBody(authority) };
    expect((await node.call('POST', '/v1/agents', { key: admin, body })).status).toBe(201);
    model.agents.push({ slug, mode, status: 'active', authority });
  }
  return {
    model,
    real: {
      workspace_id,
      admin,
      reviewer: await key(['review', 'read']),
      adapter: await key(['consume']),
      turn: 0,
      decided: [],
      consumed: [],
    },
  };
}

/** Every request goes to the node whose turn it is. */
const call = (real: Real, method: string, path: string, key: string, given: object = {}) => {
  real.turn += 1;
  return (nodes[real.turn % nodes.length] as RunningService).call(method, path, { key, ...given });
};
const codeOf = (reply: Reply): string | null => reply.body?.error?.code ?? null;
const ms = (iso: string) => Date.parse(iso);

/** Everything that the service says of every decision is what the model says. */
async function compare(model: Model, real: Real): Promise<void> {
  const listed = await call(real, 'GET', '/v1/decisions?limit=200&order=asc', real.admin);
  const shown = listed.body.data.map((d: Record<string, never>) => {
    const { decision_id, decision, effective_decision, authorized_amount_minor, review_state } = d;
    const {
      reservation,
      capability,
      review: word,
      label,
      outcome_state,
      verified: sure,
    } = d as never as {
      reservation: { status: string; amount_minor: number; expires_at: string | null; budget: object };
      capability: { status: string } | null;
      review: { review_id: string } | null;
      label: { label_id: string } | null;
      outcome_state: string;
      verified: boolean;
    };
    return {
      decision_id,
      decision,
      effective_decision,
      authorized_amount_minor,
      review_state,
      hold: [reservation.status, reservation.amount_minor, reservation.expires_at],
      budget: reservation.budget,
      capability: capability?.status ?? null,
      review: word?.review_id ?? null,
      label: label?.label_id ?? null,
      outcome: [outcome_state, sure],
    };
  });
  const expected = model.decisions.map((d) => {
    const { held, committed } = counter(model, d.agent, d.period);
    const limit = (JSON.parse(d.authority) as number[])[2] as number;
    return {
      decision_id: d.id,
      decision: d.kind,
      effective_decision: inForce(d),
      authorized_amount_minor: authorized(d),
      review_state: d.review,
      hold: [
        d.hold,
        d.counted,
        d.hold === 'HELD' && d.hold_ends !== null ? new Date(d.hold_ends).toISOString() : null,
      ],
      budget: {
        limit_minor: limit,
        held_minor: held,
        committed_minor: committed,
        remaining_minor: Math.max(0, limit - held - committed),
      },
      capability: capabilityStatus(model, d),
      review: d.review_id,
      label: d.label_id,
      outcome: [outcomeState(d), verified(d)],
    };
  });
  expect(shown).toEqual(expected);
  const { body } = await call(real, 'GET', '/v1/ledger/verify', real.admin);
  expect([body.valid, body.breaks]).toEqual([true, []]);
}

type Step = fc.AsyncCommand<Model, Real>;
/** A command that is followed by a comparison of everything. */
function step(
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): Step {
  return {
    check,
    toString: () => name,
    async run(model, real) {
      await run(model, real);
      await compare(model, real);
    },
  };
}
const hasDecisions = (model: Readonly<Model>) => model.decisions.length > 0;
/** The decision that a number picks, newer ones more often than not. */
const pick = (model: Model, n: number) =>
  model.decisions[model.decisions.length - 1 - (n % model.decisions.length)] as ModelDecision;

const anyAsk = fc.record({
  amount: fc.constantFrom(1, 20, 40, 60, 99, 100, 101, 250, 400, 401, 600),
  limitable: fc.boolean(),
  merchant: fc.constantFrom(...MERCHANTS),
  payee: fc.constantFrom(null, null, 'stripe:acct_1'),
});
const anyDecide = fc
  .record({
    agent: fc.constantFrom(0, 1, 1),
    asks: fc.oneof(
      { weight: 3, arbitrary: fc.tuple(anyAsk) },
      { weight: 1, arbitrary: fc.array(anyAsk, { minLength: 2, maxLength: 4 }) },
    ),
    twice: fc.boolean(),
  })
  .map(({ agent: n, asks, twice }) =>
    step(`decide(${n}, ${JSON.stringify(asks)}, twice ${twice})`, async (model, real) => {
      const agent = model.agents[n] as Model['agents'][number];
      const all = await Promise.all(
        asks.map(async (asked) => {
          const { amount, limitable, merchant, payee } = asked;
          const action = { merchant, ...(payee === null ? {} : { payee_id: payee }) };
          const body = spend(agent.slug, amount, { action, limitable });
          const idempotency_key = freshKey();
          const send = () => call(real, 'POST', '/v1/decisions', real.admin, { body, idempotency_key });
          return {
            asked,
            body,
            idempotency_key,
            replies: await Promise.all(twice ? [send(), send()] : [send()]),
          };
        }),
      );
      if (agent.status !== 'active') {
        for (const { replies } of all)
          expect(replies.map(codeOf)).toEqual(replies.map(() => 'agent_not_active'));
        return;
      }
      const idOf = ({ replies: [reply] }: (typeof all)[number]) => reply?.body.decision_id as string;
      // Those that came at once were decided in the order of their ids.
      for (const made of all.sort((one, other) => (idOf(one) < idOf(other) ? -1 : 1))) {
        const { asked, body, idempotency_key, replies } = made;
        // Of two that come at once on two nodes exactly one is made.
        expect(replies.map((each) => each.status).sort()).toEqual(twice ? [200, 201] : [201]);
        const [reply] = replies as [Reply];
        for (const other of replies) expect(other.text).toBe(reply.text);
        const { budget, limits = [] } = reply.body.reservation;
        if (reply.body.decision !== 'DENY') {
          expect(budget.held_minor + budget.committed_minor).toBeLessThanOrEqual(agent.authority.budget);
        }
        const made_ms = ms(reply.body.created_at);
        const d = judge(model, agent, asked, made_ms);
        d.id = idOf(made);
        add(model, d, made_ms);
        real.decided.push({ body, idempotency_key, reply });
        expect(broken(model, d)).toEqual([]);
        const counted = d.places.filter(({ counter }) => counter.startsWith('["vel"'));
        const told = limits.filter(({ kind }: { kind: string }) => kind === 'velocity');
        expect(told.map((each: Record<string, number>) => [each.used_count, each.used_minor])).toEqual(
          counted.map((place) => {
            const { count, amount } = useOf(model, agent, place, made_ms);
            return [count, amount];
          }),
        );
      }
    }),
  );

const anyReplay = fc.record({ n: fc.nat(30), other_body: fc.boolean() }).map(({ n, other_body }) =>
  step(
    `replay(${n}, other body ${other_body})`,
    async (model, real) => {
      const earlier = real.decided[n % real.decided.length] as Real['decided'][number];
      const { idempotency_key } = earlier;
      const body = other_body ? { ...earlier.body, task: 'Another' } : earlier.body;
      const reply = await call(real, 'POST', '/v1/decisions', real.admin, { body, idempotency_key });
      const d = model.decisions.find((each) => each.id === earlier.reply.body.decision_id) as ModelDecision;
      if (d.agent.status !== 'active') expect(codeOf(reply)).toBe('agent_not_active');
      else if (other_body) expect(codeOf(reply)).toBe('idempotency_conflict');
      else expect([reply.status, reply.text]).toEqual([200, earlier.reply.text]);
    },
    hasDecisions,
  ),
);

const anyReview = fc
  .record({
    n: fc.nat(6),
    action: fc.constantFrom<'ALLOW' | 'DENY'>('ALLOW', 'DENY'),
    corrects: fc.boolean(),
    own: fc.nat(9).map((one) => one === 0),
  })
  .map(({ n, action, corrects, own }) =>
    step(
      `review(${n}, ${action}, corrects ${corrects}, own ${own})`,
      async (model, real) => {
        const reviewable = model.decisions.filter((each) => each.kind === 'REVIEW');
        const pending = reviewable.filter((each) => each.review === 'PENDING');
        const likely = n % 3 > 0 && pending.length > 0 ? pending : reviewable;
        const d = likely[likely.length - 1 - (n % (likely.length + 1))] ?? pick(model, n);
        const supersedes = corrects ? d.review_id : null;
        const reply = await call(
          real,
          'POST',
          `/v1/decisions/${d.id}/reviews`,
          own ? real.admin : real.reviewer,
          {
            body: {
              action,
              reason_code: 'OK',
              // A DENY that answers nothing: questions are not of this model.
              questions: [],
              ...(supersedes === null ? {} : { supersedes }),
            },
          },
        );
        const refused = review(d, { action, supersedes, own });
        expect(codeOf(reply)).toBe(refused);
        if (refused !== null) return;
        reviewed(model, d, action, reply.body.review_id, ms(reply.body.created_at));
        expect(reply.body.effective_decision).toBe(inForce(d));
        expect(reply.body.capability?.status ?? null).toBe(
          d.capability !== null && action === 'ALLOW' ? capabilityStatus(model, d) : null,
        );
      },
      hasDecisions,
    ),
  );

const anyLabel = fc.record({ n: fc.nat(6), corrects: fc.boolean() }).map(({ n, corrects }) =>
  step(
    `label(${n}, corrects ${corrects})`,
    async (model, real) => {
      const d = pick(model, n);
      const supersedes = corrects && d.label_id !== null ? { supersedes: d.label_id } : {};
      const reply = await call(real, 'POST', `/v1/decisions/${d.id}/labels`, real.reviewer, {
        body: { label: 'PURPOSE_ALIGNED', ...supersedes },
      });
      expect(reply.status).toBe(201);
      d.label_id = reply.body.label_id;
    },
    hasDecisions,
  ),
);

const anyOutcome = fc
  .record({
    n: fc.nat(6),
    type: fc.oneof(
      { weight: 4, arbitrary: fc.constant('SPEND_EXECUTED' as const) },
      { weight: 2, arbitrary: fc.constantFrom('SPEND_FAILED' as const, 'SPEND_CANCELLED' as const) },
      { weight: 4, arbitrary: fc.constantFrom('PARTIALLY_REFUNDED' as const, 'REFUNDED' as const) },
    ),
    share: fc.constantFrom(0.25, 0.5, 1, 1.5),
    reference: fc.constantFrom('a', 'b', 'c'),
    source: fc.constantFrom<Source>('CLIENT_REPORTED', 'PAYMENT_RAIL'),
  })
  .map(({ n, type, share, reference, source }) =>
    step(
      `outcome(${n}, ${type}, ${share}, ${reference}, ${source})`,
      async (model, real) => {
        const full = type === 'REFUNDED';
        const settles = type.startsWith('SPEND_');
        // Most reports are about what they can be about; the others are refused.
        const again = type === 'SPEND_EXECUTED' && source === 'PAYMENT_RAIL' && n % 3 === 0;
        const fitting = model.decisions.filter((each) =>
          settles
            ? again === each.reports.some((one) => one.source === source)
            : outcomeState(each) !== 'NONE',
        );
        const paid = fitting.filter((each) => each.capability?.status === 'CONSUMED');
        const likely = n % 2 === 0 && paid.length > 0 ? paid : fitting;
        const d = likely[likely.length - 1 - n] ?? pick(model, n);
        const given = {
          type,
          amount:
            settles && type !== 'SPEND_EXECUTED' ? null : full ? null : Math.ceil((d.amount || 100) * share),
          // Each source's full refund is its own. Settlements carry no reference but where the rail says it once more.
          reference: settles ? (again ? reference : null) : full ? `full-${source}` : reference,
          source,
        };
        const reply = await call(real, 'POST', `/v1/decisions/${d.id}/outcomes`, real.adapter, {
          body: {
            type,
            source,
            ...(given.amount === null ? {} : { amount_minor: given.amount }),
            ...(given.reference === null ? {} : { external_reference: given.reference }),
          },
        });
        const { answer, flags, amount } = report(model, d, given);
        if (answer === 'outcome_conflict') expect(codeOf(reply)).toBe(answer);
        else {
          expect([reply.status, reply.body.amount_minor]).toEqual([
            answer === 'repeated' ? 200 : 201,
            amount,
          ]);
          if (answer === 'recorded') expect(reply.body.flags).toEqual(flags);
        }
      },
      hasDecisions,
    ),
  );

const anyConsume = fc
  .record({
    n: fc.nat(6),
    amount: fc.constantFrom('all' as const, 'all' as const, 'some' as const, 'too much' as const),
    payee: fc.constantFrom(null, 'right' as const, 'right' as const, 'right' as const, 'stripe:acct_2'),
    again: fc.boolean(),
  })
  .map(({ n, amount, payee, again }) =>
    step(
      `consume(${n}, ${amount}, ${payee}, again ${again})`,
      async (model, real) => {
        const issued = model.decisions.filter((d) => d.capability !== null);
        const d = issued[issued.length - 1 - (n % issued.length)] as ModelDecision;
        const named = payee === 'right' ? d.payee : payee;
        const { capability } = (await call(real, 'GET', `/v1/decisions/${d.id}`, real.admin)).body;
        const amount_minor =
          amount === 'all' ? d.amount : amount === 'some' ? Math.ceil(d.amount / 2) : d.amount + 1;
        const body = {
          token: capability.token,
          amount_minor,
          currency: 'EUR',
          ...(named === null ? {} : { payee_id: named }),
        };
        const idempotency_key = freshKey();
        const send = () =>
          call(real, 'POST', '/v1/capabilities/consume', real.adapter, { body, idempotency_key });
        const reply = await send();
        const refused = consume(model, d, { amount: amount_minor, payee: named });
        expect(codeOf(reply)).toBe(refused);
        if (refused === null) real.consumed.push({ body, idempotency_key, reply });
        if (again && real.consumed.length > 0) {
          const earlier = real.consumed[n % real.consumed.length] as Real['consumed'][number];
          const replay = await call(real, 'POST', '/v1/capabilities/consume', real.adapter, {
            body: earlier.body,
            idempotency_key: earlier.idempotency_key,
          });
          expect([replay.status, replay.text]).toEqual([200, earlier.reply.text]);
        }
      },
      (model) => model.decisions.some((d) => d.capability !== null),
    ),
  );

const anyStatus = fc
  .record({
    n: fc.nat(1),
    status: fc.oneof(
      { weight: 30, arbitrary: fc.constant('active' as const) },
      { weight: 9, arbitrary: fc.constant('paused' as const) },
      { weight: 1, arbitrary: fc.constant('revoked' as const) },
    ),
  })
  .map(({ n, status }) =>
    step(`status(${n}, ${status})`, async (model, real) => {
      const agent = model.agents[n] as Model['agents'][number];
      const reply = await call(real, 'PATCH', `/v1/agents/${agent.slug}`, real.admin, { body: { status } });
      if (agent.status === 'revoked' && status !== 'revoked') expect(codeOf(reply)).toBe('invalid_request');
      else {
        expect(reply.status).toBe(200);
        agent.status = status;
      }
    }),
  );

const anyAuthority = fc
  .record({ n: fc.nat(1), limits: fc.constantFrom(...LIMITS), terms: anyTerms })
  .map(({ n, limits, terms }) =>
    step(`authority(${n}, ${JSON.stringify({ ...limits, ...terms })})`, async (model, real) => {
      const agent = model.agents[n] as Model['agents'][number];
      const authority: ModelAuthority = { ...limits, ...terms };
      const body = authorityBody(authority);
      const reply = await call(real, 'POST', `/v1/agents/${agent.slug}/authority`, real.admin, { body });
      expect(reply.status, reply.text).toBe(201);
      join(model, agent, authority);
      agent.authority = authority;
    }),
  );

const anyWait = fc.constantFrom(5, 20, 45, 300, 700, 86_400 * 2).map((seconds) =>
  step(`wait(${seconds} s)`, async (model) => {
    const at = clearMoment(model, model.now_ms + seconds * 1_000);
    await (nodes[0] as RunningService).setClock(at);
    moveTo(model, at);
  }),
);

const sweep = () => makeReservationSweep({ db: core.db, lane: core.lane, log })();
const anySweep = fc.constant(null).map(() => step('sweep()', sweep));

/** At the end: counters and history agree with the model to the last row, none of them only as they are read. */
async function finish(model: Model, real: Real): Promise<void> {
  await sweep();
  await compare(model, real);
  const { rows } = await (nodes[0] as RunningService).sql(
    `select slug, period, held_minor::int as held, committed_minor::int as committed
      from budgets join agents using (workspace_id, agent_id) where workspace_id = $1 order by 1, 2`,
    [real.workspace_id],
  );
  const touched = rows.map(({ slug, period }) => {
    const agent = model.agents.find((each) => each.slug === slug) as Model['agents'][number];
    return { slug, period, ...counter(model, agent, period) };
  });
  expect(rows).toEqual(touched);
  // Slots that are over stay as they were, so those that end about now are left out.
  const ends_after_ms = model.now_ms + 60_000;
  const counters = await (nodes[0] as RunningService).sql(
    `select left(counter_id, 3) as kind, slot, until, count::int, (held_minor + committed_minor)::int as amount
      from counters where workspace_id = $1 and (count, held_minor + committed_minor) <> (0, 0) and until > $2`,
    [real.workspace_id, new Date(ends_after_ms)],
  );
  const expected = model.agents
    .flatMap((agent) => rowsOf(model, agent))
    .filter((row) => row.until_ms > ends_after_ms && (row.count > 0 || row.amount > 0));
  expect(
    counters.rows
      .map(({ kind, slot, until, count, amount }) => [kind, ms(slot), ms(until), count, amount].join())
      .sort(),
  ).toEqual(
    expected
      .map((row) => [JSON.parse(row.counter)[0], row.starts_ms, row.until_ms, row.count, row.amount].join())
      .sort(),
  );
  const run_out = await (nodes[0] as RunningService).sql(
    "select subject_id from ledger_events where workspace_id = $1 and type = 'reservation.expired' order by 1",
    [real.workspace_id],
  );
  expect(run_out.rows.map((row) => row.subject_id.replace('rsv_', 'dec_'))).toEqual(
    model.decisions.filter((d) => d.ran_out > 0).map((d) => d.id),
  );
  expect(model.decisions.every((d) => d.ran_out <= 1)).toBe(true);
}

test(
  `histories of up to ${MAX_COMMANDS} commands are what the model says, after every one of them`,
  async () => {
    const commands = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: anyDecide },
        { weight: 4, arbitrary: anyReview },
        { weight: 5, arbitrary: anyOutcome },
        { weight: 5, arbitrary: anyConsume },
        { weight: 3, arbitrary: anyWait },
        { weight: 1, arbitrary: anyReplay },
        { weight: 2, arbitrary: anyLabel },
        { weight: 2, arbitrary: anyStatus },
        { weight: 3, arbitrary: anyAuthority },
        { weight: 1, arbitrary: anySweep },
      ),
      { minLength: MIN_COMMANDS, maxLength: MAX_COMMANDS },
    );
    let failed_ms = Number.POSITIVE_INFINITY;
    await fc.assert(
      fc.asyncProperty(commands, async (given) => {
        if (performance.now() - failed_ms > MAX_SHRINK_MS) return;
        let last: { model: Model; real: Real } | undefined;
        try {
          await fc.asyncModelRun(async () => {
            last = await setUp();
            return last;
          }, given);
          if (last !== undefined) await finish(last.model, last.real);
        } catch (error) {
          failed_ms = Math.min(failed_ms, performance.now());
          throw error;
        }
      }),
      {
        seed: SEED,
        numRuns: RUNS,
        ...(PATH === undefined ? {} : { path: PATH }),
        endOnFailure: PATH !== undefined,
      },
    );
  },
  TIMEOUT_MS,
);
