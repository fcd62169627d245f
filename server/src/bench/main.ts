import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Surroundings } from '../demo/main.ts';
import { type PurserProcess, startPurser } from '../demo/purser-process.ts';
import { verifyLedger } from '../demo/send-spends.ts';
import { percentilesOf } from '../demo/totals.ts';
import { findRunningEmbeddedPostgres } from '../storage/embedded-postgres.ts';
import { type LoadResult, runLoad } from './load.ts';
import { residentBytes, watchMemory } from './memory.ts';
import { measureReading, type Reading, renderReading } from './reading.ts';
import {
  type BenchReport,
  type Point,
  pointName,
  renderBench,
  TARGET_CLIENTS,
  TARGET_DECISIONS,
} from './report.ts';
import { makeSpendBody } from './spend-bodies.ts';
import { prepareTpcb, TPCB_CLIENTS } from './tpcb.ts';
import { deliveriesFor, measureWebhooks } from './webhooks.ts';
import {
  type BenchWorkspace,
  checkWorkspace,
  countEvents,
  makeWorkspaces,
  prepareFirstWorkspace,
} from './workspaces.ts';

const HELP = `npm run bench -- [options]

Measures decisions per second over HTTP, with durable commits and the ledger on, TPC-B on the same PostgreSQL,
and what webhooks cost and give. Takes about three minutes.

  --seconds N   measured time of each point (default 5)
  --quick       a smoke run: 1 second a point, 5 workspaces, memory not measured
  --reading N   decisions of the history whose reading is measured (default 100000; 5000 with --quick)
  --only-reading  measures nothing else
  --json FILE   also writes the figures to FILE
  --help        this text
`;

const CLIENTS = [1, 16, 64, 256];
const AGENTS_IN_FIRST = 5;
const WARM_UP_CLIENTS = 16;
const MEMORY_EVERY_MS = 500;
const WIDTH_WITHOUT_TERMINAL = 120;

/** How much is measured. */
interface Plan {
  seconds: number;
  warm_up_ms: number;
  workspaces: number;
  tpcb_seconds: number;
  lone_inserts: number;
  min_decisions: number;
  deliveries: number;
  reading_decisions: number;
  only_reading: boolean;
  json_file: string | null;
}

/** Null when the help is asked for. Throws TypeError, with a message for people, for arguments that are none. */
function readPlan({ args, env }: Surroundings): Plan | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      reading: { type: 'string' },
      'only-reading': { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const seconds = Number(values.seconds ?? (values.quick ? 1 : 5));
  if (!(seconds >= 0.1 && seconds <= 3600)) {
    throw new TypeError(`--seconds ${values.seconds}: must be a number from 0.1 to 3600.`);
  }
  const reading_decisions = Number(values.reading ?? (values.quick ? 5_000 : 100_000));
  if (
    !(
      Number.isSafeInteger(reading_decisions) &&
      reading_decisions >= 1_000 &&
      reading_decisions <= 10_000_000
    )
  ) {
    throw new TypeError(`--reading ${values.reading}: must be a whole number from 1000 to 10000000.`);
  }
  // npm changes to the package's directory and tells where it was called.
  const json_file = values.json === undefined ? null : resolve(env.INIT_CWD ?? '.', values.json);
  return {
    seconds,
    warm_up_ms: values.quick ? 200 : 1_000,
    workspaces: values.quick ? 5 : 50,
    tpcb_seconds: values.quick ? 2 : Math.max(10, seconds),
    lone_inserts: values.quick ? 200 : 1_000,
    min_decisions: values.quick ? 0 : TARGET_DECISIONS,
    deliveries: deliveriesFor(values.quick),
    reading_decisions,
    only_reading: values['only-reading'],
    json_file,
  };
}

/** What all loads of the run add up to. */
class Tally {
  created = 0;
  readonly by_workspace = new Map<string, number>();
  readonly decisions = { ALLOW: 0, REVIEW: 0, DENY: 0 };
  readonly errors: Record<string, number> = {};

  add(result: LoadResult): void {
    this.created += result.created;
    for (const [id, count] of result.created_by_workspace) {
      this.by_workspace.set(id, (this.by_workspace.get(id) ?? 0) + count);
    }
    this.decisions.ALLOW += result.decisions.ALLOW;
    this.decisions.REVIEW += result.decisions.REVIEW;
    this.decisions.DENY += result.decisions.DENY;
    for (const [what, count] of result.errors) this.errors[what] = (this.errors[what] ?? 0) + count;
  }
}

