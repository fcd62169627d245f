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
  const { signal, say } = context;
  const programs = await findPrograms();
  if (typeof programs === 'string') return { figures: {}, problems: [], skipped: programs };
  const dir = await makeDataDirectory(true);
  const admin_key = `sk_${randomBytes(24).toString('hex')}`;
  const secret_key = randomBytes(32).toString('hex');
  const problems: string[] = [];
  const figures: Record<string, number> = {};
  const nodes: Node[] = [];
  let proxy: DatabaseProxy | undefined;
  let recorder: Recorder | undefined;
  let running: Cluster | undefined;
  try {
    say('  starting etcd, three PostgreSQL under Patroni, HAProxy and Redis');
    const started = await startCluster(programs, dir, signal);
    running = started;
    const opened = await openProxy({ host: '127.0.0.1', port: started.port });
    proxy = opened;
    const { password } = started.superuser;
    for (let i = 1; i <= NODES; i++) {
      const port = await freePort();
      const database_port = i === NODES ? opened.port : started.port;
      let serving: ServeProcess | null = null;
      const env = serviceEnvironment(context.env, [], {
        DATABASE_URL: `postgresql://purser:${password}@127.0.0.1:${database_port}/purser`,
        REDIS_URL: started.redis.url,
        SECRET_KEY: secret_key,
        DATA_DIR: join(dir, `node${i}`),
        BOOTSTRAP_ADMIN_KEY: admin_key,
        RATE_LIMIT_PER_MINUTE: '10000000',
        PORT: String(port),
      });
      nodes.push({
        base_url: `http://127.0.0.1:${port}`,
        async start() {
          serving = await startServing({ env, output_file: join(dir, `node${i}.log`), signal });
        },
        end: async () => (await serving?.end()) ?? 'not started',
      });
    }
    for (const node of nodes) await node.start();
    const [one] = nodes as [Node];
    const agents = await makeAgents(one.base_url, admin_key);
    agents.push(await makeLimitedAgent(one.base_url, admin_key));
    let asked = 0;
    const clients_of = () => (nodes[asked++ % NODES] as Node).base_url;
    const clients = makeRecorder({
      baseUrl: clients_of,
      agents,
      run_id: randomBytes(6).toString('hex'),
      clients: CLIENTS,
      patience_ms: PATIENCE_MS,
    });
    recorder = clients;
    clients.start();
    const back = async (what: string) => {
      const took_ms = await clients.nextAcknowledged(BACK_WITHIN_MS);
      if (took_ms === null) problems.push(`${what}: no decision within ${BACK_WITHIN_MS / 1000} s.`);
      say(
        `  ${what}: back after ${Math.round(took_ms ?? BACK_WITHIN_MS)} ms, ${clients.acknowledged()} acknowledged`,
      );
      return took_ms ?? BACK_WITHIN_MS;
    };
    await context.wait(BETWEEN_MS);

    const lost = await started.primary();
    if (lost === null) throw new Error('There is no primary.');
    await lost.lose();
    // What was on its way when it died may still be answered: what counts is the first answer of its successor.
    await context.wait(500);
    figures.writes_back_after_lost_primary_ms = 500 + (await back('the primary was killed'));
    await context.wait(BETWEEN_MS);
    await lost.start();
    await started.settled(started.members.length);
    say('  the lost one follows again');

    opened.break('swallow');
    await context.wait(CUT_MS);
    figures.writes_beside_a_cut_node_ms = await back('a node was cut off');
    opened.break('none');
    opened.cutAll();
    await context.wait(BETWEEN_MS);

    await started.redis.kill();
    await context.wait(REDIS_AWAY_MS);
    figures.writes_without_redis_ms = await back('Redis was killed');
    await started.redis.start();
    await context.wait(BETWEEN_MS);

    for (const node of nodes) {
      const how = await node.end();
      if (how !== 'exit code 0') problems.push(`A node that was rolled ended with ${how}.`);
      await node.start();
    }
    figures.writes_after_rolling_ms = await back('all nodes were rolled');
    await context.wait(BETWEEN_MS);

    await clients.stop();
    const client = makeJsonClient(one.base_url, admin_key);
    problems.push(...(await findViolations(clients, client, started.superuser)));
    client.close();
    const limited_held_minor = await heldByLimited(started);
    const over_minor = Math.max(0, limited_held_minor - LIMITED_BUDGET_MINOR);
    if (over_minor > 0) problems.push(`The limited agent overspent ${over_minor}.`);
    figures.limited_budget_used_percent = (100 * limited_held_minor) / LIMITED_BUDGET_MINOR;
    const missing = await gaps(started);
    if (missing !== 0) problems.push(`The chain lacks ${missing} of its numbers.`);
    return { figures: shown({ ...clients.figures(), ...figures, over_minor, gaps: missing }), problems };
  } finally {
    await recorder?.stop();
    for (const node of nodes) await node.end();
    proxy?.close();
    await running?.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
