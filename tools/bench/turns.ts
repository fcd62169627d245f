import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { untilPostgresIsGone } from '@purser/embedded-postgres';
import { Honest, honestWork } from '../demo/honest.ts';
import { describeError } from '../demo/json-client.ts';
import { makeDataDirectory, startServing } from '../demo/purser-process.ts';
import { type Bench, type Loaded, requestText } from './bench.ts';
import { runLoad } from './load.ts';
import { shownNumber } from './render.ts';
import type { GroupResult, ResultTable } from './result.ts';
import { BENCH_AUTHORITY, makeSpendBody } from './spend-bodies.ts';
import { medianOf } from './statistics.ts';
import { readOf, toTheEnd } from './ways.ts';
import { type BenchWorkspace, makeWorkspaces, prepareFirstWorkspace } from './workspaces.ts';

const SIMULATED = 2_000;
const PAGE = 200;
const CLIENTS = 64;
/** Measured together, since processor time is counted in hundredths of a second. */
const SIMULATIONS = 10;
const PAGES = 200;
/** Quiet and busy take turns, so that what else the machine does falls on both. */
const ROUNDS = 5;
const ASKED_AFTER_START = 1_000;
const STARTS = { quick: 1, default: 10, long: 10 };

const GOALS = { alone: 1.2, beside: 1.3, answered: 1 };

/** Simulates the last decisions of the agent once. */
async function simulate({ client, agent_ids }: BenchWorkspace, decisions: number): Promise<number> {
  const purpose = { ...BENCH_AUTHORITY.purpose, context: 'Frame series in service: M1 to M4.' };
  const path = `/v1/agents/${agent_ids[0]}/authority/simulate?limit=${decisions}`;
  const answer = await client.send('POST', path, { ...BENCH_AUTHORITY, purpose });
  if ((answer.body as { evaluated?: number }).evaluated !== decisions)
    throw new Error(`A simulation was answered ${describeError(answer)}`);
  return answer.took_ms;
}

/** Simulations one after another, while nobody else asks for anything. */
async function measureAlone(bench: Bench, workspace: BenchWorkspace, decisions: number) {
  await simulate(workspace, decisions);
  const measured = await bench.processorTimeOf(async () => {
    let took_ms = 0;
    for (let n = 0; n < SIMULATIONS; n += 1) took_ms += await simulate(workspace, decisions);
    return took_ms;
  });
  const { result: wall_ms, service_ms, postgres_ms } = measured;
  const cpu_ms = service_ms === null || postgres_ms === null ? null : service_ms + postgres_ms;
  const each = (of_all: number | null) => (of_all === null ? null : of_all / SIMULATIONS);
  return {
    wall_ms: wall_ms / SIMULATIONS,
    service_ms: each(service_ms),
    postgres_ms: each(postgres_ms),
    cpu_ms: each(cpu_ms),
  };
}

/** Measures another workspace's requests while nobody simulates, and while one simulation follows the other. */
async function measureBeside(
  { purser, plan, signal }: Bench,
  workspace: BenchWorkspace,
  other: BenchWorkspace,
  decisions: number,
) {
  const by = {
    base_url: purser.base_url,
    client: other.client,
    agent_key: other.targets[0]?.agent_key as string,
  };
  const rounds: { quiet_ms: number; beside_ms: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    signal.throwIfAborted();
    const work = async (name: string) => {
      const measured = new Honest();
      await honestWork(by, performance.now() + plan.seconds * 1000, `${name}-${round}`, measured);
      if (measured.failures.size > 0)
        throw new Error(`Answered ${[...measured.failures.keys()].join(', ')}.`);
      return measured.p95;
    };
    const quiet_ms = await work('quiet');
    let is_over = false;
    const simulating = (async () => {
      while (!is_over) await simulate(workspace, decisions);
    })();
    try {
      rounds.push({ quiet_ms, beside_ms: await work('beside') });
    } finally {
      is_over = true;
      await simulating;
    }
  }
  return rounds;
}

/** Starts a service again and again on one data directory, and asks for decisions with 64 clients as soon as it listens. */
async function measureStarts({ purser, plan, signal, say }: Bench) {
  const data_dir = await makeDataDirectory(true);
  const options = {
    env: { ...purser.env, DATA_DIR: data_dir },
    output_file: join(data_dir, 'output.log'),
    signal,
  };
  const started: { good: number; refused: string; count: number }[] = [];
  try {
    let serving = await startServing(options);
    const first = { base_url: serving.base_url, admin_key: purser.admin_key };
    const workspace = await prepareFirstWorkspace(first, 1);
    workspace.client.close();
    for (let start = 0; start < STARTS[plan.kind]; start += 1) {
      await serving.end();
      serving = await startServing(options);
      const { base_url } = serving;
      const { good, errors } = await runLoad({
        base_url,
        clients: CLIENTS,
        requests: {
          good_status: 201,
          make: (n) =>
            requestText('POST', '/v1/decisions', workspace.targets[0]?.agent_key as string, {
              text: makeSpendBody(n),
              idempotency_key: `start-${start}-${n}`,
            }),
        },
        signal,
        ...toTheEnd(ASKED_AFTER_START),
      });
      const refused = [...errors].map(([what, count]) => `${count} x ${what}`).join(', ') || 'none refused';
      say(`  start ${start + 1}: ${good} decisions, ${refused}`);
      started.push({ good, refused, count: [...errors.values()].reduce((sum, each) => sum + each, 0) });
    }
    await serving.end();
  } finally {
    await untilPostgresIsGone(data_dir);
    await rm(data_dir, { recursive: true, force: true });
  }
  return started;
}

