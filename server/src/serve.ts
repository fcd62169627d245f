import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from 'pino';
import type { Service } from './app.ts';
import { connectOnce } from './engine/storage/database.ts';
import { type Config, readConfig } from './service/config/config.ts';
import { MAX_PROCESSES } from './service/config/parse.ts';
import { transportWarnings } from './service/config/transport-warnings.ts';
import type { GatewayBeside } from './service/gateway/beside.ts';
import { type OpenedDatabase, openDatabase, StartError } from './service/installation/open-database.ts';
import { type Core, MAX_CONNECTIONS, makeCore } from './service/installation/runtime.ts';
import { openFilesProblem, readOpenFiles } from './service/operator/open-files.ts';
import { onEnd } from './service/operator/process-end.ts';
import { fail, startLog, tell } from './service/operator/program.ts';
import { welcome } from './service/operator/welcome.ts';
import { processCount } from './service/processes/how-many.ts';
import type { Listening } from './service/processes/messages.ts';
import { joinSiblings, type Siblings } from './service/processes/siblings.ts';
import { SAMPLE_NAME } from './service/samples/samples.ts';
import { VERSION } from './version.ts';

/** The command with which one of several processes serves. */
export const ONE_PROCESS = 'serve-process';
const MAIN = fileURLToPath(new URL('main.js', import.meta.url));
/** For the operator's commands and for what looks into the database by hand, beside what the processes open. */
const OTHER_CONNECTIONS = 44;

/**
 * Collects what the start has left. The rule of the heap's growth holds from the first full collection on, which V8 would
 * make when old memory has reached some 60 MB, or 100: the process then kept 165 or 200 MB. Takes some 50 ms.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
}

/** The service, once it listens. */
type Serving = Pick<Service, 'stop'> & Listening;

/** Starts what serves on an opened database. `onFirst` is called with the first workspace's key as soon as it exists. */
type StartServing = (database: OpenedDatabase, onFirst: (admin_key: string) => void) => Promise<Serving>;

/** Serves in this process. The service is loaded here: that takes most of a second, which no command has to wait for. */
const inThisProcess =
  (config: Config, log: Logger, siblings: Siblings | null): StartServing =>
  async (database, onFirst) => {
    const { startService } = await import('./app.ts');
    collectGarbage();
    return startService(config, database, log, (first) => onFirst(first.admin_key), siblings);
  };

/** Serves in several processes, of which this one is the primary. */
const inProcesses =
  (config: Config, count: number, log: Logger, signal: AbortSignal): StartServing =>
  async (_database, onFirst) => {
    const { startProcesses } = await import('./service/processes/primary.ts');
    const { host, port, metrics_port } = config;
    return startProcesses({
      count,
      exec: MAIN,
      argsOf: (place, is_first) => [ONE_PROCESS, String(place), ...(is_first ? ['--first'] : [])],
      ports: { host, port, metrics_host: config.metrics_host ?? host, metrics_port },
      log,
      now_ms: () => performance.now(),
      onFirst,
      failure: (message) => new StartError(message),
      signal,
    });
  };

/** Everything that `serve` has opened. */
interface Started {
  service: Serving;
  gateway: GatewayBeside | null;
  database: OpenedDatabase;
}

/** Starts the gateway of `GATEWAY_PORT` beside the service. */
async function startGateway(
  config: Config,
  database: OpenedDatabase,
  { url }: Serving,
  log: Logger,
): Promise<GatewayBeside | null> {
  if (config.gateway_port === null) return null;
  const { startGatewayBeside } = await import('./service/gateway/beside.ts');
  const adapter_key = config.purser_adapter_key ?? (await ownGatewayKey(config, database, log));
  const write = (line: string) => void process.stdout.write(line);
  return startGatewayBeside({ config, env: process.env, purser_url: url, adapter_key, log, write });
}

async function ownGatewayKey(config: Config, database: OpenedDatabase, log: Logger): Promise<string> {
  const { gatewayKey } = await import('./service/gateway/adapter-key.ts');
  return withCore(database, log, (core) => gatewayKey(core, config.data_dir));
}

/** Does something at the start beside the service, with a core of its own. */
async function withCore<T>(
  database: OpenedDatabase,
  log: Logger,
  use: (core: Core) => Promise<T>,
): Promise<T> {
  const core = makeCore(database, log);
  try {
    await core.readClock();
    return await use(core);
  } finally {
    await core.close();
  }
}

/** Opens everything that `serve` needs, in order. If a step fails, all that was opened before it is closed again. */
async function start(
  config: Config,
  opening: Promise<OpenedDatabase>,
  startServing: StartServing,
  log: Logger,
): Promise<Started> {
  const database = await opening;
  const made: string[] = [];
  try {
    const service = await startServing(database, (admin_key) => made.push(admin_key));
    const gateway = await startGateway(config, database, service, log).catch(async (error: unknown) => {
      await service.stop();
      throw error;
    });
    return { service, gateway, database };
  } catch (error) {
    // The workspace is made, and no later start can show its key.
    const shown = config.bootstrap_admin_key === null ? made : [];
    for (const admin_key of shown) process.stdout.write(`Admin key   ${admin_key}\n`);
    await database.close();
    throw error;
  }
}

