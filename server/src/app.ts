import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { makeHealthRoutes, makeMetricsRoute } from './api/health.ts';
import { makeMcpRoute } from './api/mcp.ts';
import { makeApiRoutes, makePeopleServices, makePersonRoutes } from './api/routes.ts';
import { makeSecondOpinion, type SecondOpinion } from './api/second-opinion.ts';
import { PUBLIC_SHARE, takingPublicTurns } from './api/shared-resources.ts';
import { type Config, ConfigError } from './config/config.ts';
import { makeConsoleRoutes, readConsoleFiles } from './console/console-files.ts';
import { SYSTEM } from './domain/audit.ts';
import { ApiError } from './errors.ts';
import { aggregateFeedback, MAX_PAGES_A_ROUND as LEARN_PAGES } from './feedback/aggregate-feedback.ts';
import { makeFollowerRound } from './followers/follow-chains.ts';
import { countSkippedEvents } from './followers/follower-rows.ts';
import { makeAuthenticate } from './http/auth.ts';
import { makeLimiters } from './http/limiters.ts';
import { closeServer, makeServer } from './http/server.ts';
import type { ServerOptions } from './http/server-options.ts';
import { connectSharedCounts } from './http/shared-counts.ts';
import { clockDoubted } from './lane/batch.ts';
import { checkReady } from './migration/migrate.ts';
import type { PeopleServices } from './people/make-people.ts';
import { passwordProblem } from './people/passwords.ts';
import { pruneOldSignIns } from './people/session-rows.ts';
import type { Sessions } from './people/sessions.ts';
import { formatSetupCode, keepSetupCode, SETUP_CODE_BYTES } from './people/setup-code.ts';
import { hasPeople } from './people/user-rows.ts';
import type { Listening } from './processes/messages.ts';
import type { Siblings } from './processes/siblings.ts';
import { warmAssessor } from './purpose/warm-up.ts';
import { MAX_PAGES_A_ROUND as ROLL_UP_PAGES, rollUpDecisions } from './reports/roll-up-decisions.ts';
import { addWorkspace, type Core, type Database, makeCore, newId, random } from './runtime.ts';
import { type DatabaseAddress, exclusively } from './storage/database.ts';
import { listWorkspaces, readClock } from './storage/workspaces.ts';
import { VERSION } from './version.ts';
import { makeResolve, makeSystemResolve } from './webhook-delivery/addresses.ts';
import { connectEndpoint } from './webhook-delivery/client.ts';
import { makeDatabaseClock } from './webhook-delivery/clock.ts';
import { startWebhookDelivery, type WebhookDeliverer } from './webhook-delivery/deliver.ts';
import { MAX_WINDOW } from './webhook-delivery/leased-queues.ts';
import { pruneOldWebhooks } from './webhook-delivery/prune.ts';
import { makeWorkTime } from './work-time.ts';
import { makeReservationSweep } from './workers/expire-reservations.ts';
import { makeKnownMerchantsFill } from './workers/fill-known-merchants.ts';
import { startLoop } from './workers/loop.ts';
import { type KeyUses, makeKeyUses } from './workers/note-key-uses.ts';
import { type KeyRewrapping, makeKeyRewrapping } from './workers/rewrap-keys.ts';
import { sweepOldCounters } from './workers/sweep-counters.ts';
import { startWatching } from './workers/watch.ts';

/** The built console; the same place from the sources and from what is built of them. */
const CONSOLE_DIRECTORY = fileURLToPath(new URL('../../console/dist/', import.meta.url));

/** A request is answered within this time, whatever the database does. */
const REQUEST_DEADLINE_MS = 5_000;

/** The most connections that wait to be accepted. The clients' systems retry any more of them only after seconds. */
const LISTEN_BACKLOG = 4_096;

const SWEEP_PAUSE_MS = 1_000;
const KEY_USES_PAUSE_MS = 5_000;
/** Feedback reaches the assessor within a few of these pauses. */
const LEARN_PAUSE_MS = 1_000;
const ROLL_UP_PAUSE_MS = 2_000;
const FILL_PAUSE_MS = 2_000;
const PRUNE_PAUSE_MS = 60_000;
/** What the model cost is in reports, and counts at the other nodes, after this time. */
const MODEL_USAGE_PAUSE_MS = 2_000;
const SIGN_PAUSE_MS = 1_000;
/** The database's clock is read this often for the watch over it, also while nobody writes. */
const CLOCK_PAUSE_MS = 5_000;

/** The advisory lock under which one of several starting nodes makes the first workspace. */
const BOOTSTRAP_LOCK = 7_291_664_302;

/**
 * Makes the first workspace if there is none; otherwise returns undefined. If several nodes start at once, one of them
 * makes it, and it exists when this resolves.
 */
async function bootstrap(
  core: Core,
  address: DatabaseAddress,
  config: Config,
): Promise<{ admin_key: string } | undefined> {
  const isThere = async () => (await listWorkspaces(core.db)).length > 0;
  if (await isThere()) return undefined;
  return exclusively(address, BOOTSTRAP_LOCK, async () => {
    if (await isThere()) return undefined;
    const given = config.bootstrap_admin_key;
    return addWorkspace(core, {
      name: 'First workspace',
      plan: config.bootstrap_plan,
      trial_days: null,
      by: 'system',
      ...(given === null ? {} : { admin_key: given }),
    });
  });
}

/**
 * While there is nobody: makes the first person of the settings and returns null, or returns the code that makes one.
 * Throws `ConfigError` if the settings' password cannot be read or may not be chosen.
 */
