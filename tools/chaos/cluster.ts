import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Purser } from '@purser/sdk';
import { BENCH_AUTHORITY } from '../bench/spend-bodies.ts';
import { makeJsonClient } from '../demo/json-client.ts';
import {
  freePort,
  makeDataDirectory,
  type ServeProcess,
  serviceEnvironment,
  startServing,
} from '../demo/purser-process.ts';
import { type Proxy as DatabaseProxy, openProxy } from './connections.ts';
import { findViolations, queryOnce } from './invariants.ts';
import { shown } from './kills.ts';
import { type Cluster, findPrograms, startCluster } from './patroni.ts';
import { makeRecorder, type Recorder } from './recorder.ts';
import { type Finding, makeAgents, PATIENCE_MS, type ScenarioContext } from './stage.ts';

const NODES = 3;
const CLIENTS = 16;
/** Writes are back within this time, whatever has happened. */
const BACK_WITHIN_MS = 30_000;
/** Used up while things break: not one spend too many may be held. */
const LIMITED_BUDGET_MINOR = 60_000_000;
const CUT_MS = 8_000;
const REDIS_AWAY_MS = 2_000;
const BETWEEN_MS = 2_000;

/** Who asks for decisions. */
type Asking = { agent: string; agent_key: string };

interface Node {
  base_url: string;
  start(): Promise<void>;
  end(): Promise<string>;
}

/** An agent that has little to spend, beside the others, with a key of its own. */
async function makeLimitedAgent(baseURL: string, apiKey: string): Promise<Asking> {
  const purser = new Purser({ baseURL, apiKey });
  const { id, slug } = await purser.agents.create({
    slug: 'limited',
    mode: 'ENFORCE',
    authority: { ...BENCH_AUTHORITY, monthly_budget_minor: LIMITED_BUDGET_MINOR },
  });
  const { key } = await purser.apiKeys.create({ name: 'Limited', agent_id: id });
  return { agent: slug, agent_key: key };
}

/** What the limited agent holds, in minor units, by the database. */
async function heldByLimited(cluster: Cluster): Promise<number> {
  const [row] = await queryOnce<{ held: string | null }>(
    cluster.superuser,
    `select max(b.held_minor) as held from budgets b
      join agents a on a.workspace_id = b.workspace_id and a.agent_id = b.agent_id where a.slug = 'limited'`,
  );
  return Number(row?.held ?? 0);
}

/** Whether the chain has every number from its first to its last. */
async function gaps(cluster: Cluster): Promise<number> {
  const [row] = await queryOnce<{ gaps: string }>(
    cluster.superuser,
    'select max(seq) - min(seq) + 1 - count(*) as gaps from ledger_events',
  );
  return Number(row?.gaps);
}

/**
 * A cluster as it is run in production, on loopback: under load the primary is lost with all that it has not shared, a node
 * is cut off, Redis restarts, and all nodes are rolled. Nothing acknowledged is lost, no budget is overspent, the chain is
 * one, and writes are back within 30 s. Where its programs are not installed it is left out, which is said and fails nothing.
 */
