import { percentilesOf } from '../demo/totals.ts';
import type { Bench, Loaded } from './bench.ts';
import type { Goal } from './goals.ts';
import { PLAIN_CONNECTIONS, type PlainWay, preparePlainWay } from './plain-way.ts';
import { shownNumber, shownSpread } from './render.ts';
import type { GroupResult, ResultTable } from './result.ts';
import { betweenOf, medianOf, ratiosOf, spreadOf } from './statistics.ts';
import type { Rated, Tpcb } from './tpcb.ts';
import { type BenchWorkspace, makeWorkspaces } from './workspaces.ts';

const CLIENTS = [1, 16, 64, 256] as const;
/** With which the goals are judged. */
const JUDGED_CLIENTS = 64;
const MANY_AGENTS = 50;
const WARM_UP_DECISIONS = 500;
const HALF_PEAK_RUNS = 3;

const GOALS = { tpcb: 1.6, as_it_comes: 1, plain: 6, many: 0.8, lone: 1.5, tail: 5 };

/** Who is asked for. */
interface Crowd {
  name: string;
  workspaces: readonly BenchWorkspace[];
}

/** A rate, and the processor time of PostgreSQL for one of what it counts; null where it cannot be told. */
interface Baseline {
  per_second: number;
  postgres_cpu_ms: number | null;
}

/** What one round measured. */
interface Round {
  plain: Baseline;
  as_it_comes_per_second: number;
  insert_ms: number;
  points: Map<string, Loaded>;
}

const pointName = (crowd: Crowd, clients: number) =>
  `${crowd.name}, ${clients} client${clients === 1 ? '' : 's'}`;
const targetsOf = (crowd: Crowd) => crowd.workspaces.flatMap((workspace) => workspace.targets);

async function runBaseline(bench: Bench, run: (seconds: number) => Promise<number>): Promise<Baseline> {
  const { baseline_seconds } = bench.plan;
  const { result: per_second, postgres_ms } = await bench.processorTimeOf(() => run(baseline_seconds));
  return {
    per_second,
    postgres_cpu_ms: postgres_ms === null ? null : postgres_ms / (per_second * baseline_seconds),
  };
}

async function runRound(
  bench: Bench,
  crowds: readonly Crowd[],
  beside: { tpcb: Tpcb; as_it_comes: Rated; plain: PlainWay },
): Promise<Round> {
  const { plan, say } = bench;
  const points = new Map<string, Loaded>();
  const insert_ms = (await beside.tpcb.commitInserts(plan.lone_inserts)).p50;
  for (const crowd of crowds) {
    for (const clients of CLIENTS) {
      const requests = bench.decisionsOf(targetsOf(crowd));
      const limits = { warm_up_ms: plan.warm_up_ms, measured_ms: plan.seconds * 1000 };
      const loaded = await bench.load(clients, requests, limits);
      points.set(pointName(crowd, clients), loaded);
      say(`  ${pointName(crowd, clients)}: ${loaded.per_second.toFixed(0)}/s`);
    }
  }
  const as_it_comes_per_second = await beside.as_it_comes.run(plan.baseline_seconds);
  const plain_way = await runBaseline(bench, beside.plain.run);
  say(
    `  TPC-B as it comes: ${as_it_comes_per_second.toFixed(0)}/s; the plain way: ${plain_way.per_second.toFixed(0)}/s; a bare committed insert: ${insert_ms.toFixed(2)} ms`,
  );
  return { plain: plain_way, as_it_comes_per_second, insert_ms, points };
}

function tableOf(crowds: readonly Crowd[], rounds: readonly Round[], tpcb: readonly number[]): ResultTable {
  const rows = crowds.flatMap((crowd) =>
    CLIENTS.map((clients) => {
      const loads = rounds.map((round) => round.points.get(pointName(crowd, clients)) as Loaded);
      const rates = loads.map((load) => load.per_second);
      const times = percentilesOf(loads.flatMap((load) => load.latencies_ms));
      const cpuOf = (of: (load: Loaded) => number | null) =>
        medianOf(loads.flatMap((load) => of(load) ?? []));
      return [
        pointName(crowd, clients),
        shownSpread(spreadOf(rates)),
        shownNumber(times.p50),
        shownNumber(times.p99),
        shownNumber(medianOf(ratiosOf(rates, betweenOf(tpcb)))),
        shownNumber(cpuOf((load) => load.service_cpu_ms)),
        shownNumber(cpuOf((load) => load.postgres_cpu_ms)),
      ];
    }),
  );
  const title = 'Decisions over HTTP';
  const columns = [
    'point',
    'decisions/s',
    'p50 ms',
    'p99 ms',
    'x TPC-B',
    'CPU ms service',
    'CPU ms PostgreSQL',
  ];
  return { title, columns, rows };
}

