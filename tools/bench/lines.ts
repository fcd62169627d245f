import { percentilesOf } from '../demo/totals.ts';
import type { Bench } from './bench.ts';
import { watchMemory } from './processes.ts';
import { shownNumber } from './render.ts';
import type { GroupResult } from './result.ts';
import { type BenchWorkspace, makeWorkspaces } from './workspaces.ts';

const LINES = 50_000;
const LINES_QUICK = 2_000;
const DAYS = 360;
const MERCHANTS = 400;
/** Decisions of others while lines are worked on: far from what the service can do. */
const CLIENTS = 16;
const PER_SECOND = 100;
const LOAD_MS = 2_000;
const WATCH_MS = 100;
/** On a busy machine a proposal takes minutes. */
const TIMEOUT_MS = 900_000;
const BYTES_PER_MB = 1_000_000;
const GOAL_S = 60;
const GOAL_MB = 200;
const GOAL_RATIO = 2;

/** A year of purchases in hours of work, of merchants some of which are paid much more often than others. */
function makeFile(count: number): string {
  const end_ms = Date.now() - 86_400_000;
  const rows = Array.from({ length: count }, (_, i) => {
    const [a, b] = [(i * 7_919) % 10_007, (i * 104_729) % 9_973];
    const day_ms = end_ms - (end_ms % 86_400_000) - Math.floor((i * DAYS) / count) * 86_400_000;
    return JSON.stringify({
      merchant: `Shop ${Math.floor(MERCHANTS * (a / 10_007) ** 2)}`,
      amount_minor: 500 + b * 3 + (i % 1_000 === 0 ? 40_000 : 0),
      currency: 'USD',
      occurred_at: new Date(day_ms + 8 * 3_600_000 + a * 3_000).toISOString(),
      external_reference: `line-${i}`,
      instrument: 'card:1',
    });
  });
  return `${rows.join('\n')}\n`;
}

interface Worked {
  import_s: number;
  proposal_s: number;
  passes: number;
  allow_share: number;
  grown_mb: number;
}

/** Imports a file and makes a proposal from it. */
async function work(bench: Bench, { purser }: BenchWorkspace, file: string): Promise<Worked> {
  const memory = watchMemory(bench.purser.pid, WATCH_MS);
  const begun_ms = performance.now();
  const agent = 'workshop-1';
  const { id } = await purser.imports.create({
    file_name: 'year.ndjson',
    source: 'lines',
    feed: 'bench',
    agent,
  });
  const done = await purser.imports.putContent(id, {
    data: file,
    type: 'application/x-ndjson',
  });
  const imported_ms = performance.now();
  const count = file.split('\n').length - 1;
  if (done.lines.taken !== count) throw new Error(`${done.lines.taken} of ${count} lines were taken.`);
  const { replay, relaxed } = await purser.history.propose({ agent }, { timeout: TIMEOUT_MS });
  const proposal_s = (performance.now() - imported_ms) / 1000;
  const samples = memory.stop();
  return {
    import_s: (imported_ms - begun_ms) / 1000,
    proposal_s,
    passes: 2 * (relaxed.length + 1) + 1,
    allow_share: replay.allow_share,
    grown_mb: (Math.max(...samples) - (samples[0] ?? 0)) / BYTES_PER_MB,
  };
}

/** Latencies of decisions at a steady rate, in ms: for `measured_ms`, or, again and again, until some work is done. */
async function decisionsDuring(
  bench: Bench,
  { targets }: BenchWorkspace,
  until: { measured_ms: number } | { work: Promise<unknown> },
): Promise<number[]> {
  const limits = { warm_up_ms: 0, measured_ms: LOAD_MS, per_second: PER_SECOND };
  const load = () => bench.load(CLIENTS, bench.decisionsOf(targets), limits);
  const found: number[] = [];
  let is_done = false;
  if ('work' in until) void until.work.finally(() => (is_done = true)).catch(() => {});
  for (let at_ms = 0; 'work' in until ? !is_done : at_ms < until.measured_ms; at_ms += LOAD_MS) {
    const { latencies_ms } = await load();
    // A part in which the work ended is half without it.
    if (!is_done || found.length === 0) found.push(...latencies_ms);
  }
  return found;
}

