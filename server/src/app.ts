import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { warmAssessor } from '@purser/rules/purpose/warm-up';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { countSkippedEvents } from './engine/followers/follower-rows.ts';
import { clockSuspect } from './engine/lane/batch.ts';
import { checkReady } from './engine/migration/migrate.ts';
import { samplesOf } from './sample-server.ts';
import { makeHealthRoutes, makeMetricsRoute } from './service/api/health.ts';
import { makeMcpRoute } from './service/api/mcp.ts';
import { atFolder, makePackageRoutes } from './service/api/packages.ts';
import { makeApiRoutes, makePeopleServices, makePersonRoutes } from './service/api/routes.ts';
import { makeSecondOpinion } from './service/api/second-opinion.ts';
import { withPublicTurns } from './service/api/shared-resources.ts';
import type { Config } from './service/config/config.ts';
import { makeConsoleRoutes, readConsoleFiles } from './service/console/console-files.ts';
import { DecisionView } from './service/decisions/present-decisions.ts';
import { guideSections, makeGuideRoutes, readGuides } from './service/guides/guides.ts';
import { makeAuthenticate } from './service/http/auth.ts';
import { makeLimiters } from './service/http/limiters.ts';
import { closeServer, makeServer } from './service/http/server.ts';
import type { ServerOptions } from './service/http/server-options.ts';
import { connectSharedCounts } from './service/http/shared-counts.ts';
import { type Core, type Database, makeCore, newId } from './service/installation/runtime.ts';
import type { Mailer } from './service/mail/mailer.ts';
import { openMailer } from './service/mail/open-mailer.ts';
import { OfferedPackages } from './service/packages/offered-packages.ts';
import { bootstrap, prepareFirstPerson } from './service/people/first-start.ts';
import type { Listening } from './service/processes/messages.ts';
import type { Siblings } from './service/processes/siblings.ts';
import { makeSharedPageRoute } from './service/sharing/shared-page.ts';
import { makeKeyUses } from './service/workers/note-key-uses.ts';
import { makeKeyRewrapping } from './service/workers/rewrap-keys.ts';
import { startWorkers } from './service/workers/start-workers.ts';
import { startWatching } from './service/workers/watch.ts';
import { VERSION } from './version.ts';

/** The built console; the same place from the sources and from what is built of them. */
const CONSOLE_DIRECTORY = fileURLToPath(new URL('../../console/dist/', import.meta.url));

/** The packages that the build offers. */
const PACKAGES_DIRECTORY = fileURLToPath(new URL('../../dist/packages/', import.meta.url));

/** The guides as the build rendered them. */
const GUIDES_DIRECTORY = fileURLToPath(new URL('../../dist/guides/', import.meta.url));

/** A request is answered within this time, whatever the database does. */
const REQUEST_DEADLINE_MS = 5_000;

/** The most connections that wait to be accepted. The clients' systems retry any more of them only after seconds. */
const LISTEN_BACKLOG = 4_096;

export interface Service extends Listening {
  /** Stops accepting requests, finishes those in progress, and closes everything that this service opened. */
  stop(): Promise<void>;
}