/** How many processes `auto` comes to with this many connections to the database; null: as many as they need. */
function autoProcesses(max_connections: number | null) {
  const constrained = process.constrainedMemory();
  const memory_bytes = Math.min(totalmem(), constrained > 0 ? constrained : Number.POSITIVE_INFINITY);
  const cores = availableParallelism();
  const of_machine = { cores, memory_bytes, connections_of_one: MAX_CONNECTIONS, at_most: MAX_PROCESSES };
  return { ...processCount({ ...of_machine, max_connections }), cores, memory_bytes };
}

/** The connections that the database allows for the processes. */
async function connectionsOf({ address }: OpenedDatabase): Promise<number> {
  const client = await connectOnce(address);
  try {
    const found = await client.query<{ max_connections: string }>('show max_connections');
    return Number(found.rows[0]?.max_connections) - OTHER_CONNECTIONS;
  } finally {
    await client.end();
  }
}

/** Runs the service until the process is asked to end: in this process, or in as many as `SERVE_PROCESSES` says. */
export async function serve({ sample = false }: { sample?: boolean } = {}): Promise<void> {
  const config = readConfig(process.env);
  const { log, end } = startLog(config.log_level, process.stdout);
  const open_files = openFilesProblem(readOpenFiles());
  if (open_files !== null) log.warn(open_files.message);
  const starting = new AbortController();
  const { signal } = starting;
  const setting = config.serve_processes;
  let count = setting === 'auto' ? autoProcesses(null).count : setting;
  const max_connections = String(count * MAX_CONNECTIONS + OTHER_CONNECTIONS);
  const opening = openDatabase(config, { as: 'service', log, signal, settings: { max_connections } });
  const startServing: StartServing = async (database, onFirst) => {
    if (setting === 'auto') {
      // The embedded PostgreSQL was started with as many connections as they need.
      const max_connections = config.database_url === null ? null : await connectionsOf(database);
      const found = autoProcesses(max_connections);
      count = found.count;
      log.info({ processes: count, ...found, max_connections }, 'SERVE_PROCESSES=auto was resolved');
    }
    const startThem =
      count === 1 ? inThisProcess(config, log, null) : inProcesses(config, count, log, signal);
    return startThem(database, onFirst);
  };
  const started = start(config, opening, startServing, log);
  onEnd(log, fail, async () => {
    starting.abort();
    // A start in progress is awaited, so that everything that it has opened is closed again.
    const running = await started.catch(() => null);
    // The gateway reports its leases to the service.
    await running?.gateway?.stop();
    await running?.service.stop();
    await running?.database.close();
    await end();
  });
  const { service, gateway, database } = await started.catch(async (error: unknown) => {
    await end();
    // A start that was asked to end has not failed. The handler above ends the process.
    if (signal.aborted) return new Promise<never>(() => {});
    throw error;
  });
  // The first key is shown even by a start that is ending, because no later start can show it.
  if (signal.aborted && service.first === undefined) return;
  if (config.webhook_allow_private_network) {
    log.warn(
      'WEBHOOK_ALLOW_PRIVATE_NETWORK is on: webhooks may reach private networks; use it only for tests',
    );
  }
  for (const warning of transportWarnings(config)) log.warn(warning);
  process.stdout.write(
    welcome({ ...service, gateway_url: gateway?.url ?? null }, config.bootstrap_admin_key !== null),
  );
  log.info({ url: service.url, version: VERSION, ...(count === 1 ? {} : { processes: count }) }, 'listening');
  if (sample) {
    await makeSample(config, database, log).catch((error: unknown) => {
      // The next sample removes what a start that was asked to end leaves unfinished.
      if (!signal.aborted) throw error;
    });
  }
}

/** Writes the sample beside the running service, which serves meanwhile. */
async function makeSample(config: Config, database: OpenedDatabase, log: Logger): Promise<void> {
  const { createOperatorSample } = await import('./sample-server.ts');
  const { workspace_id } = await withCore(database, log, (core) =>
    createOperatorSample(core, config, database),
  );
  process.stdout.write(`  Sample      ${workspace_id}: choose “${SAMPLE_NAME}” in the console\n`);
}

/** Serves as one of several processes, beside the primary that has opened the database. */
export async function serveAsOne(place: string, is_first: boolean): Promise<void> {
  const config = readConfig(process.env);
  const { log: of_all, end } = startLog(config.log_level, process.stdout);
  const log = of_all.child({ process: Number(place) });
  const siblings = joinSiblings(is_first);
  const started = openDatabase(config, { as: 'command', log }).then((database) =>
    inThisProcess(
      config,
      log,
      siblings,
    )(database, (admin_key) => void siblings.tell({ purser: 'made', admin_key })),
  );
  onEnd(log, fail, async () => {
    const service = await started.catch(() => null);
    await service?.stop();
    await end();
  });
  try {
    const { url, console_url, metrics_url, first } = await started;
    await siblings.tell({ purser: 'listening', listening: { url, console_url, metrics_url, first } });
  } catch (error) {
    await siblings.tell({ purser: 'failed', message: tell(error) });
    await end();
    process.exit(1);
  }
}