/** Decisions over HTTP from few and many clients, beside TPC-B and the plain way on the same PostgreSQL. */
export async function measureDecisions(bench: Bench): Promise<GroupResult> {
  const { plan, purser, say } = bench;
  const tpcb = await bench.prepareTpcb();
  const as_it_comes = await tpcb.prepareAsItComes();
  say('Making agents, keys and workspaces…');
  const crowds: [Crowd, Crowd, Crowd] = [
    { name: 'one workspace, one agent', workspaces: await makeWorkspaces(purser, { count: 1, agents: 1 }) },
    {
      name: `one workspace, ${MANY_AGENTS} agents`,
      workspaces: await makeWorkspaces(purser, { count: 1, agents: MANY_AGENTS }),
    },
    {
      name: `${plan.workspaces} workspaces`,
      workspaces: await makeWorkspaces(purser, { count: plan.workspaces, agents: 1 }),
    },
  ];
  const [hot, , many] = crowds;
  const all = crowds.flatMap(targetsOf);
  await bench.load(JUDGED_CLIENTS, bench.decisionsOf(targetsOf(hot)), {
    warm_up_ms: 0,
    measured_ms: Number.POSITIVE_INFINITY,
    max_requests: WARM_UP_DECISIONS,
  });
  await bench.load(JUDGED_CLIENTS, bench.decisionsOf(all), {
    warm_up_ms: 0,
    measured_ms: 2 * plan.warm_up_ms,
  });
  const plain = await preparePlainWay(bench.server, (hot.workspaces[0] as BenchWorkspace).id);

  say(`TPC-B: ${tpcb.method}`);
  const rounds: Round[] = [];
  const tpcbs = [await runBaseline(bench, tpcb.run)];
  try {
    for (let round = 0; round < plan.rounds; round += 1) {
      say(`  TPC-B: ${tpcbs.at(-1)?.per_second.toFixed(0)}/s`);
      rounds.push(await runRound(bench, crowds, { tpcb, as_it_comes, plain }));
      tpcbs.push(await runBaseline(bench, tpcb.run));
    }
  } finally {
    await plain.close();
  }

  const ratesOf = (crowd: Crowd, clients: number) =>
    rounds.map((round) => (round.points.get(pointName(crowd, clients)) as Loaded).per_second);
  const judged = ratesOf(hot, JUDGED_CLIENTS);
  const tpcb_rates = tpcbs.map((each) => each.per_second);
  const as_it_comes_rates = rounds.map((round) => round.as_it_comes_per_second);
  const plain_rates = rounds.map((round) => round.plain.per_second);
  const cpuOf = (baselines: readonly Baseline[]) =>
    shownSpread(spreadOf(baselines.flatMap((each) => each.postgres_cpu_ms ?? [])));
  const inserts = rounds.map((round) => round.insert_ms);
  const lone = rounds.map(
    (round) => percentilesOf((round.points.get(pointName(hot, 1)) as Loaded).latencies_ms).p50,
  );
  const peak = Math.max(...CLIENTS.map((clients) => medianOf(ratesOf(hot, clients))));
  const paced = await atHalfOf(bench, targetsOf(hot), peak);
  const ratios = {
    tpcb: ratiosOf(judged, betweenOf(tpcb_rates)),
    as_it_comes: ratiosOf(judged, as_it_comes_rates),
    plain: ratiosOf(judged, plain_rates),
    many: ratiosOf(ratesOf(many, JUDGED_CLIENTS), judged),
    lone: ratiosOf(lone, inserts),
    tail: paced.map((each) => each.p99 / each.p50),
  };
  const at = `${JUDGED_CLIENTS} clients`;
  const goal = (name: string, key: keyof typeof GOALS, is_least: boolean): Goal => ({
    name,
    unit: '',
    is_least,
    goal: GOALS[key],
    measured: medianOf(ratios[key]),
  });
  const ratioRow = (name: string, key: keyof typeof GOALS) => [name, shownSpread(spreadOf(ratios[key]))];
  return {
    tables: [
      tableOf(crowds, rounds, tpcb_rates),
      {
        title: 'Beside them, on the same PostgreSQL',
        columns: ['measurement', 'median (least to greatest)'],
        rows: [
          ['TPC-B, transactions/s', shownSpread(spreadOf(tpcb_rates))],
          ['TPC-B as pgbench comes, transactions/s', shownSpread(spreadOf(as_it_comes_rates))],
          ['TPC-B, CPU ms PostgreSQL a transaction', cpuOf(tpcbs)],
          ['The plain way, decisions/s', shownSpread(spreadOf(plain_rates))],
          ['The plain way, CPU ms PostgreSQL a decision', cpuOf(rounds.map((round) => round.plain))],
          ['One bare committed insert, p50 ms', shownSpread(spreadOf(inserts))],
          ['One lone client, p50 ms', shownSpread(spreadOf(lone))],
          [
            `At ${(peak / 2).toFixed(0)}/s, half of the peak, p50 ms`,
            shownSpread(spreadOf(paced.map((each) => each.p50))),
          ],
          [
            `At ${(peak / 2).toFixed(0)}/s, half of the peak, p99 ms`,
            shownSpread(spreadOf(paced.map((each) => each.p99))),
          ],
        ],
      },
      {
        title: 'Ratios of the same round',
        columns: ['ratio', 'median (least to greatest)'],
        rows: [
          ratioRow(`${at}, one workspace: to TPC-B around it`, 'tpcb'),
          ratioRow(`${at}, one workspace: to TPC-B as pgbench comes`, 'as_it_comes'),
          ratioRow(`${at}, one workspace: to the plain way`, 'plain'),
          ratioRow(`${at}: ${plan.workspaces} workspaces to one`, 'many'),
          ratioRow('One lone client: to a bare committed insert', 'lone'),
          ratioRow('At half of the peak: p99 to p50', 'tail'),
        ],
      },
    ],
    goals: [
      goal(`${at} on one workspace, to TPC-B`, 'tpcb', true),
      goal(`${at} on one workspace, to TPC-B as pgbench comes`, 'as_it_comes', true),
      goal(`${at} on one workspace, to the plain way`, 'plain', true),
      goal(`${plan.workspaces} workspaces to one, ${at}`, 'many', true),
      goal('Latency of one lone client, to a bare committed insert', 'lone', false),
      goal('p99 to p50 at half of the peak rate', 'tail', false),
    ],
    notes: [
      `${plan.rounds} rounds of ${plan.seconds} s a point; figures are medians over the rounds, with the least and the greatest; times are of all rounds together.`,
      `TPC-B: ${tpcb.method}; measured before, between and after the rounds.`,
      `TPC-B as pgbench comes: ${as_it_comes.method}; measured in each round. Its one branch is updated by every transaction, as the head of a workspace is by every decision of it; its clients are 16, those of the decisions 64.`,
      `The plain way: the same rows in one transaction a decision of eleven prepared statements through pg, 64 clients on ${PLAIN_CONNECTIONS} connections, nothing assessed or decided.`,
      'CPU is processor time per decision, which a shared machine disturbs least; the load generator, pgbench and the client of the plain way share the machine and are not in it.',
    ],
    problems: await bench.findProblems(crowds.flatMap((crowd) => crowd.workspaces)),
  };
}

/** Times of decisions that are asked for evenly at half of the peak rate, a few runs. */
async function atHalfOf(bench: Bench, targets: ReturnType<typeof targetsOf>, peak: number) {
  const { plan } = bench;
  const runs: { p50: number; p99: number }[] = [];
  for (let n = 0; n < HALF_PEAK_RUNS; n += 1) {
    const { latencies_ms } = await bench.load(JUDGED_CLIENTS, bench.decisionsOf(targets), {
      warm_up_ms: plan.warm_up_ms,
      measured_ms: plan.seconds * 1000,
      per_second: peak / 2,
    });
    runs.push(percentilesOf(latencies_ms));
  }
  return runs;
}
