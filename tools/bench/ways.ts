import type { Purser } from '@purser/sdk';
import type { CreateApiKeyRequest, DecisionListQuery } from '@purser/sdk/types';
import { describeError } from '../demo/json-client.ts';
import { type Percentiles, percentilesOf } from '../demo/totals.ts';
import { type Bench, type Loaded, requestText } from './bench.ts';
import type { Goal } from './goals.ts';
import type { Requests } from './load.ts';
import { shownNumber } from './render.ts';
import type { GroupResult } from './result.ts';
import { BENCH_AUTHORITY, makeSpendBody } from './spend-bodies.ts';
import { medianOf } from './statistics.ts';
import { type BenchWorkspace, makeWorkspaces } from './workspaces.ts';

const CLIENTS = 64;
const LIST_CLIENTS = 16;
const LIST_RUNS = 3;
const DEEP_PAGE = 100;
const SIMULATED = 2_000;
const SLOW_TIMES = 10;
const VERIFIED_TIMES = 3;

const GOALS = { deep_page: 2, simulation_ms: 150, verified_per_second: 50_000 };

interface Made {
  decision_id: string;
  amount_minor: number;
  token: string | null;
}

type Row = [name: string, rate: string, p50: string, p99: string];

const rowOf = (name: string, per_second: number, { p50, p99 }: Percentiles): Row => [
  name,
  shownNumber(per_second),
  shownNumber(p50),
  shownNumber(p99),
];
const loadRow = (name: string, loaded: Loaded) =>
  rowOf(name, loaded.per_second, percentilesOf(loaded.latencies_ms));

/** Asks a count of decisions and gives what the next steps need of them. */
async function makeDecisions(
  bench: Bench,
  workspace: BenchWorkspace,
  count: number,
  makeBody?: (n: number) => string,
): Promise<Made[]> {
  const made: Made[] = [];
  const requests = bench.decisionsOf(workspace.targets, {
    ...(makeBody === undefined ? {} : { makeBody }),
    onCreated(body) {
      const decision = JSON.parse(body.toString()) as {
        decision_id: string;
        requested_amount_minor: number;
        capability: { token: string } | null;
      };
      const { decision_id, requested_amount_minor, capability } = decision;
      made.push({ decision_id, amount_minor: requested_amount_minor, token: capability?.token ?? null });
    },
  });
  await bench.load(CLIENTS, requests, toTheEnd(count));
  return made;
}

export const toTheEnd = (count: number) => ({
  warm_up_ms: 0,
  measured_ms: Number.POSITIVE_INFINITY,
  max_requests: count,
});

function withAmount(amountOf: (n: number) => number): (n: number) => string {
  return (n) => {
    const body = JSON.parse(makeSpendBody(n)) as { action: { amount_minor: number } };
    body.action.amount_minor = amountOf(n);
    return JSON.stringify(body);
  };
}

/** A write that takes a decision each time; every one adds an event to the chain. */
async function useUp(
  bench: Bench,
  workspace: BenchWorkspace,
  decisions: readonly Made[],
  textOf: (made: Made, n: number) => string,
): Promise<Loaded> {
  const requests: Requests = {
    good_status: 201,
    make: (n) => textOf(decisions[n] as Made, n),
    onGood: () => bench.expectEvents(workspace.id, 1),
  };
  return bench.load(CLIENTS, requests, toTheEnd(decisions.length));
}

export const readOf = (key: string, pathOf: (n: number) => string): Requests => ({
  good_status: 200,
  make: (n) => requestText('GET', pathOf(n), key),
});

/** One client, one request after the other. */
async function inTurn(times: number, one: () => Promise<number>, signal: AbortSignal): Promise<Percentiles> {
  const took_ms: number[] = [];
  for (let n = 0; n < times; n += 1) {
    signal.throwIfAborted();
    took_ms.push(await one());
  }
  return percentilesOf(took_ms);
}

/** The cursor that leads to the page of this number. Throws where there are fewer pages. */
async function cursorOf(purser: Purser, query: DecisionListQuery, page: number): Promise<string> {
  let cursor: string | undefined;
  for (let n = 1; n < page; n += 1) {
    const { next_cursor } = await purser.decisions.list(cursor === undefined ? query : { ...query, cursor });
    if (next_cursor === null) throw new Error(`The list has only ${n} pages.`);
    cursor = next_cursor;
  }
  return cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
}

/**
 * A filtered list of decisions, its first page and its hundredth, in turn: the rows of the table, and how much
 * longer the hundredth takes.
 */
