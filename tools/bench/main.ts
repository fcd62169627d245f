import { writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { ToolContext } from '../demo/main.ts';
import { type Bench, startBench } from './bench.ts';
import { measureDecisions } from './decisions.ts';
import { measureModels } from './gateway/models.ts';
import { measureGrowth } from './growth.ts';
import { measureLimits } from './limits.ts';
import { measureLines } from './lines.ts';
import { measureAllowances } from './many/allowances.ts';
import { measureInbox } from './many/inbox.ts';
import { measureNotices } from './notices.ts';
import type { Plan } from './plan.ts';
import { measureLongHistory } from './reading.ts';
import { type BenchReport, renderPage, renderReport } from './render.ts';
import type { Group } from './result.ts';
import { measureSearch } from './search.ts';
import { measureTurns } from './turns.ts';
import { measureWays } from './ways.ts';
import { measureWebhooks } from './webhooks.ts';

/** Every part of the measurements, in their order. Each runs on a service and a database of its own. */
const GROUPS: readonly Group[] = [
  { name: 'decisions', title: 'Decisions', measure: measureDecisions },
  { name: 'limits', title: 'Limits over time', measure: measureLimits },
  { name: 'ways', title: 'The other hot ways', measure: measureWays },
  { name: 'turns', title: 'Turns', measure: measureTurns },
  { name: 'webhooks', title: 'Webhooks', measure: measureWebhooks },
  { name: 'notices', title: 'Channels', measure: measureNotices },
  { name: 'inbox', title: 'The inbox', measure: measureInbox },
  { name: 'allowances', title: 'Allowances', measure: measureAllowances },
  { name: 'lines', title: 'Lines of payment rails', measure: measureLines },
  { name: 'models', title: 'Model calls', measure: measureModels },
  { name: 'reading', title: 'Reading a long history', measure: measureLongHistory },
  { name: 'search', title: 'Search', measure: measureSearch },
  { name: 'growth', title: 'Growth', measure: measureGrowth },
];
const NAMES = GROUPS.map((group) => group.name).join(', ');

const PLANS: Record<Plan['kind'], Plan> = {
  quick: {
    kind: 'quick',
    flush_ms: 0,
    seconds: 0.4,
    rounds: 1,
    warm_up_ms: 100,
    workspaces: 20,
    baseline_seconds: 1,
    lone_inserts: 200,
    requests: 400,
    grown_to: 2_000,
  },
  default: {
    kind: 'default',
    flush_ms: 0,
    seconds: 2,
    rounds: 3,
    warm_up_ms: 300,
    workspaces: 200,
    baseline_seconds: 3,
    lone_inserts: 500,
    requests: 4_000,
    grown_to: 50_000,
  },
  long: {
    kind: 'long',
    flush_ms: 0,
    seconds: 5,
    rounds: 5,
    warm_up_ms: 1_000,
    workspaces: 200,
    baseline_seconds: 5,
    lone_inserts: 1_000,
    requests: 10_000,
    grown_to: 1_000_000,
  },
};

const HELP = `npm run bench -- [options]

Measures the service over HTTP, with durable commits, ledger, holds and purpose on, beside TPC-B and the plain way
of writing the same rows on the same PostgreSQL. Takes about five minutes.

  --only A,B    only these groups: ${NAMES}
  --quick       a smoke run of less than a minute
  --long        everything: a workspace of a million decisions, and more rounds; half an hour
  --seconds N   measured time of each point
  --flush-ms N  as on a disk whose flush takes so much longer, for the service and for what it is compared with
  --report      also writes docs/reference/performance.md
  --json FILE   also writes the figures to FILE
  --help        this text
`;

/** What PostgreSQL's `commit_delay` can say. */
const MAX_FLUSH_MS = 100;
const WIDTH_WITHOUT_TERMINAL = 140;
const REPORT_FILE = fileURLToPath(new URL('../../../docs/reference/performance.md', import.meta.url));

interface Options {
  plan: Plan;
  groups: readonly Group[];
  writes_report: boolean;
  json_file: string | null;
  /** The options as they were given. */
  given: string;
}

/** Null when the help is asked for. Throws TypeError, with a message for people, for arguments that are none. */
function readOptions({ args, env }: ToolContext): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      'flush-ms': { type: 'string' },
      report: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  if (values.quick && values.long) throw new TypeError('--quick and --long: only one of them.');
  const plan = PLANS[values.quick ? 'quick' : values.long ? 'long' : 'default'];
  const seconds = Number(values.seconds ?? plan.seconds);
  if (!(seconds >= 0.1 && seconds <= 3600)) {
    throw new TypeError(`--seconds ${values.seconds}: must be a number from 0.1 to 3600.`);
  }
  const flush_ms = Number(values['flush-ms'] ?? plan.flush_ms);
  if (!(flush_ms >= 0 && flush_ms <= MAX_FLUSH_MS)) {
    throw new TypeError(`--flush-ms ${values['flush-ms']}: must be a number from 0 to ${MAX_FLUSH_MS}.`);
  }
  const wanted = values.only?.split(',') ?? GROUPS.map((group) => group.name);
  const unknown = wanted.find((name) => !GROUPS.some((group) => group.name === name));
  if (unknown !== undefined) throw new TypeError(`--only ${unknown}: there are ${NAMES}.`);
  return {
    plan: { ...plan, seconds, flush_ms },
    groups: GROUPS.filter((group) => wanted.includes(group.name)),
    writes_report: values.report,
    // npm changes to the package's directory and tells where it was called.
    json_file: values.json === undefined ? null : resolve(env.INIT_CWD ?? '.', values.json),
    given: args.join(' '),
  };
}

