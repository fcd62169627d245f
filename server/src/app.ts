import { randomBytes, randomInt } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import type { Logger } from 'pino';
import { makeCreateDecision } from './commands/create-decision.ts';
import { makeCreateReview } from './commands/create-review.ts';
import { createWorkspace } from './commands/create-workspace.ts';
import type { Config } from './config.ts';
import { OPERATOR, SYSTEM } from './domain/audit.ts';
import { makeIdsAt } from './domain/ids.ts';
import type { Plan } from './domain/workspace.ts';
import { makeAgentRoutes } from './http/agents.ts';
import { makeApiKeyRoutes } from './http/api-keys.ts';
import { type AssessAhead, makeAssessAhead } from './http/assess-ahead.ts';
import { makeAuthenticate } from './http/auth.ts';
import { makeCapabilityRoutes } from './http/capabilities.ts';
import { makeCursors } from './http/cursors.ts';
import { makeDecisionRoutes } from './http/decisions.ts';
import { makeHealthRoutes } from './http/health.ts';
import { makeLedgerRoutes } from './http/ledger.ts';
import { type Metrics, makeMetrics } from './http/metrics.ts';
import { makeOutcomeRoutes } from './http/outcomes.ts';
import { makeReviewRoutes } from './http/reviews.ts';
import type { Route } from './http/route.ts';
import { makeServer } from './http/server.ts';
import { connectSharedCounts } from './http/shared-counts.ts';
import { makeWorkspaceRoutes } from './http/workspace.ts';
import { type Lane, makeLane } from './lane/lane.ts';
import { makeAskModel } from './model/ask-model.ts';
import { type ChatClient, makeChatClient } from './model/chat-client.ts';
import { assessBuiltIn } from './purpose/built-in-assessor.ts';
import { withoutOpinion } from './purpose/second-opinion.ts';
import { deriveSecrets, keyHint, makeApiKey, type Secrets } from './secrets.ts';
import { type DatabaseAddress, endPool, exclusively, makePool, SERVICE_ROLE } from './storage/database.ts';
import { checkReady } from './storage/migrate.ts';
import { listWorkspaces } from './storage/workspaces.ts';
import { startLoop } from './workers/loop.ts';
import { type KeyUses, makeKeyUses } from './workers/note-key-uses.ts';
import { sweepReservations } from './workers/sweep-reservations.ts';

export const VERSION = '0.1.0';

/** Connections to the database: the lane's transactions, reads, and the look-up of keys, which none may hold up. */
const LANE_CONNECTIONS = 8;
const READ_CONNECTIONS = 8;
const KEY_CONNECTIONS = 2;

/** A request is answered within this time, whatever its database does. */
const REQUEST_DEADLINE_MS = 5_000;

/** Enough for full batches while others commit; what comes beyond would only wait longer. */
const WRITES_UNDER_WAY = 1_000;

/** Connections that may wait to be accepted: those beyond are tried again by the clients' systems, after seconds. */
const LISTEN_BACKLOG = 4_096;

const SWEEP_PAUSE_MS = 1_000;
const KEY_USES_PAUSE_MS = 5_000;

/** Any number that means "Purser's first workspace" to the nodes that start at once. */
const BOOTSTRAP_LOCK = 7_291_664_302;

/** Where the database is, and what guards it. */
export interface Database {
  address: DatabaseAddress;
  secret_key: Buffer;
  /** Whether the service's own role guards history. */
  guarded: boolean;
}

/** What every part of the process shares. */
export interface Core {
  lane: Lane;
  db: pg.Pool;
  keys_db: pg.Pool;
  secrets: Secrets;
  metrics: Metrics;
  log: Logger;
  /** Clock that never runs backwards, ms. */
  now_ms: () => number;
  /** Ends the connections, after what was accepted has been answered. */
  close(): Promise<void>;
}

/** Numbers from 0 up to 1 of cryptographic quality. */
const random = () => randomInt(2 ** 47) / 2 ** 47;
const newKey = () => makeApiKey((limit) => randomInt(limit));
const newId = (kind: 'workspace' | 'request') => makeIdsAt(Date.now(), random)(kind);

