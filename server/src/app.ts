import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { warmAssessor } from '@purser/rules/purpose/warm-up';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { countSkippedEvents } from './engine/followers/follower-rows.ts';
import { clockDoubted } from './engine/lane/batch.ts';
import { checkReady } from './engine/migration/migrate.ts';
import { makeHealthRoutes, makeMetricsRoute } from './service/api/health.ts';
import { makeMcpRoute } from './service/api/mcp.ts';
import { makeApiRoutes, makePeopleServices, makePersonRoutes } from './service/api/routes.ts';
import { makeSecondOpinion } from './service/api/second-opinion.ts';
import { PUBLIC_SHARE, takingPublicTurns } from './service/api/shared-resources.ts';
import type { Config } from './service/config/config.ts';
import { makeConsoleRoutes, readConsoleFiles } from './service/console/console-files.ts';
import { makeAuthenticate } from './service/http/auth.ts';
import { makeLimiters } from './service/http/limiters.ts';
import { closeServer, makeServer } from './service/http/server.ts';
import type { ServerOptions } from './service/http/server-options.ts';
import { connectSharedCounts } from './service/http/shared-counts.ts';
import { type Database, makeCore, newId } from './service/installation/runtime.ts';
import { bootstrap, prepareFirstPerson } from './service/people/first-start.ts';
import type { Listening } from './service/processes/messages.ts';
import type { Siblings } from './service/processes/siblings.ts';
import { makeWorkTime } from './service/scheduling/work-time.ts';
import { makeKeyUses } from './service/workers/note-key-uses.ts';
import { makeKeyRewrapping } from './service/workers/rewrap-keys.ts';
import { startWorkers } from './service/workers/start-workers.ts';
import { startWatching } from './service/workers/watch.ts';
import { VERSION } from './version.ts';

