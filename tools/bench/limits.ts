import type { Authority } from '@purser/server/tools';
import { percentilesOf } from '../demo/totals.ts';
import type { Bench, Loaded } from './bench.ts';
import { shownNumber, shownSpread } from './render.ts';
import type { GroupResult } from './result.ts';
import { BENCH_AUTHORITY } from './spend-bodies.ts';
import { medianOf, ratiosOf, spreadOf } from './statistics.ts';
import { type BenchWorkspace, makeWorkspaces, type Target } from './workspaces.ts';

const CLIENTS = 64;
/** Agents with each number of limits; each has counters of its own. */
const AGENTS = 10;
const NUMBERS_OF_LIMITS = [0, 3, 10] as const;
/** With ten limits at least so much of what an agent without limits does. */
const GOAL = 0.75;

const AMOUNT = 9_000_000_000_000;
const COUNT = 1_000_000;
/** Of every kind, with room for all that is asked for. */
const LIMITS: NonNullable<Authority['velocity_limits']> = [
  { name: 'day', window: 'DAY', limit_amount_minor: AMOUNT },
  { name: 'burst', window: 'ROLLING', window_seconds: 600, limit_count: COUNT },
  { name: 'shop', window: 'WEEK', per: 'MERCHANT', limit_amount_minor: AMOUNT, limit_count: COUNT },
  { name: 'month', window: 'MONTH', limit_amount_minor: AMOUNT },
  { name: 'hour', window: 'ROLLING', window_seconds: 3_600, limit_amount_minor: AMOUNT },
  { name: 'payee', window: 'DAY', per: 'PAYEE', limit_count: COUNT },
  { name: 'purchases', window: 'WEEK', action_types: ['purchase'], limit_count: COUNT },
  { name: 'tools', window: 'MONTH', merchants: ['Chainline Tools'], limit_amount_minor: AMOUNT },
  { name: 'week', window: 'ROLLING', window_seconds: 604_800, limit_amount_minor: AMOUNT },
  { name: 'shop-hour', window: 'ROLLING', window_seconds: 3_601, per: 'MERCHANT', limit_count: COUNT },
];

interface Crowd {
  limits: number;
  targets: Target[];
  loads: Loaded[];
}

/** Decisions over HTTP of agents without limits over time and with some and many, in turn on one service. */
export async function measureLimits(bench: Bench): Promise<GroupResult> {
  const { plan, purser, say } = bench;
  // All in one workspace: of several, each would be given its share of the time alone.
  const [workspace] = (await makeWorkspaces(purser, {
    count: 1,
    agents: AGENTS * NUMBERS_OF_LIMITS.length,
    authorityOf: (number) => {
      const limits = NUMBERS_OF_LIMITS[Math.ceil(number / AGENTS) - 1];
      return { ...BENCH_AUTHORITY, ...(limits === 0 ? {} : { velocity_limits: LIMITS.slice(0, limits) }) };
    },
  })) as [BenchWorkspace];
  const crowds = NUMBERS_OF_LIMITS.map((limits, i): Crowd => {
    const targets = workspace.targets.slice(i * AGENTS, (i + 1) * AGENTS);
    return { limits, targets, loads: [] };
  });
  const load = ({ targets }: Crowd, measured_ms: number) =>
    bench.load(CLIENTS, bench.decisionsOf(targets), { warm_up_ms: plan.warm_up_ms, measured_ms });
  for (const crowd of crowds) await load(crowd, 2 * plan.warm_up_ms);
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const crowd of crowds) {
      const loaded = await load(crowd, plan.seconds * 1000);
      crowd.loads.push(loaded);
      say(`  ${crowd.limits} limits: ${loaded.per_second.toFixed(0)}/s`);
    }
  }
  const ratesOf = (crowd: Crowd) => crowd.loads.map((each) => each.per_second);
  const [none, , many] = crowds as [Crowd, Crowd, Crowd];
  const cpuOf = (crowd: Crowd, of: (load: Loaded) => number | null) =>
    shownNumber(medianOf(crowd.loads.flatMap((each) => of(each) ?? [])));
  return {
    tables: [
      {
        title: 'Decisions of agents with limits over time',
        columns: [
          'limits',
          'decisions/s',
          'of 0 limits',
          'p50 ms',
          'p99 ms',
          'CPU ms service',
          'CPU ms PostgreSQL',
        ],
        rows: crowds.map((crowd) => {
          const times = percentilesOf(crowd.loads.flatMap((each) => each.latencies_ms));
          return [
            String(crowd.limits),
            shownSpread(spreadOf(ratesOf(crowd))),
            shownNumber(medianOf(ratiosOf(ratesOf(crowd), ratesOf(none)))),
            shownNumber(times.p50),
            shownNumber(times.p99),
            cpuOf(crowd, (each) => each.service_cpu_ms),
            cpuOf(crowd, (each) => each.postgres_cpu_ms),
          ];
        }),
      },
    ],
    goals: [
      {
        name: `Ten limits to none, ${CLIENTS} clients`,
        unit: '',
        is_least: true,
        goal: GOAL,
        measured: medianOf(ratiosOf(ratesOf(many), ratesOf(none))),
      },
    ],
    notes: [
      `${AGENTS} agents with each number of limits, ${CLIENTS} clients, ${plan.rounds} rounds of ${plan.seconds} s each in turn; limits of every kind, none of them reached.`,
    ],
    problems: await bench.findProblems([workspace]),
  };
}