/** Connections, lane and secrets: what the service and the operator's command line both work with. */
export function makeCore(database: Database, log: Logger): Core {
  const now_ms = () => performance.now();
  const metrics = makeMetrics();
  const onBroken = (error: Error) => log.warn({ err: error }, 'a database connection broke');
  const role = database.guarded ? { role: SERVICE_ROLE } : {};
  const { address } = database;
  const lane_pool = makePool(address, {
    max: LANE_CONNECTIONS,
    pipeline: true,
    by_key: true,
    onBroken,
    ...role,
  });
  const db = makePool(address, { max: READ_CONNECTIONS, onBroken, ...role });
  const keys_db = makePool(address, { max: KEY_CONNECTIONS, by_key: true, onBroken, ...role });
  const lane = makeLane({ pool: lane_pool, log, random, now_ms, observeBatch: metrics.observeBatch });
  metrics.watchQueue(lane.waiting);
  return {
    lane,
    db,
    keys_db,
    secrets: deriveSecrets(database.secret_key),
    metrics,
    log,
    now_ms,
    async close() {
      await lane.drain();
      await Promise.all([lane_pool, db, keys_db].map(endPool));
    },
  };
}

/** Makes a workspace with its first admin key, whose value is given back once. */
export async function addWorkspace(
  core: Pick<Core, 'lane' | 'secrets'>,
  input: {
    name: string;
    plan: Plan;
    trial_days: number | null;
    admin_key?: string;
    by: 'operator' | 'system';
  },
): Promise<{ workspace_id: string; admin_key: string }> {
  const admin_key = input.admin_key ?? newKey();
  const workspace_id = newId('workspace');
  const actor = input.by === 'operator' ? OPERATOR : SYSTEM;
  await core.lane.submit(
    workspace_id,
    createWorkspace,
    {
      workspace_id,
      name: input.name,
      plan: input.plan,
      trial_days: input.trial_days,
      admin_key: { digest: core.secrets.keyDigest(admin_key), hint: keyHint(admin_key) },
    },
    { actor, request_id: null, client_address: null },
  );
  return { workspace_id, admin_key };
}

/**
 * The first workspace, made when there is none; undefined when there is one. However many nodes start at once,
 * one of them makes it.
 */
