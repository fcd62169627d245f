import { percentilesOf } from '../demo/totals.ts';
import type { Bench, Loaded } from './bench.ts';
import type { Goal } from './goals.ts';
import type { Plan } from './plan.ts';
import { watchMemory } from './processes.ts';
import { shownNumber, shownSpread } from './render.ts';
import type { GroupResult, ResultTable } from './result.ts';
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

/** The measurements of a workspace that grows, and of young ones beside it. */
interface Grown {
  /** `before`: of the young workspaces; `after`: of the grown one. */
  before: Loaded[];
  after: Loaded[];
  tpcb_before: number[];
  tpcb_after: number[];
  grew: Loaded;
  memory_bytes: number[];
  lists: Awaited<ReturnType<typeof measureLists>>;
  verified: Awaited<ReturnType<typeof measureVerification>>;
}

/** How rate and memory change when one workspace grows. Every decision is made over HTTP. */
export async function measureGrowth(bench: Bench): Promise<GroupResult> {
  const { plan, purser, say } = bench;
  const tpcb = await bench.prepareTpcb();
  const [grown, ...young] = await makeWorkspaces(purser, { count: 1 + plan.rounds, agents: 1 });
  if (grown === undefined) throw new Error('No workspace was made.');
  const send = (workspace: BenchWorkspace, limits: { measured_ms: number; max_requests?: number }) =>
    bench.load(CLIENTS, bench.decisionsOf(workspace.targets), { warm_up_ms: 0, ...limits });
  const makeUpTo = (workspace: BenchWorkspace, count: number) =>
    send(workspace, { measured_ms: Number.POSITIVE_INFINITY, max_requests: count });
  /** Each workspace in turn, right after TPC-B. */
  const measure = async (workspaces: readonly BenchWorkspace[]) => {
    const loads: Loaded[] = [];
    const tpcbs: number[] = [];
    for (const workspace of workspaces) {
      tpcbs.push(await tpcb.run(plan.baseline_seconds));
      loads.push(await send(workspace, { measured_ms: plan.seconds * 1000 }));
    }
    return { loads, tpcbs };
  };

  say('Young workspaces…');
  for (const workspace of young) await makeUpTo(workspace, YOUNG);
  const before = await measure(young);

  say(`Growing a workspace to ${plan.grown_to} decisions…`);
  const memory = watchMemory(purser.pid, MEMORY_EVERY_MS);
  const grew = await makeUpTo(grown, plan.grown_to);
  const memory_bytes = memory.stop();
  const after = await measure(Array.from({ length: plan.rounds }, () => grown));

  say('Reading and verifying what has grown…');
  const page_size = Math.min(PAGE_SIZE, Math.floor(plan.grown_to / 200));
  const lists = await measureLists(bench, grown, page_size);
  const verified = await measureVerification(bench, grown, 1);
  const measured: Grown = {
    before: before.loads,
    after: after.loads,
    tpcb_before: before.tpcbs,
    tpcb_after: after.tpcbs,
    grew,
    memory_bytes,
    lists,
    verified,
  };
  return {
    tables: tablesOf(plan, measured),
    goals: goalsOf(plan, measured),
    notes: notesOf(measured),
    problems: await bench.findProblems([grown, ...young]),
  };
}

const ratesOf = (loads: readonly Loaded[]) => loads.map((load) => load.per_second);

function rowOf(name: string, loads: readonly Loaded[], baseline: readonly number[]): string[] {
  const times = percentilesOf(loads.flatMap((load) => load.latencies_ms));
  const cpu = (of: (load: Loaded) => number | null) =>
    shownNumber(medianOf(loads.flatMap((load) => of(load) ?? [])));
  return [
    name,
    shownSpread(spreadOf(ratesOf(loads))),
    shownNumber(times.p50),
    shownNumber(times.p99),
    baseline.length === 0 ? '–' : shownSpread(spreadOf(ratiosOf(ratesOf(loads), baseline))),
    cpu((load) => load.service_cpu_ms),
    cpu((load) => load.postgres_cpu_ms),
  ];
}

function tablesOf({ grown_to }: Plan, measured: Grown): ResultTable[] {
  const { before, after, tpcb_before, tpcb_after, grew, memory_bytes, lists } = measured;
  return [
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
        rowOf(`with ${YOUNG} decisions`, before, tpcb_before),
        rowOf(`growing to ${grown_to}`, [grew], []),
        rowOf(`with ${grown_to} decisions`, after, tpcb_after),
      ],
    },
    {
      title: `Reading the workspace of ${grown_to}`,
      columns: ['way', 'per second', 'p50 ms', 'p99 ms'],
      rows: lists.rows,
    },
    {
      title: 'Memory of the service while it grows',
      columns: ['figure', 'MB'],
      rows: [
        ['at the beginning', shownNumber(megabytes(memory_bytes[0] ?? Number.NaN))],
        ['at the end', shownNumber(megabytes(memory_bytes.at(-1) ?? Number.NaN))],
        ['at the most', shownNumber(megabytes(Math.max(...memory_bytes)))],
        ['last fifth of the time to the second fifth', `${shownNumber(growthOf(memory_bytes))} x`],
      ],
    },
  ];
}

function goalsOf({ grown_to }: Plan, measured: Grown): Goal[] {
  const { before, after, tpcb_before, tpcb_after, grew, memory_bytes, lists, verified } = measured;
  const when = (is_enough: boolean, value: number) => (is_enough ? value : null);
  return [
    {
      name: `Rate with ${grown_to} decisions in the workspace to that with ${YOUNG}, each to TPC-B`,
      unit: '',
      is_least: true,
      goal: GOALS.rate,
      measured:
        medianOf(ratiosOf(ratesOf(after), tpcb_after)) / medianOf(ratiosOf(ratesOf(before), tpcb_before)),
    },
    {
      name: `Memory flat over ${FLAT_OVER} decisions: last fifth to second fifth`,
      unit: '',
      is_least: false,
      goal: GOALS.flat,
      measured: when(grew.good >= FLAT_OVER, growthOf(memory_bytes)),
    },
    {
      name: `Memory of the service over ${SMALL_AFTER} decisions, at the most`,
      unit: 'MB',
      is_least: false,
      goal: GOALS.memory_mb,
      measured: when(grew.good >= SMALL_AFTER, megabytes(Math.max(...memory_bytes))),
    },
    {
      name: `Filtered list at ${GROWN} decisions: page 100 to the first`,
      unit: '',
      is_least: false,
      goal: GOALS.deep_page,
      measured: when(grown_to >= GROWN, lists.ratio),
    },
    verified.goal,
  ];
}

function notesOf({ before, after, lists, verified }: Grown): string[] {
  const as_it_is = medianOf(ratesOf(after)) / medianOf(ratesOf(before));
  return [
    `Every decision was made over HTTP. Rates are compared by their ratios to TPC-B right before, since the machine may change meanwhile; as they are, the ratio is ${shownNumber(as_it_is)}.`,
    `Reading page 100 of the list took ${shownNumber(lists.ratio)} times as long as the first; the chain of ${verified.events} events was verified in ${shownNumber(verified.took.p50 / 1000)} s.`,
  ];
}
