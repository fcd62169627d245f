import { percentilesOf } from '../demo/totals.ts';
import type { Bench, Loaded } from './bench.ts';
import { watchMemory } from './processes.ts';
import { shownNumber, shownSpread } from './render.ts';
import type { GroupResult } from './result.ts';
import { growthOf, medianOf, ratiosOf, spreadOf } from './statistics.ts';
import { measureLists, measureVerification } from './ways.ts';
import { type BenchWorkspace, makeWorkspaces } from './workspaces.ts';

const CLIENTS = 64;
const YOUNG = 1_000;
/** Beyond this many decisions the ratio says what the goal means; memory has to stay flat over so many. */
const GROWN = 1_000_000;
const FLAT_OVER = 500_000;
const SMALL_AFTER = 100_000;
const MEMORY_EVERY_MS = 500;
const PAGE_SIZE = 50;

const GOALS = { rate: 0.8, flat: 1.1, memory_mb: 200, deep_page: 2 };

const megabytes = (bytes: number) => bytes / 1e6;

/** What becomes of rate and memory when one workspace grows. Every decision is made over HTTP. */
export async function measureGrowth(bench: Bench): Promise<GroupResult> {
  const { plan, purser, say } = bench;
  const tpcb = await bench.prepareTpcb();
  const [grown, ...young] = await makeWorkspaces(purser, { count: 1 + plan.rounds, agents: 1 });
  if (grown === undefined) throw new Error('No workspace was made.');
  const send = (workspace: BenchWorkspace, limits: { measured_ms: number; max_requests?: number }) =>
    bench.load(CLIENTS, bench.decisionsOf(workspace.targets), { warm_up_ms: 0, ...limits });
  const makeUpTo = (workspace: BenchWorkspace, count: number) =>
    send(workspace, { measured_ms: Number.POSITIVE_INFINITY, max_requests: count });
  const measure = (workspace: BenchWorkspace) => send(workspace, { measured_ms: plan.seconds * 1000 });

  say('Young workspaces…');
  for (const workspace of young) await makeUpTo(workspace, YOUNG);
  const before: Loaded[] = [];
  const tpcb_before: number[] = [];
  for (const workspace of young) {
    tpcb_before.push(await tpcb.run(plan.baseline_seconds));
    before.push(await measure(workspace));
  }

  say(`Growing a workspace to ${plan.grown_to} decisions…`);
  const memory = watchMemory(purser.pid, MEMORY_EVERY_MS);
  const grew = await makeUpTo(grown, plan.grown_to);
  const samples = memory.stop();
  const after: Loaded[] = [];
  const tpcb_after: number[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    tpcb_after.push(await tpcb.run(plan.baseline_seconds));
    after.push(await measure(grown));
  }

  say('Reading and verifying what has grown…');
  const page_size = Math.min(PAGE_SIZE, Math.floor(plan.grown_to / 200));
  const lists = await measureLists(bench, grown, page_size);
  const verified = await measureVerification(bench, grown, 1);

  const rates = (loads: readonly Loaded[]) => loads.map((load) => load.per_second);
  const cpu = (loads: readonly Loaded[], of: (load: Loaded) => number | null) =>
    shownNumber(medianOf(loads.flatMap((load) => of(load) ?? [])));
  const row = (name: string, loads: readonly Loaded[], baseline: readonly number[]) => {
    const times = percentilesOf(loads.flatMap((load) => load.latencies_ms));
    return [
      name,
      shownSpread(spreadOf(rates(loads))),
      shownNumber(times.p50),
      shownNumber(times.p99),
      baseline.length === 0 ? '–' : shownSpread(spreadOf(ratiosOf(rates(loads), baseline))),
      cpu(loads, (load) => load.service_cpu_ms),
      cpu(loads, (load) => load.postgres_cpu_ms),
    ];
  };
  const to_tpcb =
    medianOf(ratiosOf(rates(after), tpcb_after)) / medianOf(ratiosOf(rates(before), tpcb_before));
  const as_it_is = medianOf(rates(after)) / medianOf(rates(before));
  const peak_mb = megabytes(Math.max(...samples));
  const when = (is_enough: boolean, value: number) => (is_enough ? value : null);
  return {
    tables: [
      {
        title: `Decisions with ${CLIENTS} clients`,
        columns: [
          'workspace',
          'decisions/s',
          'p50 ms',
          'p99 ms',
          'x TPC-B',
          'CPU ms service',
          'CPU ms PostgreSQL',
        ],
        rows: [
          row(`with ${YOUNG} decisions`, before, tpcb_before),
          row(`growing to ${plan.grown_to}`, [grew], []),
          row(`with ${plan.grown_to} decisions`, after, tpcb_after),
        ],
      },
      {
        title: `Reading the workspace of ${plan.grown_to}`,
        columns: ['way', 'per second', 'p50 ms', 'p99 ms'],
        rows: lists.rows,
      },
      {
        title: 'Memory of the service while it grows',
        columns: ['figure', 'MB'],
        rows: [
          ['at the beginning', shownNumber(megabytes(samples[0] ?? Number.NaN))],
          ['at the end', shownNumber(megabytes(samples.at(-1) ?? Number.NaN))],
          ['at the most', shownNumber(peak_mb)],
          ['last fifth of the time to the second fifth', `${shownNumber(growthOf(samples))} x`],
        ],
      },
    ],
    goals: [
      {
        name: `Rate with ${plan.grown_to} decisions in the workspace to that with ${YOUNG}, each to TPC-B`,
        unit: '',
        is_least: true,
        goal: GOALS.rate,
        measured: to_tpcb,
      },
      {
        name: `Memory flat over ${FLAT_OVER} decisions: last fifth to second fifth`,
        unit: '',
        is_least: false,
        goal: GOALS.flat,
        measured: when(grew.good >= FLAT_OVER, growthOf(samples)),
      },
      {
        name: `Memory of the service over ${SMALL_AFTER} decisions, at the most`,
        unit: 'MB',
        is_least: false,
        goal: GOALS.memory_mb,
        measured: when(grew.good >= SMALL_AFTER, peak_mb),
      },
      {
        name: `Filtered list at ${GROWN} decisions: page 100 to the first`,
        unit: '',
        is_least: false,
        goal: GOALS.deep_page,
        measured: when(plan.grown_to >= GROWN, lists.ratio),
      },
      verified.goal,
    ],
    notes: [
      `Every decision was made over HTTP. Rates are compared by their ratios to TPC-B right before, since the machine may change meanwhile; as they are, the ratio is ${shownNumber(as_it_is)}.`,
      `Reading page 100 of the list took ${shownNumber(lists.ratio)} times as long as the first; the chain of ${verified.events} events was verified in ${shownNumber(verified.took.p50 / 1000)} s.`,
    ],
    problems: await bench.findProblems([grown, ...young]),
  };
}