export async function cluster(context: ScenarioContext): Promise<Finding> {
  const programs = await findPrograms();
  if (typeof programs === 'string') return { figures: {}, problems: [], skipped: programs };
  const dir = await makeDataDirectory(true);
  let scene: Scene | undefined;
  let running: Cluster | undefined;
  try {
    context.say('  starting etcd, three PostgreSQL under Patroni, HAProxy and Redis');
    running = await startCluster(programs, dir, context.signal);
    scene = await Scene.open(context, running, dir);
    await scene.startClients();
    await scene.losePrimary();
    await scene.cutNodeOff();
    await scene.killRedis();
    await scene.rollNodes();
    return await scene.judge();
  } finally {
    await scene?.close();
    await running?.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Nodes on a cluster, clients that ask all of them in turn, and what was found so far. */
class Scene {
  readonly #context: ScenarioContext;
  readonly #cluster: Cluster;
  readonly #proxy: DatabaseProxy;
  readonly #admin_key = `sk_${randomBytes(24).toString('hex')}`;
  readonly #nodes: Node[] = [];
  readonly #problems: string[] = [];
  readonly #figures: Record<string, number> = {};
  #recorder: Recorder | undefined;

  private constructor(context: ScenarioContext, cluster: Cluster, proxy: DatabaseProxy) {
    this.#context = context;
    this.#cluster = cluster;
    this.#proxy = proxy;
  }

  /** The last node reaches the database through a proxy, by which it is cut off. */
  static async open(context: ScenarioContext, cluster: Cluster, dir: string): Promise<Scene> {
    const proxy = await openProxy({ host: '127.0.0.1', port: cluster.port });
    const scene = new Scene(context, cluster, proxy);
    const secret_key = randomBytes(32).toString('hex');
    for (let i = 1; i <= NODES; i++) {
      const database_port = i === NODES ? proxy.port : cluster.port;
      scene.#nodes.push(await scene.#makeNode(join(dir, `node${i}`), database_port, secret_key));
    }
    return scene;
  }

  async startClients(): Promise<void> {
    for (const node of this.#nodes) await node.start();
    const { base_url } = this.#nodes[0] as Node;
    const agents: Asking[] = await makeAgents(base_url, this.#admin_key);
    agents.push(await makeLimitedAgent(base_url, this.#admin_key));
    let asked = 0;
    this.#recorder = makeRecorder({
      baseUrl: () => (this.#nodes[asked++ % NODES] as Node).base_url,
      agents,
      run_id: randomBytes(6).toString('hex'),
      clients: CLIENTS,
      patience_ms: PATIENCE_MS,
    });
    this.#recorder.start();
    await this.#context.wait(BETWEEN_MS);
  }

  async losePrimary(): Promise<void> {
    const lost = await this.#cluster.primary();
    if (lost === null) throw new Error('There is no primary.');
    await lost.lose();
    // Requests in progress when it died may still be answered: the first answer of its successor counts.
    await this.#context.wait(500);
    this.#figures.writes_back_after_lost_primary_ms = 500 + (await this.#back('the primary was killed'));
    await this.#context.wait(BETWEEN_MS);
    await lost.start();
    await this.#cluster.settled(this.#cluster.members.length);
    this.#context.say('  the lost one follows again');
  }

  async cutNodeOff(): Promise<void> {
    this.#proxy.break('swallow');
    await this.#context.wait(CUT_MS);
    this.#figures.writes_beside_a_cut_node_ms = await this.#back('a node was cut off');
    this.#proxy.break('none');
    this.#proxy.cutAll();
    await this.#context.wait(BETWEEN_MS);
  }

  async killRedis(): Promise<void> {
    await this.#cluster.redis.kill();
    await this.#context.wait(REDIS_AWAY_MS);
    this.#figures.writes_without_redis_ms = await this.#back('Redis was killed');
    await this.#cluster.redis.start();
    await this.#context.wait(BETWEEN_MS);
  }

  async rollNodes(): Promise<void> {
    for (const node of this.#nodes) {
      const how = await node.end();
      if (how !== 'exit code 0') this.#problems.push(`A node that was rolled ended with ${how}.`);
      await node.start();
    }
    this.#figures.writes_after_rolling_ms = await this.#back('all nodes were rolled');
    await this.#context.wait(BETWEEN_MS);
  }

  /** Ends the clients, and compares what they were answered with the database. */
  async judge(): Promise<Finding> {
    const recorder = this.#recorder as Recorder;
    const problems = this.#problems;
    await recorder.stop();
    const client = makeJsonClient((this.#nodes[0] as Node).base_url, this.#admin_key);
    problems.push(...(await findViolations(recorder, client, this.#cluster.superuser)));
    client.close();
    const limited_held_minor = await heldByLimited(this.#cluster);
    const over_minor = Math.max(0, limited_held_minor - LIMITED_BUDGET_MINOR);
    if (over_minor > 0) problems.push(`The limited agent overspent ${over_minor}.`);
    this.#figures.limited_budget_used_percent = (100 * limited_held_minor) / LIMITED_BUDGET_MINOR;
    const missing = await gaps(this.#cluster);
    if (missing !== 0) problems.push(`The chain lacks ${missing} of its numbers.`);
    const figures = { ...recorder.figures(), ...this.#figures, over_minor, gaps: missing };
    return { figures: shown(figures), problems };
  }

  async close(): Promise<void> {
    await this.#recorder?.stop();
    for (const node of this.#nodes) await node.end();
    this.#proxy.close();
  }

  async #makeNode(data_dir: string, database_port: number, secret_key: string): Promise<Node> {
    const { superuser, redis } = this.#cluster;
    const { signal } = this.#context;
    const port = await freePort();
    let serving: ServeProcess | null = null;
    const env = serviceEnvironment(this.#context.env, [], {
      DATABASE_URL: `postgresql://purser:${superuser.password}@127.0.0.1:${database_port}/purser`,
      REDIS_URL: redis.url,
      SECRET_KEY: secret_key,
      DATA_DIR: data_dir,
      BOOTSTRAP_ADMIN_KEY: this.#admin_key,
      RATE_LIMIT_PER_MINUTE: '10000000',
      PORT: String(port),
    });
    return {
      base_url: `http://127.0.0.1:${port}`,
      async start() {
        serving = await startServing({ env, output_file: `${data_dir}.log`, signal });
      },
      end: async () => (await serving?.end()) ?? 'not started',
    };
  }

  /** Milliseconds until the next decision is acknowledged. */
  async #back(what: string): Promise<number> {
    const recorder = this.#recorder as Recorder;
    const took_ms = await recorder.nextAcknowledged(BACK_WITHIN_MS);
    if (took_ms === null) this.#problems.push(`${what}: no decision within ${BACK_WITHIN_MS / 1000} s.`);
    const shown_ms = Math.round(took_ms ?? BACK_WITHIN_MS);
    this.#context.say(`  ${what}: back after ${shown_ms} ms, ${recorder.acknowledged()} acknowledged`);
    return took_ms ?? BACK_WITHIN_MS;
  }
}