/** Import of many lines and a proposal from them: alone, then beside decisions of another workspace. */
export async function measureLines(bench: Bench): Promise<GroupResult> {
  const { plan, purser, say } = bench;
  const file = makeFile(plan.kind === 'quick' ? LINES_QUICK : LINES);
  const workspaces = await makeWorkspaces(purser, { count: 3, agents: 5 });
  const [deciding, first, second] = workspaces as [BenchWorkspace, BenchWorkspace, BenchWorkspace];
  await decisionsDuring(bench, deciding, { measured_ms: LOAD_MS });
  const measured_ms = Math.max(LOAD_MS, plan.seconds * 2_000);
  const without = percentilesOf(await decisionsDuring(bench, deciding, { measured_ms }));
  say(`  decisions without: p99 ${shownNumber(without.p99)} ms`);
  const {
    result: alone,
    service_ms,
    postgres_ms,
  } = await bench.processorTimeOf(() => work(bench, first, file));
  say(`  alone: import ${shownNumber(alone.import_s)} s, proposal ${shownNumber(alone.proposal_s)} s`);
  const working = work(bench, second, file);
  const during = percentilesOf(await decisionsDuring(bench, deciding, { work: working }));
  const beside = await working;
  say(`  decisions during: p99 ${shownNumber(during.p99)} ms`);
  const rowOf = (
    name: string,
    { import_s, proposal_s, passes, allow_share, grown_mb }: Worked,
    p99: number,
  ) => [
    name,
    ...[import_s, proposal_s].map(shownNumber),
    String(passes),
    `${(allow_share * 100).toFixed(1)} %`,
    shownNumber(grown_mb),
    shownNumber(p99),
  ];
  const problems: string[] = [];
  for (const each of [first, second]) {
    if (!(await each.purser.ledger.verify()).valid) problems.push(`The ledger of ${each.id} is not valid.`);
  }
  const count = file.split('\n').length - 1;
  const inSeconds = (ms: number | null) => (ms === null ? '–' : shownNumber(ms / 1000));
  return {
    tables: [
      {
        title: `${count.toLocaleString('en')} lines`,
        columns: ['', 'import s', 'proposal s', 'replays', 'allowed', 'more MB', 'p99 of decisions, ms'],
        rows: [
          rowOf('alone', alone, without.p99),
          rowOf(`beside ${PER_SECOND} decisions/s elsewhere`, beside, during.p99),
        ],
      },
    ],
    goals: [
      {
        name: `${count.toLocaleString('en')} lines imported and a proposal made, in seconds of ${GOAL_S}`,
        unit: '',
        is_least: false,
        goal: 1,
        measured: plan.kind === 'quick' ? null : (alone.import_s + alone.proposal_s) / GOAL_S,
      },
      {
        name: 'Memory that this adds',
        unit: 'MB',
        is_least: false,
        goal: GOAL_MB,
        measured: plan.kind === 'quick' ? null : alone.grown_mb,
      },
      {
        name: 'p99 of decisions elsewhere meanwhile, to without',
        unit: '',
        is_least: false,
        goal: GOAL_RATIO,
        measured: plan.kind === 'quick' ? null : during.p99 / without.p99,
      },
    ],
    notes: [
      `Processor time of both alone: ${inSeconds(service_ms)} s of the service, ${inSeconds(postgres_ms)} s of PostgreSQL.`,
      'A proposal replays all lines once for each step of relaxing, and as often those of the first four fifths.',
    ],
    problems: [...problems, ...(await bench.findProblems([deciding]))],
  };
}