export async function measureLists(
  bench: Bench,
  workspace: BenchWorkspace,
  page_size: number,
): Promise<{ rows: Row[]; ratio: number }> {
  const { plan } = bench;
  const { admin_key } = workspace;
  const query = { decision: 'ALLOW', min_amount: 2_000, limit: page_size } as const;
  const list = `/v1/decisions?decision=ALLOW&min_amount=2000&limit=${page_size}`;
  const deep = await cursorOf(workspace.purser, query, DEEP_PAGE);
  const limits = { warm_up_ms: plan.warm_up_ms, measured_ms: (plan.seconds * 1000) / LIST_RUNS };
  const first: Loaded[] = [];
  const last: Loaded[] = [];
  for (let n = 0; n < LIST_RUNS; n += 1) {
    first.push(
      await bench.load(
        LIST_CLIENTS,
        readOf(admin_key, () => list),
        limits,
      ),
    );
    last.push(
      await bench.load(
        LIST_CLIENTS,
        readOf(admin_key, () => `${list}${deep}`),
        limits,
      ),
    );
  }
  const row = (name: string, loads: readonly Loaded[]) =>
    rowOf(
      `${name}, ${LIST_CLIENTS} clients`,
      medianOf(loads.map((load) => load.per_second)),
      percentilesOf(loads.flatMap((load) => load.latencies_ms)),
    );
  const times = (loads: readonly Loaded[]) => loads.map((load) => percentilesOf(load.latencies_ms).p50);
  return {
    rows: [
      row(`filtered list, first page of ${page_size}`, first),
      row(`filtered list, page ${DEEP_PAGE} of ${page_size}`, last),
    ],
    ratio: medianOf(times(last)) / medianOf(times(first)),
  };
}

/** Verifies a workspace's chain a few times, one after the other; events a second of each. */
export async function measureVerification(bench: Bench, { client }: BenchWorkspace, times: number) {
  const rates: number[] = [];
  let events = 0;
  const took = await inTurn(
    times,
    async () => {
      const answer = await client.send('GET', '/v1/ledger/verify');
      const { valid, events_checked } = answer.body as { valid?: boolean; events_checked?: number };
      if (valid !== true) throw new Error(`The ledger is not valid: ${describeError(answer)}`);
      events = Number(events_checked);
      rates.push((events * 1000) / answer.took_ms);
      return answer.took_ms;
    },
    bench.signal,
  );
  const goal: Goal = {
    name: `Verification, ${events} events`,
    unit: '/s',
    is_least: true,
    goal: GOALS.verified_per_second,
    measured: medianOf(rates),
  };
  return { goal, events, took };
}

/** Everything else that is asked often, each way alone. */
export async function measureWays(bench: Bench): Promise<GroupResult> {
  const { plan, purser, say } = bench;
  const { requests: count } = plan;
  say('Making a workspace in ENFORCE and its decisions…');
  const [workspace] = await makeWorkspaces(purser, { count: 1, agents: 1, mode: 'ENFORCE' });
  if (workspace === undefined) throw new Error('No workspace was made.');
  const rows: Row[] = [];
  const note = (row: Row) => {
    rows.push(row);
    say(`  ${row[0]}: ${row[1]}/s, p50 ${row[2]} ms`);
  };
  const allowed = await measureWrites(bench, workspace, note);
  const pathOf = (n: number) => `/v1/decisions/${(allowed[n % allowed.length] as Made).decision_id}`;
  const limits = { warm_up_ms: plan.warm_up_ms, measured_ms: plan.seconds * 1000 };
  const read = await bench.load(CLIENTS, readOf(workspace.admin_key, pathOf), limits);
  note(loadRow(`get one decision, ${CLIENTS} clients`, read));
  const page_size = Math.min(50, Math.floor((2 * count) / DEEP_PAGE) - 1);
  const lists = await measureLists(bench, workspace, page_size);
  for (const row of lists.rows) note(row);
  const { simulation, verified } = await measureSlowWays(bench, workspace, note);
  return {
    tables: [{ title: 'Each way alone', columns: ['way', 'per second', 'p50 ms', 'p99 ms'], rows }],
    goals: [
      {
        name: `Filtered list: page ${DEEP_PAGE} to the first`,
        unit: '',
        is_least: false,
        goal: GOALS.deep_page,
        measured: lists.ratio,
      },
      {
        name: `Simulation of ${SIMULATED} decisions, purpose judged again, p50`,
        unit: 'ms',
        is_least: false,
        goal: GOALS.simulation_ms,
        measured: simulation.evaluated === SIMULATED ? simulation.took.p50 : null,
      },
      verified.goal,
    ],
    notes: [
      `One workspace in ENFORCE with ${3 * count} decisions; reviews, consumptions and outcomes use ${count} decisions each, once.`,
      'What one client does in turn is given by its median: per second is what that client alone would reach.',
    ],
    problems: await bench.findProblems([workspace]),
  };
}