function urlOf(server: FastifyInstance): string {
  const { address, family, port } = server.server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

type Step = () => unknown;

/** The steps that undo a start, the latest first, whether the start failed or the service stops. */
interface Ends {
  add(step: Step): void;
  /** Adds a step that runs before all others, beside those that are added in this way too. */
  addDrain(step: Step): void;
  /** Runs every step, also after one that failed, and then throws the first failure. */
  run(): Promise<void>;
}

function makeEnds(): Ends {
  const steps: Step[] = [];
  const drains: Step[] = [];
  const failures: unknown[] = [];
  const attempt = async (step: Step) => {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  };
  return {
    add: (step) => void steps.unshift(step),
    addDrain: (step) => void drains.push(step),
    async run() {
      // Each may take seconds, and the process has ten.
      await Promise.all(drains.map(attempt));
      for (const step of steps) await attempt(step);
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Loads OpenTelemetry where traces are wanted, and nothing of it otherwise. */
async function startTraces({ otel_exporter_otlp_endpoint: endpoint }: Config, log: Logger) {
  if (endpoint === null) return null;
  const { startTracing } = await import('./service/observability/open-telemetry.ts');
  return startTracing({ endpoint, version: VERSION, log });
}

function makeKeyLookUp(core: Core) {
  const { log } = core;
  const key_uses = makeKeyUses({ lane: core.lane, log });
  const rewrapping = makeKeyRewrapping(core);
  const authenticate = makeAuthenticate({
    db: core.keys_db,
    clock: core.clock,
    keyDigests: core.secrets.keyDigests,
    onOtherDigest: ({ workspace_id, key_id }, digests) =>
      rewrapping.note(workspace_id, { key_id, ...digests }),
    onUse: (key) => key_uses.note(key, key.clock_ms),
    onFailure: (error) => log.error({ err: error }, 'keys could not be looked up'),
  });
  return { key_uses, rewrapping, authenticate };
}

/** Everything that requests and workers use. Nothing listens yet. */
async function openParts(
  config: Config,
  database: Database,
  log: Logger,
  siblings: Siblings | null,
  ends: Ends,
) {
  const tracing = await startTraces(config, log);
  ends.add(() => tracing?.stop());
  const core = makeCore(database, log, tracing);
  ends.add(core.close);
  const mailer = openMailer(core, config);
  const second_opinion = makeSecondOpinion(core, config);
  ends.add(() => second_opinion?.flushUsage());
  const keys = makeKeyLookUp(core);
  const shared_counts = config.redis_url === null ? null : await connectSharedCounts(config.redis_url, log);
  const makeLimiter = makeLimiters(shared_counts?.client ?? null, siblings !== null);
  const people = makePeopleServices(core, config, makeLimiter);
  ends.add(() => Promise.all([people.sessions.flush().catch(() => {}), people.flows.recorded()]));
  ends.add(keys.key_uses.flush);
  ends.add(() => shared_counts?.close());
  const samples = samplesOf(core, config, database);
  return {
    config,
    log,
    siblings,
    core,
    samples,
    tracing,
    second_opinion,
    mailer,
    makeLimiter,
    people,
    ...keys,
  };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** The routes of the API and beside it: health, documents, the console; and that of the metrics. */
function makeRoutes(
  { core, config, log, samples, second_opinion, mailer, people, siblings }: Parts,
  isStopping: () => boolean,
) {
  const api_routes = [
    ...makeApiRoutes(core, config, second_opinion?.preAssess, people, samples),
    ...makePersonRoutes(core, config, people),
    makeMcpRoute({
      core,
      site: people.site,
      onFailure: (error) => log.error({ err: error }, 'a tool of /mcp failed'),
    }),
  ];
  const package_routes = makePackageRoutes({
    packages: new OfferedPackages(PACKAGES_DIRECTORY),
    site: people.site,
    public_url: config.public_url,
  });
  const { content_type } = core.metrics;
  const text = siblings?.share(core.metrics) ?? core.metrics.text;
  const metrics_route = makeMetricsRoute({ text, content_type }, core.now_ms);
  const guides = readGuides(GUIDES_DIRECTORY);
  const health = makeHealthRoutes({
    checkReady: () => readiness(core, mailer),
    isStopping,
    metrics_route: config.metrics_port === null ? metrics_route : null,
    now_ms: core.now_ms,
    checkpoint_keys: core.secrets.verifyingKeys,
    api_routes: [...api_routes, ...package_routes],
    version: VERSION,
    guide_sections: guideSections(guides),
  });
  const console_files = readConsoleFiles(CONSOLE_DIRECTORY);
  if (console_files.size === 0) log.warn('the console is not built, so it is not served: run npm run build');
  const view = new DecisionView({ db: core.db, tokens: core.secrets.capabilityTokens });
  const open_routes = [
    makeSharedPageRoute({ db: core.db, view }),
    ...package_routes,
    ...package_routes.flatMap(atFolder),
    ...health,
    ...makeGuideRoutes(guides),
    ...makeConsoleRoutes(console_files),
  ];
  const routes = [...api_routes, ...open_routes.map((route) => withPublicTurns(route, core.turns))];
  return { routes, metrics_route };
}

async function readiness(core: Core, mailer: Mailer | null) {
  core.writes.check();
  await checkReady(core.probe_db);
  await core.readClock();
  const doubt = core.clock.doubt();
  if (doubt !== null) throw clockSuspect(doubt);
  return {
    skipped_events: await countSkippedEvents(core.probe_db),
    clock_ahead_seconds: Math.floor(core.clock.aheadMs() / 1000),
    mail: mailer?.state() ?? ('NOT_CONFIGURED' as const),
    database: { engine: core.engine.kind, nodes: [...core.nodes.nodes()] },
  };
}

/** Makes the public server, and that of the metrics where they have a port of their own. */
function makeServers(parts: Parts, ends: Ends) {
  const { config, core, people, second_opinion, siblings } = parts;
  let stopping = false;
  const { routes, metrics_route } = makeRoutes(parts, () => stopping);
  const options: ServerOptions = {
    routes,
    authenticate: parts.authenticate,
    authenticateSession: (headers) => people.sessions.authenticate(headers),
    knownBrowser: (headers) => people.devices.of(headers)?.device_id ?? null,
    checkSameSite: (headers) => people.site.checkSameSite(headers, { required: true }),
    rate_limit_per_minute: config.rate_limit_per_minute,
    unknown_key_limit_per_minute: config.unknown_key_limit_per_minute,
    makeLimiter: parts.makeLimiter,
    deadline_ms: REQUEST_DEADLINE_MS + (second_opinion?.longest_ms ?? 0),
    balance: siblings?.balance ?? null,
    keep_alive_ms: config.keep_alive_seconds * 1000,
    isFull: core.lane.isFull,
    trusted_proxies: config.trusted_proxies,
    logger: parts.log,
    newRequestId: () => newId('request'),
    now_ms: core.now_ms,
    metrics: core.metrics,
    tracing: parts.tracing,
  };
  const server = makeServer(options);
  // It has limits and connections of its own, so that the metrics can be read while the public server is overloaded.
  const metrics_server =
    config.metrics_port === null
      ? null
      : makeServer({
          ...options,
          routes: [metrics_route],
          balance: null,
          metrics: { ...core.metrics, watchUse: () => {} },
        });
  ends.addDrain(async () => {
    stopping = true;
    siblings?.balance.stop();
    // Spends that wait for the model continue without it, so that they do not delay the drain.
    await second_opinion?.stop();
    await Promise.all([server, metrics_server].map((each) => each !== null && closeServer(each)));
  });
  return { server, metrics_server };
}

type Servers = ReturnType<typeof makeServers>;

/** Makes the first workspace and person where there are none, and waits until everything can answer. */
async function prepareData(
  { config, core, people, second_opinion, siblings }: Parts,
  { address }: Database,
  onFirst: (first: { admin_key: string }) => unknown,
) {
  await core.readClock();
  const prepares = siblings?.is_first ?? true;
  const first = prepares ? await bootstrap(core, address, config) : undefined;
  if (first !== undefined) onFirst(first);
  const setup_code = prepares ? await prepareFirstPerson(core, people, config) : null;
  await second_opinion?.probed;
  warmAssessor();
  return { first, setup_code };
}

async function listen({ config, people, log }: Parts, { server, metrics_server }: Servers) {
  await server.listen({ port: config.port, host: config.host, backlog: LISTEN_BACKLOG });
  await metrics_server?.listen({ port: config.metrics_port ?? 0, host: config.metrics_host ?? config.host });
  people.site.listensOn((server.server.address() as AddressInfo).port);
  const metrics_url = metrics_server === null ? null : urlOf(metrics_server);
  if (metrics_url !== null) log.info({ metrics_url }, 'metrics are served at a separate address');
  return { url: urlOf(server), metrics_url };
}

async function startBackground({ core, config, people, ...parts }: Parts, ends: Ends): Promise<void> {
  const { key_uses, rewrapping, second_opinion, mailer } = parts;
  const watching = await startWatching(core);
  ends.addDrain(watching.stop);
  const of_requests = { key_uses, rewrapping, sessions: people.sessions, second_opinion };
  ends.addDrain(() => mailer?.stop());
  ends.addDrain(startWorkers(core, config, of_requests, { mailer, site: people.site }).stop);
}

/**
 * Starts the service on a migrated database. It listens only when everything is ready, so every client that can connect
 * is served. `onFirst` is called with the first workspace's key as soon as it exists, because the start may still fail.
 * With `siblings` this is one of several processes, which share the ports, the limits and the metrics.
 */
export async function startService(
  config: Config,
  database: Database,
  log: Logger,
  onFirst: (first: { admin_key: string }) => unknown = () => {},
  siblings: Siblings | null = null,
): Promise<Service> {
  const ends = makeEnds();
  try {
    const parts = await openParts(config, database, log, siblings, ends);
    const servers = makeServers(parts, ends);
    const { first, setup_code } = await prepareData(parts, database, onFirst);
    const urls = await listen(parts, servers);
    await startBackground(parts, ends);
    const console_url = parts.people.site.consoleUrl(setup_code === null ? '' : `setup#${setup_code}`);
    return { ...urls, console_url, first, stop: ends.run };
  } catch (error) {
    // The reason of the failed start is the one to report.
    await ends
      .run()
      .catch((failure: unknown) => log.error({ err: failure }, 'a failed start was not undone'));
    throw error;
  }
}