async function bootstrap(
  core: Core,
  address: DatabaseAddress,
  config: Config,
): Promise<{ admin_key: string } | undefined> {
  return exclusively(address, BOOTSTRAP_LOCK, async () => {
    if ((await listWorkspaces(core.db)).length > 0) return undefined;
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

/** The model that gives second opinions on purpose; null when none is configured. */
function makeSecondOpinion(
  core: Core,
  config: Config,
): { assessAhead: AssessAhead; stop: ChatClient['stop'] } | null {
  const { purpose_model_url: url, purpose_model: model, purpose_model_api_key: api_key } = config;
  if (url === null || model === null) return null;
  const { log, metrics, now_ms } = core;
  const max_concurrent = config.purpose_model_max_concurrent;
  const client = makeChatClient({
    url,
    api_key,
    timeout_ms: config.purpose_model_timeout_ms,
    connections: max_concurrent,
  });
  const askModel = makeAskModel({
    client,
    model,
    parameters: config.purpose_model_parameters,
    api_key,
    max_concurrent,
    newNonce: () => randomBytes(16).toString('hex'),
    now_ms,
    log,
    metrics,
  });
  const may_clear = config.purpose_model_may_clear;
  const assessAhead = makeAssessAhead({
    db: core.db,
    assess: assessBuiltIn,
    askModel,
    model,
    may_clear,
    metrics,
  });
  return { assessAhead, stop: client.stop };
}

/** Every route that takes a key. `assessAhead`: with a model's second opinion. */
export function makeApiRoutes(
  core: Core,
  config: Pick<Config, 'review_ttl_seconds' | 'capability_ttl_seconds'>,
  assessAhead: AssessAhead | null = null,
): Route[] {
  const { db, lane, metrics, now_ms, secrets } = core;
  const cursors = makeCursors(secrets.cursorMac);
  const createDecision = makeCreateDecision({
    // The lane waits for no model: where it has to assess itself, the decision says that the opinion is missing.
    assess:
      assessAhead === null
        ? assessBuiltIn
        : (authority, request) => withoutOpinion(assessBuiltIn(authority, request), 'authority_changed'),
    review_ttl_seconds: config.review_ttl_seconds,
    capability_ttl_seconds: config.capability_ttl_seconds,
  });
  const createReview = makeCreateReview({ capability_ttl_seconds: config.capability_ttl_seconds });
  const tokens = secrets.capabilityTokens;
  return [
    ...makeDecisionRoutes({
      db,
      lane,
      cursors,
      createDecision,
      assess: assessBuiltIn,
      assessAhead,
      metrics,
      tokens,
    }),
    ...makeReviewRoutes({ lane, createReview }),
    ...makeOutcomeRoutes({ db, lane }),
    ...makeCapabilityRoutes({ lane, tokens }),
    ...makeAgentRoutes({ db, lane, cursors }),
    ...makeApiKeyRoutes({ db, lane, cursors, newKey, keyDigest: secrets.keyDigest }),
    ...makeWorkspaceRoutes({ db, cursors }),
    ...makeLedgerRoutes({ db, cursors, now_ms }),
  ];
}

/** The workers: they run inside `serve`, and apart as `work`. */
export function startWorkers(core: Core, key_uses: KeyUses | null): { stop(): Promise<void> } {
  const { db, lane, log } = core;
  const loops = [
    startLoop({
      name: 'sweep-reservations',
      pause_ms: SWEEP_PAUSE_MS,
      log,
      round: () => sweepReservations({ db, lane, log }),
    }),
  ];
  if (key_uses !== null) {
    loops.push(startLoop({ name: 'note-key-uses', pause_ms: KEY_USES_PAUSE_MS, log, round: key_uses.flush }));
  }
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

export interface Service {
  /** `http://127.0.0.1:8080` */
  url: string;
  /** The first workspace's key, when this start made it. */
  first: { admin_key: string } | undefined;
  /** Stops accepting, finishes what is in flight, and closes everything this service opened. */
  stop(): Promise<void>;
}

/** Listens and serves on a migrated database. */
export async function startService(config: Config, database: Database, log: Logger): Promise<Service> {
  const core = makeCore(database, log);
  const key_uses = makeKeyUses({ lane: core.lane, log });
  const authenticate = makeAuthenticate({
    db: core.keys_db,
    keyDigest: core.secrets.keyDigest,
    onUse: (key) => key_uses.note(key, key.clock_ms),
    onFailure: (error) => log.error({ err: error }, 'keys could not be looked up'),
  });
  const second_opinion = makeSecondOpinion(core, config);
  const api_routes = makeApiRoutes(core, config, second_opinion?.assessAhead);
  const health = makeHealthRoutes({
    checkReady: () => checkReady(core.db),
    metrics: core.metrics,
    api_routes,
    version: VERSION,
  });
  const shared_counts = config.redis_url === null ? null : connectSharedCounts(config.redis_url, log);
  const server = makeServer({
    routes: [...api_routes, ...health],
    authenticate,
    rate_limit_per_minute: config.rate_limit_per_minute,
    unknown_key_limit_per_minute: config.unknown_key_limit_per_minute,
    redis: shared_counts?.client ?? null,
    // A model may take its time before the lane.
    deadline_ms: REQUEST_DEADLINE_MS + (second_opinion === null ? 0 : config.purpose_model_timeout_ms),
    most_writes: WRITES_UNDER_WAY,
    isFull: core.lane.isFull,
    trusted_proxies: config.trusted_proxies,
    logger: log,
    newRequestId: () => newId('request'),
    now_ms: core.now_ms,
    metrics: core.metrics,
  });
  try {
    // Listening comes first: a port in use must not cost the only sight of the first key.
    await server.listen({ port: config.port, host: config.host, backlog: LISTEN_BACKLOG });
    const first = await bootstrap(core, database.address, config);
    const workers = startWorkers(core, key_uses);
    const { address, family, port } = server.server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    return {
      url: `http://${host}:${port}`,
      first,
      async stop() {
        // Spends that wait for the model go on without it, so that the drain does not wait either.
        await second_opinion?.stop();
        await server.close();
        shared_counts?.close();
        await workers.stop();
        await key_uses.flush();
        await core.close();
      },
    };
  } catch (error) {
    await second_opinion?.stop();
    await server.close();
    shared_counts?.close();
    await core.close();
    throw error;
  }
}