/** The built console; the same place from the sources and from what is built of them. */
const CONSOLE_DIRECTORY = fileURLToPath(new URL('../../console/dist/', import.meta.url));

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
  const endpoint = config.otel_exporter_otlp_endpoint;
  // Loaded where traces are wanted; nothing of it is there otherwise.
  const tracing =
    endpoint === null
      ? null
      : (await import('./service/observability/open-telemetry.ts')).startTracing({
          endpoint,
          version: VERSION,
          log,
        });
  const core = makeCore(database, log, tracing);
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
  const second_opinion = makeSecondOpinion(core, config);
  const shared_counts = config.redis_url === null ? null : await connectSharedCounts(config.redis_url, log);
  const makeLimiter = makeLimiters(shared_counts?.client ?? null, siblings !== null);
  const people = makePeopleServices(core, config, makeLimiter);
  const api_routes = [
    ...makeApiRoutes(core, config, second_opinion?.preAssess, people),
    ...makePersonRoutes(core, config, people),
  ];
  const mcp_route = makeMcpRoute({
    core,
    site: people.site,
    onFailure: (error) => log.error({ err: error }, 'a tool of /mcp failed'),
  });
  const { content_type } = core.metrics;
  const text = siblings?.share(core.metrics) ?? core.metrics.text;
  const metrics_route = makeMetricsRoute({ text, content_type }, core.now_ms);
  let stopping = false;
  const health = makeHealthRoutes({
    checkReady: async () => {
      core.writes.check();
      await checkReady(core.probe_db);
      await core.readClock();
      const doubt = core.clock.doubt();
      if (doubt !== null) throw clockDoubted(doubt);
      return {
        skipped_events: await countSkippedEvents(core.probe_db),
        clock_ahead_seconds: Math.floor(core.clock.aheadMs() / 1000),
      };
    },
    isStopping: () => stopping,
    metrics_route: config.metrics_port === null ? metrics_route : null,
    now_ms: core.now_ms,
    checkpoint_keys: core.secrets.verifyingKeys,
    api_routes: [...api_routes, mcp_route],
    version: VERSION,
  });
  const console_files = readConsoleFiles(CONSOLE_DIRECTORY);
  if (console_files.size === 0) log.warn('the console is not built, so it is not served: run npm run build');
  const public_time = makeWorkTime({
    reason: 'public_time',
    share: PUBLIC_SHARE,
    now_ms: core.now_ms,
    isAlone: (address) => core.presence.isAlone(address),
  });
  const open_routes = [...health, ...makeConsoleRoutes(console_files)];
  const server_options: ServerOptions = {
    routes: [...api_routes, mcp_route, ...open_routes.map((route) => takingPublicTurns(route, public_time))],
    authenticate,
    authenticateSession: people.sessions.authenticate,
    knownBrowser: (headers) => people.devices.of(headers)?.device_id ?? null,
    checkSameSite: (headers) => people.site.checkSameSite(headers, { required: true }),
    rate_limit_per_minute: config.rate_limit_per_minute,
    unknown_key_limit_per_minute: config.unknown_key_limit_per_minute,
    makeLimiter,
    // Before the lane a spend may wait for a place to ask the model, and as long again for its answer.
    deadline_ms: REQUEST_DEADLINE_MS + (second_opinion === null ? 0 : 2 * config.purpose_model_timeout_ms),
    balance: siblings?.balance ?? null,
    keep_alive_ms: config.keep_alive_seconds * 1000,
    isFull: core.lane.isFull,
    trusted_proxies: config.trusted_proxies,
    logger: log,
    newRequestId: () => newId('request'),
    now_ms: core.now_ms,
    metrics: core.metrics,
    tracing,
  };
  const server = makeServer(server_options);
  // It has limits and connections of its own, so that the metrics can be read while the public server is overloaded.
  const metrics_server =
    config.metrics_port === null
      ? null
      : makeServer({
          ...server_options,
          routes: [metrics_route],
          balance: null,
          metrics: { ...core.metrics, watchUse: () => {} },
        });
  try {
    await core.readClock();
    const prepares = siblings?.is_first ?? true;
    const first = prepares ? await bootstrap(core, database.address, config) : undefined;
    if (first !== undefined) onFirst(first);
    const setup_code = prepares ? await prepareFirstPerson(core, people, config) : null;
    await second_opinion?.probed;
    warmAssessor();
    await server.listen({ port: config.port, host: config.host, backlog: LISTEN_BACKLOG });
    await metrics_server?.listen({
      port: config.metrics_port ?? 0,
      host: config.metrics_host ?? config.host,
    });
    people.site.listensOn((server.server.address() as AddressInfo).port);
    const metrics_url = metrics_server === null ? null : urlOf(metrics_server);
    if (metrics_url !== null) log.info({ metrics_url }, 'metrics are served at a separate address');
    const { sessions } = people;
    const watching = await startWatching(core);
    const workers = startWorkers(core, config, { key_uses, rewrapping, sessions, second_opinion });
    return {
      url: urlOf(server),
      console_url: people.site.consoleUrl(setup_code === null ? '' : `setup#${setup_code}`),
      metrics_url,
      first,
      async stop() {
        stopping = true;
        siblings?.balance.stop();
        // Spends that wait for the model continue without it, so that they do not delay the drain.
        await second_opinion?.stop();
        // These run in parallel: each may take seconds, and the process has ten.
        const servers = metrics_server === null ? [server] : [server, metrics_server];
        await Promise.all([...servers.map(closeServer), workers.stop(), watching.stop()]);
        shared_counts?.close();
        await key_uses.flush();
        await Promise.all([people.sessions.flush().catch(() => {}), people.flows.recorded()]);
        await second_opinion?.flushUsage();
        await core.close();
        await tracing?.stop();
      },
    };
  } catch (error) {
    await second_opinion?.stop();
    await Promise.all([server.close(), metrics_server?.close()]);
    shared_counts?.close();
    await core.close();
    await tracing?.stop();
    throw error;
  }
}