/** Replays, reviews, consumptions and outcomes. Returns the allowed decisions that were made for them. */
async function measureWrites(
  bench: Bench,
  workspace: BenchWorkspace,
  note: (row: Row) => void,
): Promise<Made[]> {
  const { plan } = bench;
  const { purser: admin, targets, id } = workspace;
  const { requests: count } = plan;
  const agent_key = targets[0]?.agent_key as string;
  const keyWith = async (name: string, scopes: CreateApiKeyRequest['scopes'] & {}) => {
    const { key } = await admin.apiKeys.create({ name, scopes, principal_id: `user:${name}` });
    bench.expectEvents(id, 1);
    return key;
  };
  const review_key = await keyWith('reviews', ['review', 'read']);
  const adapter_key = await keyWith('pays', ['consume']);
  const allowable = withAmount((n) => 2_000 + (n % 150_000));
  const allowed = await makeDecisions(bench, workspace, 2 * count, allowable);
  const reviewable = withAmount((n) => 300_000 + (n % 1_000));
  const pending = await makeDecisions(bench, workspace, count, reviewable);
  await measureReplays(bench, workspace, agent_key, note);
  const use = async (name: string, decisions: readonly Made[], textOf: (made: Made, n: number) => string) =>
    note(loadRow(`${name}, ${CLIENTS} clients`, await useUp(bench, workspace, decisions, textOf)));
  await use('review', pending, ({ decision_id }) =>
    requestText('POST', `/v1/decisions/${decision_id}/reviews`, review_key, {
      text: '{"action":"ALLOW","reason_code":"CHECKED"}',
    }),
  );
  await use('consume', allowed.slice(0, count), ({ token, amount_minor }, n) =>
    requestText('POST', '/v1/capabilities/consume', adapter_key, {
      text: JSON.stringify({ token, amount_minor, currency: 'EUR' }),
      idempotency_key: `consume-${n}`,
    }),
  );
  await use('outcome', allowed.slice(count), ({ decision_id, amount_minor }) =>
    requestText('POST', `/v1/decisions/${decision_id}/outcomes`, agent_key, {
      text: JSON.stringify({ type: 'SPEND_EXECUTED', amount_minor }),
    }),
  );
  return allowed;
}

async function measureReplays(
  bench: Bench,
  { targets }: BenchWorkspace,
  agent_key: string,
  note: (row: Row) => void,
): Promise<void> {
  const { plan } = bench;
  const text = withAmount(() => 4_200)(0);
  const replay_text = requestText('POST', '/v1/decisions', agent_key, { text, idempotency_key: 'replayed' });
  const make = () => replay_text;
  await bench.load(1, { ...bench.decisionsOf(targets), make }, toTheEnd(1));
  const limits = { warm_up_ms: plan.warm_up_ms, measured_ms: plan.seconds * 1000 };
  const replays = await bench.load(CLIENTS, { good_status: 200, make }, limits);
  note(loadRow(`idempotent replay, ${CLIENTS} clients`, replays));
}

/** Simulations, the report and the verification: one client, one request after the other. */
async function measureSlowWays(bench: Bench, workspace: BenchWorkspace, note: (row: Row) => void) {
  const { plan, signal } = bench;
  const { client, agent_ids } = workspace;
  const serial = (name: string, took: Percentiles) =>
    note(rowOf(`${name}, one client`, 1000 / took.p50, took));
  const evaluated = Math.min(SIMULATED, 3 * plan.requests);
  const path = `/v1/agents/${agent_ids[0]}/authority/simulate?limit=${evaluated}`;
  const simulate = (draft: object) =>
    inTurn(
      SLOW_TIMES,
      async () => {
        const answer = await client.send('POST', path, draft);
        if ((answer.body as { evaluated?: number }).evaluated !== evaluated)
          throw new Error(`A simulation was answered ${describeError(answer)}`);
        return answer.took_ms;
      },
      signal,
    );
  const same = await simulate({ ...BENCH_AUTHORITY, monthly_budget_minor: 100_000_000 });
  serial(`simulation of ${evaluated}, purpose unchanged`, same);
  const purpose = { ...BENCH_AUTHORITY.purpose, context: 'Frame series in service: M1 to M4.' };
  const other = await simulate({ ...BENCH_AUTHORITY, purpose });
  serial(`simulation of ${evaluated}, purpose judged again`, other);
  const report = await inTurn(
    SLOW_TIMES,
    async () => {
      const answer = await client.send('GET', '/v1/reports/shadow');
      if (answer.status !== 200) throw new Error(`The report was answered ${describeError(answer)}`);
      return answer.took_ms;
    },
    signal,
  );
  serial('shadow report', report);
  const verified = await measureVerification(bench, workspace, VERIFIED_TIMES);
  serial(`verification of ${verified.events} events`, verified.took);
  return { simulation: { evaluated, took: other }, verified };
}