/** The measurements that `measureTurns` makes. */
interface Measured {
  decisions: number;
  pages: Loaded;
  alone: Awaited<ReturnType<typeof measureAlone>>;
  beside: Awaited<ReturnType<typeof measureBeside>>;
  starts: Awaited<ReturnType<typeof measureStarts>>;
}

function tablesOf({ decisions, pages, alone, beside, starts }: Measured): ResultTable[] {
  const shown = (value: number | null) => (value === null ? '–' : shownNumber(value));
  return [
    {
      title: 'Long work',
      columns: ['what', 'wall ms', 'CPU ms service', 'CPU ms PostgreSQL'],
      rows: [
        [
          `simulation of ${decisions}, alone`,
          shownNumber(alone.wall_ms),
          shown(alone.service_ms),
          shown(alone.postgres_ms),
        ],
        [
          `page of ${Math.min(PAGE, decisions)} decisions`,
          shownNumber(medianOf(pages.latencies_ms)),
          shown(pages.service_cpu_ms),
          shown(pages.postgres_cpu_ms),
        ],
      ],
    },
    {
      title: "Another workspace's requests, p95",
      columns: ['round', 'quiet ms', 'beside a simulation ms', 'ratio'],
      rows: beside.map(({ quiet_ms, beside_ms }, i) => [
        String(i + 1),
        shownNumber(quiet_ms),
        shownNumber(beside_ms),
        shownNumber(beside_ms / quiet_ms),
      ]),
    },
    {
      title: `${CLIENTS} clients right after a start`,
      columns: ['start', 'decisions', 'refused'],
      rows: starts.map(({ good, refused }, i) => [String(i + 1), String(good), refused]),
    },
  ];
}

/** Measures the processor time of long work, its effect on others, and refusals right after a start. */
export async function measureTurns(bench: Bench): Promise<GroupResult> {
  const { plan, purser, say } = bench;
  const decisions = Math.min(SIMULATED, plan.requests);
  const [workspace, other] = (await makeWorkspaces(purser, { count: 2, agents: 1 })) as [
    BenchWorkspace,
    BenchWorkspace,
  ];
  await bench.load(CLIENTS, bench.decisionsOf(workspace.targets), toTheEnd(decisions));
  const path = `/v1/decisions?limit=${PAGE}`;
  const pages = await bench.load(
    1,
    readOf(workspace.admin_key, () => path),
    toTheEnd(PAGES),
  );
  const alone = await measureAlone(bench, workspace, decisions);
  const ratio = alone.cpu_ms === null ? null : alone.wall_ms / alone.cpu_ms;
  say(`  simulation alone: ${shownNumber(alone.wall_ms)} ms`);
  const beside = await measureBeside(bench, workspace, other, decisions);
  const times = medianOf(beside.map(({ quiet_ms, beside_ms }) => beside_ms / quiet_ms));
  const starts = await measureStarts(bench);
  const sumOf = (of: (start: (typeof starts)[number]) => number) =>
    starts.reduce((sum, start) => sum + of(start), 0);
  return {
    tables: tablesOf({ decisions, pages, alone, beside, starts }),
    goals: [
      {
        name: 'Simulation alone, to its processor time',
        unit: '',
        is_least: false,
        goal: GOALS.alone,
        measured: ratio,
      },
      {
        name: "Another workspace's p95 beside a simulation",
        unit: '',
        is_least: false,
        goal: GOALS.beside,
        measured: times,
      },
      {
        name: `Of the requests right after ${starts.length} starts, answered`,
        unit: '',
        is_least: true,
        goal: GOALS.answered,
        measured: sumOf(({ good }) => good) / sumOf(({ good, count }) => good + count),
      },
    ],
    notes: [
      `Simulations one after another, ${SIMULATIONS} alone; their processor time is that of service and PostgreSQL together.`,
      `Another workspace asks for a decision, the workspace and a list of ten in turn; ${ROUNDS} rounds of ${plan.seconds} s quiet and as long beside simulations; the ratio is the median.`,
      `${ASKED_AFTER_START} decisions after each start.`,
    ],
    problems: [],
  };
}
