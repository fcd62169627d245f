import { randomBytes, randomFillSync, randomInt } from 'node:crypto';
import { uptime } from 'node:os';
import { OPERATOR, SYSTEM } from '@purser/rules/domain/audit';
import type { VerifyingKey } from '@purser/rules/domain/checkpoints';
import type { Plan } from '@purser/rules/domain/workspace';
import { makeIdsAt } from '@purser/rules/values/ids';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Engine } from '../../engine/citus/engine.ts';
import { type ClockWatch, makeClockWatch } from '../../engine/clock-watch.ts';
import { createWorkspace } from '../../engine/commands/create-workspace.ts';
import { makeNodeWatch, type NodeWatch } from '../../engine/distribution/node-watch.ts';
import { type Lane, makeLane } from '../../engine/lane/lane.ts';
import { makeWriteHealth, type WriteHealth } from '../../engine/lane/write-health.ts';
import {
  closeConnections,
  type DatabaseAddress,
  endPool,
  makePool,
  SERVICE_ROLE,
  sqlState,
  WrongSession,
} from '../../engine/storage/database.ts';
import { probeWrite } from '../../engine/storage/transactions.ts';
import { readClockEvidence } from '../../engine/storage/workspaces.ts';
import type { Tracing } from '../../engine/tracing.ts';
import { type CheckpointSigner, makeCheckpointSigner } from '../../engine/verification/sign-checkpoints.ts';
import { type Metrics, makeMetrics } from '../observability/metrics.ts';
import { Turns } from '../scheduling/turns.ts';
import { deriveSecrets, keyHint, makeApiKey, type Secrets } from './secrets.ts';

/**
 * The connections to the database for each kind of work: the lane's transactions, reads, lists whose filters may take
 * long, the look-up of keys, reports, and webhooks. So no kind of work can delay another.
 */
const LANE_CONNECTIONS = 8;
const READ_CONNECTIONS = 8;
const LIST_CONNECTIONS = 4;
const KEY_CONNECTIONS = 2;
const REPORT_CONNECTIONS = 3;
/** One connection for each follower of the chains, so that slow reports do not delay them. */
const FOLLOWER_CONNECTIONS = 2;
/** Readiness has a connection of its own, so that it is answered however busy the others are. */
const PROBE_CONNECTIONS = 1;
const WEBHOOK_CONNECTIONS = 4;
/**
 * Connections for verifications, of which two run at a time and only the first uses a second connection, and for
 * exports, which use one for each page that they read.
 */
const LEDGER_CONNECTIONS = 4;
/** The most connections that one process opens. */
export const MAX_CONNECTIONS =
  LANE_CONNECTIONS +
  READ_CONNECTIONS +
  LIST_CONNECTIONS +
  KEY_CONNECTIONS +
  REPORT_CONNECTIONS +
  FOLLOWER_CONNECTIONS +
  PROBE_CONNECTIONS +
  WEBHOOK_CONNECTIONS +
  LEDGER_CONNECTIONS;
const LEDGER_STATEMENT_MS = 60_000;
const LEDGER_IDLE_MS = 60_000;

/** The address of the database, and what protects it. */
export interface Database {
  address: DatabaseAddress;
  secret_key: Buffer;
  /** Old secret keys. What was made with them is still accepted. */
  old_secret_keys?: readonly Buffer[];
  /** Public keys of earlier checkpoints, whose secret keys are gone. */
  retired_keys?: readonly VerifyingKey[];
  /** True if the service works as the role that cannot change the history. */
  guarded: boolean;
  /** The directory of this node's copies of checkpoints, outside the database. */
  checkpoint_dir: string;
  /** The watch over its clock; the default is right but for tests. */
  clock?: ClockWatch;
  /** The sample workspace by whose clock everything happens, and the only one that may be written. */
  sample?: string;
}