async function findProblems(
  first: BenchWorkspace,
  others: readonly BenchWorkspace[],
  tally: Tally,
  signal: AbortSignal,
): Promise<string[]> {
  const problems: string[] = [];
  for (const workspace of [first, ...others]) {
    problems.push(...(await checkWorkspace(workspace, tally.by_workspace.get(workspace.id) ?? 0)));
  }
  const listed = await countEvents(first, 'decision.created', signal);
  const answered = tally.by_workspace.get(first.id) ?? 0;
  if (listed !== answered) {
    problems.push(`${first.id} lists ${listed} events decision.created for ${answered} decisions answered.`);
  }
  const errors = Object.values(tally.errors).reduce((sum, count) => sum + count, 0);
  if (errors > 0) problems.push(`${errors} requests were not answered 201.`);
  return problems;
}

async function findServer(purser: PurserProcess) {
  const server = await findRunningEmbeddedPostgres(purser.data_dir);
  if (server === null) throw new Error('The embedded PostgreSQL of the service was not found.');
  return server;
}

async function readLongHistory(
  purser: PurserProcess,
  plan: Plan,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<Reading> {
  say(`Making a history of ${plan.reading_decisions} decisions and reading it…`);
  return measureReading(purser, await findServer(purser), plan.reading_decisions, signal, say);
}

async function measure(
  purser: PurserProcess,
  plan: Plan,
  surroundings: Surroundings,
  say: (line: string) => void,
): Promise<BenchReport> {
  const { signal, env } = surroundings;
  const server = await findServer(purser);

  say('Making agents, keys and workspaces…');
  const first = await prepareFirstWorkspace(purser, AGENTS_IN_FIRST);
  const others = await makeWorkspaces(purser, plan.workspaces, signal);
  const many = others.flatMap((workspace) => workspace.targets);
  const tpcb = await prepareTpcb(server, env.PATH ?? '', signal);

  const tally = new Tally();
  const counter = { requests: 0 };
  const run_id = `bench-${randomBytes(6).toString('hex')}`;
  const load = async (
    clients: number,
    targets: BenchWorkspace['targets'],
    limits: { warm_up_ms: number; measured_ms: number; max_requests?: number },
  ): Promise<LoadResult> => {
    const { base_url } = purser;
    const options = { base_url, clients, targets, counter, run_id, signal, makeBody: makeSpendBody };
    const result = await runLoad({ ...options, ...limits });
    tally.add(result);
    return result;
  };
  const memory = watchMemory(purser.pid, MEMORY_EVERY_MS);

  const lone_insert_ms = await tpcb.commitInserts(plan.lone_inserts);
  say(`TPC-B: ${tpcb.method}`);
  const { tps: before_tps } = await tpcb.run(plan.tpcb_seconds);
  say(`  before: ${before_tps.toFixed(0)}/s`);

  await load(WARM_UP_CLIENTS, [...first.targets, ...many], {
    warm_up_ms: 0,
    measured_ms: 2 * plan.warm_up_ms,
  });
  const points: Point[] = [];
  for (const targets of [first.targets, many]) {
    for (const clients of CLIENTS) {
      const result = await load(clients, targets, {
        warm_up_ms: plan.warm_up_ms,
        measured_ms: plan.seconds * 1000,
      });
      const point: Point = {
        clients,
        workspaces: targets === many ? plan.workspaces : 1,
        per_second: (result.measured * 1000) / result.measured_ms,
        latency_ms: percentilesOf(result.latencies_ms),
        rss_bytes: await residentBytes(purser.pid),
        decisions_so_far: tally.created,
        errors: Object.fromEntries(result.errors),
      };
      points.push(point);
      say(`  ${pointName(point)}: ${point.per_second.toFixed(0)}/s`);
    }
  }

  const { tps: after_tps } = await tpcb.run(plan.tpcb_seconds);
  say(`  TPC-B after: ${after_tps.toFixed(0)}/s`);
  const missing = plan.min_decisions - tally.created;
  if (missing > 0) {
    say(`Going on to ${plan.min_decisions} decisions…`);
    await load(TARGET_CLIENTS, first.targets, {
      warm_up_ms: 0,
      measured_ms: Number.POSITIVE_INFINITY,
      max_requests: missing,
    });
  }
  const rss_bytes = await residentBytes(purser.pid);
  memory.stop();
  const decisions = tally.created;

  say('Verifying the ledgers…');
  const verification = await measureVerification(first, purser.pid);
  say(`  ${verification.events} events: ${verification.per_second.toFixed(0)}/s`);
  const problems = await findProblems(first, others, tally, signal);
  say('Webhooks…');
  const [apart] = await makeWorkspaces(purser, 1, signal);
  const { seconds, warm_up_ms, deliveries } = plan;
  const webhooks = await measureWebhooks(
    apart as BenchWorkspace,
    { base_url: purser.base_url, counter, run_id, signal, makeBody: makeSpendBody },
    { seconds, warm_up_ms, deliveries },
  );
  problems.push(...webhooks.problems);
  apart?.client.close();
  for (const { client } of [first, ...others]) client.close();
  const reading = await readLongHistory(purser, plan, signal, say);
  return {
    reading,
    machine: {
      cpus: cpus().length,
      cpu: cpus()[0]?.model.trim() ?? 'unknown processor',
      memory_bytes: totalmem(),
      node: process.versions.node,
      data_dir: purser.data_dir,
    },
    seconds: plan.seconds,
    tpcb: {
      method: tpcb.method,
      clients: TPCB_CLIENTS,
      before_tps,
      after_tps,
      mean_tps: (before_tps + after_tps) / 2,
    },
    lone_insert_ms,
    webhooks,
    points,
    memory: {
      decisions,
      rss_bytes,
      peak_rss_bytes: Math.max(rss_bytes, ...memory.samples.map((sample) => sample.rss_bytes)),
      samples: memory.samples,
    },
    verification,
    decisions: tally.decisions,
    created: tally.created,
    errors: tally.errors,
    problems,
  };
}

/** Verifies one ledger twice, and gives the better: the first reads what lies on disk. */
async function measureVerification(
  workspace: BenchWorkspace,
  pid: number,
): Promise<BenchReport['verification']> {
  let best: BenchReport['verification'] | null = null;
  for (let round = 0; round < 2; round += 1) {
    const memory = watchMemory(pid, MEMORY_EVERY_MS);
    const { events_checked: events, duration_ms } = await verifyLedger(workspace.client);
    memory.stop();
    const per_second = (events * 1000) / duration_ms;
    const rss_bytes = Math.max(await residentBytes(pid), ...memory.samples.map((sample) => sample.rss_bytes));
    if (best === null || per_second > best.per_second) best = { events, duration_ms, per_second, rss_bytes };
  }
  return best as BenchReport['verification'];
}

/**
 * Runs the measurements and resolves with the exit code: 0, however slow; 1 when something is wrong (requests
 * failed, a ledger is not valid, decisions and events differ in number); 2 for wrong arguments; 130 when it was
 * asked to end.
 */
export async function main(surroundings: Surroundings): Promise<number> {
  const { signal, stdout, stderr, env } = surroundings;
  let plan: Plan | null;
  try {
    plan = readPlan(surroundings);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    stderr.write(`${error.message}\n`);
    return 2;
  }
  if (plan === null) {
    stdout.write(HELP);
    return 0;
  }
  let purser: PurserProcess | null = null;
  try {
    const say = (line: string) => void stderr.write(`${line}\n`);
    say('Starting the service on a data directory of its own…');
    purser = await startPurser({
      settings: {
        BOOTSTRAP_PLAN: 'team',
        RATE_LIMIT_PER_MINUTE: '10000000',
        LOG_LEVEL: 'info',
        WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      },
      env,
      signal,
      needs_disk: true,
    });
    if (plan.only_reading) {
      const reading = await readLongHistory(purser, plan, signal, say);
      stdout.write(`\n${renderReading(reading).join('\n')}\n`);
      if (plan.json_file !== null) await writeFile(plan.json_file, `${JSON.stringify(reading, null, 2)}\n`);
      return 0;
    }
    const report = await measure(purser, plan, surroundings, say);
    const screen = {
      width: stdout.columns ?? WIDTH_WITHOUT_TERMINAL,
      has_colour: stdout.isTTY === true && !env.NO_COLOR,
    };
    stdout.write(`\n${renderBench(report, screen).join('\n')}\n`);
    if (plan.json_file !== null) await writeFile(plan.json_file, `${JSON.stringify(report, null, 2)}\n`);
    return report.problems.length === 0 ? 0 : 1;
  } catch (error) {
    if (signal.aborted) return 130;
    stderr.write(`${(error as Error).message}\n`);
    if (purser !== null) stderr.write(`The end of the service's output:\n${await purser.lastOutput()}\n`);
    return 1;
  } finally {
    await purser?.stop();
  }
}
