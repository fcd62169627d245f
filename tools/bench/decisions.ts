import { percentilesOf } from '../demo/totals.ts';
import type { Bench, Loaded } from './bench.ts';
import type { Goal } from './goals.ts';
import { PLAIN_CONNECTIONS, type PlainWay, preparePlainWay } from './plain-way.ts';
import type { Plan } from './plan.ts';
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

type Crowds = [hot: Crowd, agents: Crowd, many: Crowd];

async function makeCrowds({ plan, purser, say }: Bench): Promise<Crowds> {
  say('Making agents, keys and workspaces…');
  return [
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
}

async function warmUp(bench: Bench, crowds: Crowds): Promise<void> {
  await bench.load(JUDGED_CLIENTS, bench.decisionsOf(targetsOf(crowds[0])), {
    warm_up_ms: 0,
    measured_ms: Number.POSITIVE_INFINITY,
    max_requests: WARM_UP_DECISIONS,
  });
  await bench.load(JUDGED_CLIENTS, bench.decisionsOf(crowds.flatMap(targetsOf)), {
    warm_up_ms: 0,
    measured_ms: 2 * bench.plan.warm_up_ms,
  });
}

/** All rounds, with TPC-B before, between and after them. */
async function runRounds(
  bench: Bench,
  crowds: Crowds,
  beside: { tpcb: Tpcb; as_it_comes: Rated },
): Promise<{ rounds: Round[]; tpcbs: Baseline[] }> {
  const { plan, say } = bench;
  const plain = await preparePlainWay(bench.server, (crowds[0].workspaces[0] as BenchWorkspace).id);
  say(`TPC-B: ${beside.tpcb.method}`);
  const rounds: Round[] = [];
  const tpcbs = [await runBaseline(bench, beside.tpcb.run)];
  try {
    for (let round = 0; round < plan.rounds; round += 1) {
      say(`  TPC-B: ${tpcbs.at(-1)?.per_second.toFixed(0)}/s`);
      rounds.push(await runRound(bench, crowds, { ...beside, plain }));
      tpcbs.push(await runBaseline(bench, beside.tpcb.run));
    }
  } finally {
    await plain.close();
  }
  return { rounds, tpcbs };
}

/** The figures of all rounds from which tables and goals are made. */
interface Measured {
  rounds: readonly Round[];
  tpcbs: readonly Baseline[];
  /** Median latencies of a lone client. */
  lone: readonly number[];
  peak: number;
  paced: readonly { p50: number; p99: number }[];
  ratios: Record<keyof typeof GOALS, number[]>;
}

/** Decisions over HTTP from few and many clients, beside TPC-B and the plain way on the same PostgreSQL. */
export async function measureDecisions(bench: Bench): Promise<GroupResult> {
  const { plan } = bench;
  const tpcb = await bench.prepareTpcb();
  const as_it_comes = await tpcb.prepareAsItComes();
  const crowds = await makeCrowds(bench);
  await warmUp(bench, crowds);
  const { rounds, tpcbs } = await runRounds(bench, crowds, { tpcb, as_it_comes });
  const [hot, , many] = crowds;
  const ratesOf = (crowd: Crowd, clients: number) =>
    rounds.map((round) => (round.points.get(pointName(crowd, clients)) as Loaded).per_second);
  const judged = ratesOf(hot, JUDGED_CLIENTS);
  const lone = rounds.map(
    (round) => percentilesOf((round.points.get(pointName(hot, 1)) as Loaded).latencies_ms).p50,
  );
  const peak = Math.max(...CLIENTS.map((clients) => medianOf(ratesOf(hot, clients))));
  const paced = await atHalfOf(bench, targetsOf(hot), peak);
  const between = betweenOf(tpcbs.map((each) => each.per_second));
  const ratios = {
    tpcb: ratiosOf(judged, between),
    as_it_comes: ratiosOf(
      judged,
      rounds.map((round) => round.as_it_comes_per_second),
    ),
    plain: ratiosOf(
      judged,
      rounds.map((round) => round.plain.per_second),
    ),
    many: ratiosOf(ratesOf(many, JUDGED_CLIENTS), judged),
    lone: ratiosOf(
      lone,
      rounds.map((round) => round.insert_ms),
    ),
    tail: paced.map((each) => each.p99 / each.p50),
  };
  const measured: Measured = { rounds, tpcbs, lone, peak, paced, ratios };
  const tpcb_rates = tpcbs.map((each) => each.per_second);
  return {
    tables: [tableOf(crowds, rounds, tpcb_rates), besideTable(measured), ratioTable(plan, measured)],
    goals: goalsOf(plan, measured),
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

function besideTable({ rounds, tpcbs, lone, peak, paced }: Measured): ResultTable {
  const spread = (values: readonly number[]) => shownSpread(spreadOf(values));
  const cpuOf = (baselines: readonly Baseline[]) =>
    spread(baselines.flatMap((each) => each.postgres_cpu_ms ?? []));
  const half = `At ${(peak / 2).toFixed(0)}/s, half of the peak`;
  return {
    title: 'Beside them, on the same PostgreSQL',
    columns: ['measurement', 'median (least to greatest)'],
    rows: [
      ['TPC-B, transactions/s', spread(tpcbs.map((each) => each.per_second))],
      ['TPC-B as pgbench comes, transactions/s', spread(rounds.map((each) => each.as_it_comes_per_second))],
      ['TPC-B, CPU ms PostgreSQL a transaction', cpuOf(tpcbs)],
      ['The plain way, decisions/s', spread(rounds.map((round) => round.plain.per_second))],
      ['The plain way, CPU ms PostgreSQL a decision', cpuOf(rounds.map((round) => round.plain))],
      ['One bare committed insert, p50 ms', spread(rounds.map((round) => round.insert_ms))],
      ['One lone client, p50 ms', spread(lone)],
      [`${half}, p50 ms`, spread(paced.map((each) => each.p50))],
      [`${half}, p99 ms`, spread(paced.map((each) => each.p99))],
    ],
  };
}

function ratioTable({ workspaces }: Plan, { ratios }: Measured): ResultTable {
  const at = `${JUDGED_CLIENTS} clients`;
  const row = (name: string, key: keyof typeof GOALS) => [name, shownSpread(spreadOf(ratios[key]))];
  return {
    title: 'Ratios of the same round',
    columns: ['ratio', 'median (least to greatest)'],
    rows: [
      row(`${at}, one workspace: to TPC-B around it`, 'tpcb'),
      row(`${at}, one workspace: to TPC-B as pgbench comes`, 'as_it_comes'),
      row(`${at}, one workspace: to the plain way`, 'plain'),
      row(`${at}: ${workspaces} workspaces to one`, 'many'),
      row('One lone client: to a bare committed insert', 'lone'),
      row('At half of the peak: p99 to p50', 'tail'),
    ],
  };
}

function goalsOf({ workspaces }: Plan, { ratios }: Measured): Goal[] {
  const at = `${JUDGED_CLIENTS} clients`;
  const goal = (name: string, key: keyof typeof GOALS, is_least: boolean): Goal => ({
    name,
    unit: '',
    is_least,
    goal: GOALS[key],
    measured: medianOf(ratios[key]),
  });
  return [
    goal(`${at} on one workspace, to TPC-B`, 'tpcb', true),
    goal(`${at} on one workspace, to TPC-B as pgbench comes`, 'as_it_comes', true),
    goal(`${at} on one workspace, to the plain way`, 'plain', true),
    goal(`${workspaces} workspaces to one, ${at}`, 'many', true),
    goal('Latency of one lone client, to a bare committed insert', 'lone', false),
    goal('p99 to p50 at half of the peak rate', 'tail', false),
  ];
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