/** The parts that the whole process shares. */
export interface Core {
  lane: Lane;
  /** Knows if this process can write to the database. */
  writes: WriteHealth;
  db: pg.Pool;
  /** For lists whose filters may be slow. */
  lists_db: pg.Pool;
  keys_db: pg.Pool;
  reports_db: pg.Pool;
  /** For the followers of the chains. */
  followers_db: pg.Pool;
  /** For the readiness probe. */
  probe_db: pg.Pool;
  webhooks_db: pg.Pool;
  /** For verification and export, which take long and must not delay anything else. */
  ledger_db: pg.Pool;
  checkpoint_dir: string;
  signer: CheckpointSigner;
  secrets: Secrets;
  metrics: Metrics;
  log: Logger;
  /** The engine behind the connections. */
  engine: Engine;
  /** Knows the nodes of the database. */
  nodes: NodeWatch;
  /** The turns of all work at the event loop. */
  turns: Turns;
  /** Clock that never runs backwards, ms. */
  now_ms: () => number;
  /** The watch over the database's clock. */
  clock: ClockWatch;
  /** Reads the database's clock once for the watch, with all the evidence there is. */
  readClock(): Promise<void>;
  /** Calls `listener` whenever this process has put webhooks into the outbox. */
  onPublished(listener: () => void): void;
  /** Closes the connections after all accepted commands were answered. */
  close(): Promise<void>;
}

const TOKEN_BYTES = 32;
const RANDOM_BYTES = 6;
const DRAWN_AT_ONCE = 512;

/**
 * Makes a generator of cryptographically secure numbers from 0 up to 1, of 48 bits each. They are drawn by the hundred
 * because an id needs sixteen of them (measured: 1.0 instead of 1.6 µs with `randomInt` for a request's id).
 */
function makeRandom(): () => number {
  const drawn = Buffer.alloc(RANDOM_BYTES * DRAWN_AT_ONCE);
  let at = drawn.length;
  return () => {
    if (at === drawn.length) {
      randomFillSync(drawn);
      at = 0;
    }
    const high = drawn.readUInt32BE(at);
    const low = drawn.readUInt16BE(at + 4);
    at += RANDOM_BYTES;
    return (high * 0x10000 + low) / 2 ** 48;
  };
}

const now_ms = () => performance.now();

/** Numbers from 0 up to 1 of cryptographic quality. */
export const random = makeRandom();
/** Returns a new API key. */
export const newKey = () => makeApiKey((limit) => randomInt(limit));
/** Returns a token that cannot be guessed. */
export const newToken = () => randomBytes(TOKEN_BYTES).toString('base64url');
/** Returns a new id for use outside of the lane. */
export const newId = (kind: 'workspace' | 'request' | 'session' | 'sign_in' | 'email') =>
  makeIdsAt(Date.now(), random)(kind);

/** Makes the connections to the database, by the kind of work that has them. */
function makePools(
  { address, guarded, sample }: Database,
  { log, tracing, engine }: { log: Logger; tracing: Tracing | null; engine: Engine },
) {
  const onBroken = (error: Error) => {
    if (error instanceof WrongSession)
      log.error({ err: error }, 'a connection lost the role or settings of the service and was closed');
    else log.warn({ err: error }, 'a database connection broke');
  };
  const make = (max: number, options: Partial<Parameters<typeof makePool>[1]> = {}) =>
    makePool(address, {
      max,
      onBroken,
      sample,
      engine,
      ...options,
      ...(guarded ? { role: SERVICE_ROLE } : {}),
    });
  const plan = 'index_lookup';
  return {
    lane: make(LANE_CONNECTIONS, { pipeline: true, plan, tracing }),
    reads: make(READ_CONNECTIONS),
    lists: make(LIST_CONNECTIONS, { plan: 'index_scan' }),
    keys: make(KEY_CONNECTIONS, { plan }),
    reports: make(REPORT_CONNECTIONS, { plan }),
    followers: make(FOLLOWER_CONNECTIONS, { plan }),
    probes: make(PROBE_CONNECTIONS),
    webhooks: make(WEBHOOK_CONNECTIONS, { plan }),
    ledger: make(LEDGER_CONNECTIONS, {
      pipeline: true,
      plan,
      statement_timeout_ms: LEDGER_STATEMENT_MS,
      idle_timeout_ms: LEDGER_IDLE_MS,
      lenient_types: true,
    }),
  };
}

function makeClock(log: Logger): ClockWatch {
  return makeClockWatch({
    log,
    elapsed_ms: now_ms,
    // The system's uptime counts the time of a suspend, the process's clock does not.
    suspended_ms: () => uptime() * 1000 - performance.now(),
    wall_ms: Date.now,
  });
}

/** Makes the lane and its health. `onPublished` is called when it has put webhooks into the outbox. */
function makeWrites(
  { lane: pool, reads }: ReturnType<typeof makePools>,
  {
    metrics,
    ...options
  }: Pick<Core, 'log' | 'clock' | 'metrics'> & { tracing: Tracing | null; engine: Engine },
  onPublished: () => void,
): Pick<Core, 'lane' | 'writes'> {
  const writes = makeWriteHealth({ now_ms, write: () => probeWrite(reads) });
  const lane = makeLane({
    ...options,
    pool,
    random,
    now_ms,
    observeBatch: metrics.observeBatch,
    onWritten: writes.noteCommit,
    onFailed(error) {
      metrics.countLaneFailure(sqlState(error));
      writes.noteFailure(error);
    },
    onPublished,
  });
  return { lane, writes };
}

