import { writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { ToolContext } from '../demo/main.ts';
import { citus } from './citus.ts';
import { differentClocks } from './clocks.ts';
import { cluster } from './cluster.ts';
import { brokenConnections } from './connections.ts';
import { fullDisk } from './full-disk.ts';
import { hostileClients } from './hostile-clients.ts';
import { killPostgres, killService } from './kills.ts';
import { severalNodes } from './nodes.ts';
import { FLOODS, noisyNeighbour } from './noisy-neighbour.ts';
import { overload, stopUnderLoad } from './overload.ts';
import { makeRandom } from './random.ts';
import { type ChaosReport, describeFinding, renderChaosReport } from './report.ts';
import { secretsLeft } from './secrets-left.ts';
import type { Finding, ScenarioContext } from './stage.ts';
import { promotedStandby } from './standby.ts';
import { unknownKeys } from './unknown-keys.ts';

const HELP = `npm run chaos -- [options]

Breaks a Purser of its own in every way that production knows, under load, and checks from outside what the clients
were told. Takes about twenty-five minutes in full.

  --quick       fewer rounds and without cluster and citus, about three minutes
  --only NAMES  these scenarios alone, separated by commas
  --floods NAMES  of noisy-neighbour these alone: ${FLOODS.join(', ')}
  --seed N      the same moments again (default: a new one, which is printed)
  --json FILE   also writes the findings to FILE
  --report      also writes them to docs/reference/chaos.md
  --list        names the scenarios
  --help        this text
`;

interface Scenario {
  says: string;
  run: (context: ScenarioContext) => Promise<Finding>;
}

/** Every scenario, in the order in which they run. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'kill-service': { says: 'kill -9 of the service under load', run: killService },
  'kill-postgres': { says: 'kill -9 of PostgreSQL under load', run: killPostgres },
  connections: {
    says: 'replies of commits lost, connections cut, swallowed and half-open',
    run: brokenConnections,
  },
  standby: { says: 'the primary killed under load, its synchronous standby promoted', run: promotedStandby },
  cluster: {
    says: 'Patroni, HAProxy, Redis and three nodes: the primary lost, a node cut off, Redis restarted, all nodes rolled',
    run: cluster,
  },
  citus: {
    says: 'Citus: distributed under load, a worker lost, one added, the coordinator lost inside two-phase commits',
    run: citus,
  },
  nodes: { says: 'four nodes on one database, restarted in turn under load', run: severalNodes },
  'full-disk': { says: 'no space left for PostgreSQL', run: fullDisk },
  overload: { says: 'ten times as many clients as it can serve', run: overload },
  stop: { says: 'SIGTERM under load', run: stopUnderLoad },
  clocks: { says: 'two nodes whose clocks are ten minutes apart', run: differentClocks },
  'unknown-keys': { says: 'a flood of unknown keys behind forged addresses', run: unknownKeys },
  'hostile-clients': {
    says: 'resets, pipelining, slow bodies, readers that do not read, half-open sockets, at every moment',
    run: hostileClients,
  },
  'noisy-neighbour': {
    says: 'one tenant floods each thing that is shared, beside an honest one',
    run: noisyNeighbour,
  },
  secrets: {
    says: 'every secret of a run looked for in the database, logs, metrics and errors',
    run: secretsLeft,
  },
};

interface Options {
  names: string[];
  floods: readonly string[];
  seed: number;
  share: number;
  writes_report: boolean;
  json_file: string | null;
}

const QUICK_SHARE = 0.05;
/** Takes its minutes whatever the share, and programs that are seldom installed. */
const NOT_QUICK: ReadonlySet<string> = new Set(['citus', 'cluster']);
const REPORT_FILE = fileURLToPath(new URL('../../../docs/reference/chaos.md', import.meta.url));

function requireKnown(option: string, given: readonly string[], known: readonly string[]): void {
  for (const name of given) {
    if (!known.includes(name)) throw new TypeError(`--${option} ${name}: must be of ${known.join(', ')}.`);
  }
}

function readOptions({ args, env }: ToolContext): Options | 'help' | 'list' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      floods: { type: 'string', default: FLOODS.join(',') },
      seed: { type: 'string' },
      json: { type: 'string' },
      report: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  if (values.list) return 'list';
  const all = Object.keys(SCENARIOS).filter((name) => !(values.quick && NOT_QUICK.has(name)));
  const names = values.only?.split(',') ?? all;
  requireKnown('only', names, Object.keys(SCENARIOS));
  const floods = values.floods.split(',');
  requireKnown('floods', floods, FLOODS);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new TypeError(`--seed ${values.seed}: must be a whole number.`);
  return {
    names,
    floods,
    seed,
    share: values.quick ? QUICK_SHARE : 1,
    writes_report: values.report,
    json_file: values.json === undefined ? null : resolve(env.INIT_CWD ?? '.', values.json),
  };
}

/**
 * Runs the scenarios and resolves with the exit code: 0 when everything held, 1 when something did not, 2 for wrong
 * arguments, 130 when it was asked to end.
 */
export async function main(program: ToolContext): Promise<number> {
  const { stdout, stderr, signal, env } = program;
  let options: Options | 'help' | 'list';
  try {
    options = readOptions(program);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    stderr.write(`${error.message}\n`);
    return 2;
  }
  if (options === 'help') {
    stdout.write(HELP);
    return 0;
  }
  if (options === 'list') {
    for (const [name, { says }] of Object.entries(SCENARIOS)) stdout.write(`${name}: ${says}\n`);
    return 0;
  }
  const { names, floods, seed, share } = options;
  const load = loadavg()[0] ?? 0;
  const began_ms = performance.now();
  stdout.write(`Seed ${seed}.\n`);
  const findings: ChaosReport['findings'] = {};
  for (const name of names) {
    const { says, run } = SCENARIOS[name] as Scenario;
    stderr.write(`${name}: ${says}…\n`);
    const context: ScenarioContext = {
      env,
      signal,
      wait: (time_ms) => setTimeout(time_ms, undefined, { signal }),
      random: makeRandom(seed),
      say: (line) => void stderr.write(`${line}\n`),
      share,
      floods,
    };
    let finding: Finding;
    const load_of_machine = (loadavg()[0] ?? 0).toFixed(1);
    try {
      finding = await run(context);
      finding.figures = { ...finding.figures, load_of_machine };
    } catch (error) {
      if (signal.aborted) return 130;
      finding = { figures: {}, problems: [`It could not be carried out: ${(error as Error).stack}`] };
    }
    if (signal.aborted) return 130;
    findings[name] = { says, ...finding };
    stdout.write(`${describeFinding(name, finding).join('\n')}\n`);
  }
  const report: ChaosReport = {
    seed,
    is_quick: share < 1,
    machine: {
      cpus: cpus().length,
      cpu: cpus()[0]?.model.trim() ?? 'unknown processor',
      memory_bytes: totalmem(),
      node: process.versions.node,
      platform: `${type()} ${release()}`,
      load,
    },
    minutes: (performance.now() - began_ms) / 60_000,
    findings,
  };
  if (options.json_file !== null) {
    await writeFile(options.json_file, `${JSON.stringify(report, null, 2)}\n`);
  }
  if (options.writes_report) await writeFile(REPORT_FILE, renderChaosReport(report));
  const broken = Object.values(findings).filter((finding) => finding.problems.length > 0).length;
  stdout.write(`${names.length - broken} of ${names.length} scenarios held.\n`);
  return broken === 0 ? 0 : 1;
}