async function prepareFirstPerson(
  core: Core,
  { flows }: PeopleServices,
  config: Config,
): Promise<string | null> {
  const { bootstrap_admin_email: email, bootstrap_admin_password_file: file } = config;
  if (await hasPeople(core.db)) return null;
  if (email === null || file === null) {
    const code = formatSetupCode(randomBytes(SETUP_CODE_BYTES));
    await keepSetupCode(core.db, code, core.secrets.macs('setup-code')[0]);
    return code;
  }
  const name = email.split('@')[0] as string;
  const password = await readFile(file, 'utf8').then(
    (text) => text.replace(/\r?\n$/, ''),
    (error: NodeJS.ErrnoException) => {
      throw new ConfigError(`BOOTSTRAP_ADMIN_PASSWORD_FILE ${file} cannot be read (${error.code}).`);
    },
  );
  const problem = passwordProblem(password, { email, name });
  if (problem !== null) {
    throw new ConfigError(`BOOTSTRAP_ADMIN_PASSWORD_FILE ${file} holds a password that ${problem}.`);
  }
  const origin = { actor: SYSTEM, request_id: null, client_address: null };
  await flows.makeFirst({ email, name, password }, origin, 'bootstrap').catch((error: unknown) => {
    // Another node was faster.
    if (!(error instanceof ApiError && error.code === 'already_set_up')) throw error;
  });
  return null;
}

type WorkerConfig = Pick<
  Config,
  'webhook_allow_private_network' | 'webhook_retry_first_ms' | 'webhook_retry_max_ms' | 'webhook_timeout_ms'
>;

/** Starts the delivery of webhooks with the settings. */
function startWebhooks(core: Core, config: WorkerConfig): WebhookDeliverer {
  const { webhooks_db, lane, log, secrets, metrics } = core;
  const allow_private = config.webhook_allow_private_network;
  const timeout_ms = config.webhook_timeout_ms;
  const client = {
    resolve: allow_private ? makeSystemResolve() : makeResolve(),
    allow_private,
    timeout_ms,
    connections: MAX_WINDOW,
  };
  const delivery = startWebhookDelivery({
    db: webhooks_db,
    lane,
    log,
    clock: makeDatabaseClock({
      readClock: () => readClock(webhooks_db),
      watch: core.clock,
    }),
    onClockStep: core.clock.onStep,
    random,
    worker: randomUUID(),
    openSecret: secrets.openWebhookSecret,
    connect: (url) => connectEndpoint(url, client),
    schedule: { first_ms: config.webhook_retry_first_ms, max_ms: config.webhook_retry_max_ms },
    timeout_ms,
    countAttempt: metrics.countWebhookAttempt,
  });
  core.onPublished(delivery.wake);
  return delivery;
}

/** Starts the workers. They run inside `serve`, or as a process of their own with `work`. */
export function startWorkers(
  core: Core,
  config: WorkerConfig,
  of_requests: {
    key_uses: KeyUses;
    rewrapping: KeyRewrapping;
    sessions: Sessions;
    second_opinion: SecondOpinion | null;
  } | null,
): { stop(): Promise<void> } {
  const { db, lane, log, followers_db: pool, webhooks_db, clock } = core;
  const loop = (name: string, pause_ms: number, work: () => Promise<void>, may = () => true) => {
    const round = async () => void (may() && (await work()));
    return startLoop({ name, pause_ms, round, log, now_ms: core.now_ms });
  };
  const believed = () => clock.doubt() === null;
  const delivery = startWebhooks(core, config);
  const loops = [
    loop('watch-clock', CLOCK_PAUSE_MS, core.readClock),
    loop('sweep-reservations', SWEEP_PAUSE_MS, makeReservationSweep({ db, lane, log }), believed),
    loop(
      'roll-up-decisions',
      ROLL_UP_PAUSE_MS,
      makeFollowerRound({ pool, follower: rollUpDecisions, max_pages: ROLL_UP_PAGES, log }),
    ),
    loop(
      'aggregate-feedback',
      LEARN_PAUSE_MS,
      makeFollowerRound({ pool, follower: aggregateFeedback, max_pages: LEARN_PAGES, log }),
    ),
    loop('fill-known-merchants', FILL_PAUSE_MS, makeKnownMerchantsFill({ pool, log })),
    loop('prune-webhooks', PRUNE_PAUSE_MS, () => pruneOldWebhooks(webhooks_db), clock.isSettled),
    loop('prune-sign-ins', PRUNE_PAUSE_MS, () => pruneOldSignIns(db), clock.isSettled),
    loop('sweep-counters', PRUNE_PAUSE_MS, () => sweepOldCounters(db), clock.isSettled),
    loop('sign-checkpoints', SIGN_PAUSE_MS, core.signer.round, believed),
  ];
  if (of_requests !== null) {
    const { key_uses, rewrapping, sessions, second_opinion } = of_requests;
    loops.push(
      loop('note-key-uses', KEY_USES_PAUSE_MS, key_uses.flush, believed),
      loop('rewrap-keys', KEY_USES_PAUSE_MS, rewrapping.flush, believed),
      loop('note-session-uses', KEY_USES_PAUSE_MS, sessions.flush),
    );
    if (second_opinion !== null) {
      const { flushUsage: round } = second_opinion;
      loops.push(loop('note-model-usage', MODEL_USAGE_PAUSE_MS, round));
    }
  }
  for (const { name, idleSeconds } of loops) core.metrics.watchWorker(name, idleSeconds);
  return {
    async stop() {
      await Promise.all([delivery.stop(), ...loops.map((each) => each.stop())]);
    },
  };
}

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
      : (await import('./open-telemetry.ts')).startTracing({ endpoint, version: VERSION, log });
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
  if (console_files.size === 0) log.warn('the console is not built and not served: run npm run build');
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
    if (metrics_url !== null) log.info({ metrics_url }, 'metrics are told at an address of their own');
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