/** Shows the state of the parts in the metrics. */
function watchParts(
  { metrics, clock, lane, writes, signer }: Pick<Core, 'metrics' | 'clock' | 'lane' | 'writes' | 'signer'>,
  pools: Readonly<Record<string, pg.Pool>>,
): void {
  metrics.watch('purser_clock_in_doubt', () => (clock.doubt() === null ? 0 : 1));
  metrics.watch('purser_clock_ahead_seconds', () => clock.aheadMs() / 1000);
  metrics.watch('purser_lane_waiting_commands', lane.waiting);
  metrics.watch('purser_lane_last_commit_seconds', writes.idleSeconds);
  metrics.watch('purser_checkpoints_failing', signer.failing);
  for (const [name, pool] of Object.entries(pools)) {
    const inUse = () => pool.totalCount - pool.idleCount;
    metrics.watchUse(`connections:${name}`, pool.options.max, inUse);
  }
}

/** Makes connections, lane and secrets, which the service and the operator's commands both use. */
export function makeCore(database: Database, log: Logger, tracing: Tracing | null = null): Core {
  const { checkpoint_dir, old_secret_keys: old = [], retired_keys: retired = [] } = database;
  const metrics = makeMetrics();
  const engine: Engine = { kind: 'postgres' };
  const pools = makePools(database, { log, tracing, engine });
  const secrets = deriveSecrets(database.secret_key, { old, retired });
  const signer = makeCheckpointSigner({
    db: pools.reads,
    key: secrets.checkpointKey,
    keys: secrets.verifyingKeys,
    dir: checkpoint_dir,
    log,
  });
  const clock = database.clock ?? makeClock(log);
  let published = () => {};
  const { lane, writes } = makeWrites(pools, { log, clock, metrics, tracing, engine }, () => published());
  const nodes = makeNodeWatch({
    db: pools.probes,
    engine,
    log,
    onEngine: () => {
      for (const pool of Object.values(pools))
        closeConnections(pool, new Error('the connection was closed: the tables were distributed'));
    },
  });
  metrics.watchNodes(nodes.nodes);
  watchParts({ metrics, clock, lane, writes, signer }, pools);
  return {
    lane,
    writes,
    db: pools.reads,
    lists_db: pools.lists,
    keys_db: pools.keys,
    reports_db: pools.reports,
    followers_db: pools.followers,
    probe_db: pools.probes,
    webhooks_db: pools.webhooks,
    ledger_db: pools.ledger,
    checkpoint_dir,
    signer,
    secrets,
    metrics,
    log,
    engine,
    nodes,
    turns: new Turns({ now_ms }),
    now_ms,
    clock,
    async readClock() {
      const asked_ms = clock.elapsed_ms();
      const evidence = await readClockEvidence(pools.probes);
      clock.observe({ ...evidence, asked_ms, answered_ms: clock.elapsed_ms() });
    },
    onPublished(listener) {
      published = listener;
    },
    async close() {
      await lane.drain();
      await Promise.all(Object.values(pools).map(endPool));
    },
  };
}

/** Makes a workspace with its first admin key, whose value is returned only here. */
export async function addWorkspace(
  core: Pick<Core, 'lane' | 'secrets'>,
  input: {
    name: string;
    plan: Plan;
    trial_days: number | null;
    admin_key?: string;
    by: 'operator' | 'system';
    /** The id of a sample workspace. */
    sample?: string;
  },
): Promise<{ workspace_id: string; admin_key: string }> {
  const admin_key = input.admin_key ?? newKey();
  const workspace_id = input.sample ?? newId('workspace');
  const actor = input.by === 'operator' ? OPERATOR : SYSTEM;
  await core.lane.submit(
    workspace_id,
    createWorkspace,
    {
      workspace_id,
      name: input.name,
      plan: input.plan,
      trial_days: input.trial_days,
      sample: input.sample !== undefined,
      admin_key: { ...core.secrets.keyDigests(admin_key)[0], hint: keyHint(admin_key) },
    },
    { actor, request_id: null, client_address: null },
  );
  return { workspace_id, admin_key };
}