/** Runs a group on a service of its own; what the service said last is added to whatever fails. */
async function runGroup(group: Group, plan: Plan, context: ToolContext, say: (line: string) => void) {
  say(`${group.title}: starting a service on a data directory of its own…`);
  const bench: Bench = await startBench(plan, context, say);
  try {
    return await group.measure(bench);
  } catch (error) {
    if (!context.signal.aborted) say(`The end of the service's output:\n${await bench.purser.lastOutput()}`);
    throw error;
  } finally {
    await bench.stop();
  }
}

/**
 * Runs the measurements and resolves with the exit code: 0, however slow; 1 when something is wrong (requests
 * failed, a ledger is not valid, changes and events differ in number); 2 for wrong arguments; 130 when it was
 * asked to end.
 */
export async function main(context: ToolContext): Promise<number> {
  const { signal, stdout, stderr, env } = context;
  let options: Options | null;
  try {
    options = readOptions(context);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    stderr.write(`${error.message}\n`);
    return 2;
  }
  if (options === null) {
    stdout.write(HELP);
    return 0;
  }
  const say = (line: string) => void stderr.write(`${line}\n`);
  const report: BenchReport = {
    machine: {
      cpus: cpus().length,
      cpu: cpus()[0]?.model.trim() ?? 'unknown processor',
      memory_bytes: totalmem(),
      node: process.versions.node,
      load_before: loadavg()[0] ?? 0,
      begun_at: new Date().toISOString(),
    },
    options: options.given,
    groups: [],
  };
  try {
    for (const group of options.groups) {
      const { name, title } = group;
      report.groups.push({ name, title, result: await runGroup(group, options.plan, context, say) });
    }
  } catch (error) {
    if (signal.aborted) return 130;
    say((error as Error).message);
    return 1;
  }
  const screen = {
    width: stdout.columns ?? WIDTH_WITHOUT_TERMINAL,
    has_colour: stdout.isTTY === true && !env.NO_COLOR,
  };
  stdout.write(`\n${renderReport(report, screen).join('\n')}\n`);
  if (options.json_file !== null) await writeFile(options.json_file, `${JSON.stringify(report, null, 2)}\n`);
  if (options.writes_report) await writeFile(REPORT_FILE, renderPage(report));
  return report.groups.every(({ result }) => result.problems.length === 0) ? 0 : 1;
}
