import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BENCH_AUTHORITY } from '../bench/spend-bodies.ts';
import { makeWorkspaces } from '../bench/workspaces.ts';
import { type Answer, makeJsonClient } from '../demo/json-client.ts';
import {
  freePort,
  makeDataDirectory,
  type ServeProcess,
  serviceEnvironment,
  startServing,
} from '../demo/purser-process.ts';
import { clientOf, command, countStatements, loseCoordinator, type Place, until } from './citus-commits.ts';
import { startLoad, startReceiver, type Tenant, whatIsLost } from './citus-load.ts';
import { type CitusCluster, type CitusNode, findCitus, startCitus } from './citus-nodes.ts';
import { shown } from './kills.ts';
import { type Finding, type ScenarioContext, spend } from './stage.ts';

const TENANTS = 8;
/** A rebalance copies each shard of each table; with few of them it ends within a minute or two. */
const SHARDS = 8;
const BACK_WITHIN_MS = 60_000;
const REBALANCED_WITHIN_MS = 600_000;
/** The promises of the design for the time while a worker is lost, and after. */
const LOST_ANSWERED_WITHIN_MS = 6_000;
const WEBHOOK_WITHIN_MS = 15_000;
const LOST_MS = 12_000;

/** Spreads the installation under load: no 500, nothing lost, and earlier answers replay as they were. */
async function distribute(place: Place): Promise<void> {
  const { tenants, problems, figures, context } = place;
  const [first] = tenants as [Tenant, ...Tenant[]];
  const client = clientOf(first, place);
  const ask = (i: number) =>
    client.send('POST', '/v1/decisions', spend(100 + i), { 'idempotency-key': `before-${i}` });
  const before: Answer[] = [];
  for (let i = 0; i < 10; i++) before.push(await ask(i));
  const load = startLoad(tenants, place.node.base_url);
  await context.wait(3_000);
  const gap = load.longestGap(tenants);
  const began_ms = performance.now();
  const { stdout, failure } = await command(place, 'distribute', '--shards', String(SHARDS), '--json');
  figures.distribute_ms = performance.now() - began_ms;
  if (failure !== null) throw new Error(`distribute failed: ${failure}`);
  figures.tables = (JSON.parse(stdout) as { tables: number }).tables;
  for (const tenant of tenants)
    if ((await tenant.recorders.at(-1)?.nextAcknowledged(BACK_WITHIN_MS)) === null)
      problems.push(`${tenant.workspace.id}: no decision within ${BACK_WITHIN_MS} ms of distribute.`);
  figures.distribute_without_answers_ms = gap();
  await load.stop();
  for (const [i, answer] of before.entries()) {
    const again = await ask(i);
    if (again.status !== 200 || JSON.stringify(again.body) !== JSON.stringify(answer.body))
      problems.push(`The answer to before-${i} was another one afterwards (${again.status}).`);
  }
  client.close();
  const listed = JSON.parse((await command(place, 'workspace', 'list', '--json')).stdout) as {
    workspace_id: string;
    node: string | null;
  }[];
  for (const tenant of tenants)
    tenant.node = listed.find(({ workspace_id }) => workspace_id === tenant.workspace.id)?.node ?? null;
}

/** 30 spends at once on a budget for 10, and one asked for 16 times at once. */
async function storm(place: Place): Promise<void> {
  const { tenants, problems } = place;
  const { purser } = (tenants[0] as Tenant).workspace;
  const { id } = await purser.agents.create({
    slug: 'tight',
    mode: 'ENFORCE',
    authority: { ...BENCH_AUTHORITY, monthly_budget_minor: 1_000 },
  });
  const { key } = await purser.apiKeys.create({ name: 'Tight', agent_id: id });
  const atOnce = async (count: number, amount_minor: number, keyOf: (i: number) => string) => {
    const clients = Array.from({ length: count }, () => makeJsonClient(place.node.base_url, key));
    const answers = await Promise.all(
      clients.map((client, i) =>
        client.send('POST', '/v1/decisions', spend(amount_minor), { 'idempotency-key': keyOf(i) }),
      ),
    );
    for (const client of clients) client.close();
    return answers;
  };
  const same = await atOnce(16, 1, () => 'the-same');
  const made = same.filter(({ status }) => status === 201).length;
  const different = new Set(same.map(({ body }) => JSON.stringify(body))).size;
  if (made !== 1 || different !== 1)
    problems.push(`16 at once with one key: ${made} made, ${different} answers.`);
  const answers = await atOnce(30, 100, (i) => `tight-${i}`);
  const held = answers.filter(
    ({ body }) => (body as { reservation?: { status: string } }).reservation?.status === 'HELD',
  ).length;
  // One minor unit is held already, so that nine of the spends fit whole.
  if (held !== 9) problems.push(`30 at once on a budget for 9 more: ${held} were held.`);
  place.figures.held_of_30 = held;
}

/** Makes the first person, who can then sign in. */
async function setUpPerson({ node, output_file }: Place): Promise<() => Promise<number>> {
  const code = /setup#([\w-]+)/.exec(await readFile(output_file, 'utf8'))?.[1];
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json', origin: node.base_url };
    const answer = await fetch(`${node.base_url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const person = { email: 'ada@example.com', password: 'correct horse battery' };
  const status = await post('/v1/auth/setup', { code, name: 'Ada', ...person });
  if (status !== 201) throw new Error(`The first person could not be made: ${status}.`);
  return () => post('/v1/auth/sign-in', person);
}

/** A worker dies under load: others go on, its own are refused soon, and all are back when it is. */
async function loseWorker(place: Place): Promise<void> {
  const { cluster, tenants, problems, figures, context } = place;
  const signIn = await setUpPerson(place);
  const first_node = (tenants[0] as Tenant).node;
  const worker = cluster.workers.find(({ name }) => name !== first_node) as CitusNode;
  const own = tenants.filter(({ node }) => node === worker.name);
  const others = tenants.filter((tenant) => !own.includes(tenant));
  if (own.length === 0 || others.length === 0)
    throw new Error('All workspaces lie on one worker: run it again.');
  const receiver = await startReceiver();
  const endpoints = new Map<Tenant, string>();
  for (const tenant of tenants) {
    const body = { url: `${receiver.url}/${tenant.workspace.id}`, events: ['decision.label.recorded'] };
    const made = await tenant.workspace.client.send('POST', '/v1/webhooks', body);
    endpoints.set(tenant, (made.body as { id: string }).id);
  }
  const tell = (tenant: Tenant) =>
    tenant.workspace.client.send('POST', `/v1/webhooks/${endpoints.get(tenant)}/test`, {});
  const load = startLoad(tenants, place.node.base_url);
  await context.wait(3_000);
  const before = load.watch(others);
  await context.wait(5_000);
  figures.others_before_per_second = before().per_second;
  for (const tenant of tenants) await tell(tenant);
  await worker.kill();
  const during = load.watch(others);
  const killed_ms = performance.now();
  const lost = clientOf(own[0] as Tenant, place);
  const refused = await lost.send('POST', '/v1/decisions', spend(1), { 'idempotency-key': 'while-lost' });
  lost.close();
  figures.lost_answered_ms = refused.took_ms;
  if (refused.status !== 503 || refused.took_ms > LOST_ANSWERED_WITHIN_MS)
    problems.push(
      `A workspace of the lost worker was answered ${refused.status} in ${Math.round(refused.took_ms)} ms.`,
    );
  figures.webhooks_of_others_ms = 0;
  for (const tenant of others) {
    const path = `/${tenant.workspace.id}`;
    const came = receiver.received.get(path) ?? 0;
    const told = await tell(tenant);
    if (told.status >= 300) problems.push(`A test event of another workspace was answered ${told.status}.`);
    const took_ms = await until(place, WEBHOOK_WITHIN_MS, () => (receiver.received.get(path) ?? 0) > came);
    if (took_ms === null) problems.push(`No webhook of another workspace within ${WEBHOOK_WITHIN_MS} ms.`);
    figures.webhooks_of_others_ms = Math.max(figures.webhooks_of_others_ms, took_ms ?? WEBHOOK_WITHIN_MS);
  }
  const signed_in = await signIn();
  if (signed_in !== 200) problems.push(`A sign-in was answered ${signed_in} while a worker was lost.`);
  const { purser, agent_ids } = (others[0] as Tenant).workspace;
  const { key } = await purser.apiKeys.create({ name: 'New', agent_id: agent_ids[0] as string });
  const fresh = makeJsonClient(place.node.base_url, key);
  const decided = await fresh.send('POST', '/v1/decisions', spend(1), { 'idempotency-key': 'new-key' });
  fresh.close();
  if (decided.status !== 201) problems.push(`A new key of another workspace was answered ${decided.status}.`);
  const ready = await fetch(`${place.node.base_url}/readyz`);
  const detail = JSON.stringify(await ready.json());
  if (!ready.ok || !detail.includes('"reachable":false'))
    problems.push(`While a worker was lost, /readyz was ${ready.status}: ${detail.slice(0, 300)}`);
  await context.wait(Math.max(0, LOST_MS - (performance.now() - killed_ms)));
  const { share, per_second } = during();
  figures.others_while_lost_percent = 100 * share;
  figures.others_while_lost_per_second = per_second;
  if (share < 0.95) problems.push(`Of the others only ${Math.round(100 * share)} % were decisions.`);
  if (per_second < figures.others_before_per_second / 2)
    problems.push('The others had less than half their rate.');
  await worker.start();
  const back_ms = await own[0]?.recorders.at(-1)?.nextAcknowledged(BACK_WITHIN_MS);
  figures.lost_back_ms = back_ms ?? BACK_WITHIN_MS;
  await context.wait(10_000);
  const after = load.watch(tenants);
  await context.wait(3_000);
  const { unavailable } = after();
  if (unavailable > 0) problems.push(`10 s after the worker was back ${unavailable} requests were refused.`);
  await load.stop();
  receiver.server.close();
  receiver.server.closeAllConnections();
}

/** A worker is added and takes its share of the shards under load. */
async function rebalance(place: Place): Promise<void> {
  const { cluster, tenants, problems, figures, context } = place;
  const { coordinator, spare } = cluster;
  const load = startLoad(tenants, place.node.base_url);
  await context.wait(2_000);
  const gap = load.longestGap(tenants);
  const seen = load.watch(tenants);
  await coordinator.sql('select citus_add_node($1, $2)', ['127.0.0.1', spare.port]);
  await coordinator.sql("select citus_rebalance_start(shard_transfer_mode => 'force_logical')");
  const done = async () => {
    const [job] = await coordinator.sql<{ state: string }>(
      'select state::text from pg_dist_background_job order by job_id desc limit 1',
    );
    if (job?.state === 'failed') throw new Error('The rebalance failed.');
    return job?.state === 'finished';
  };
  const took_ms = await until(place, REBALANCED_WITHIN_MS, done);
  if (took_ms === null) problems.push('The rebalance did not end.');
  figures.rebalanced_ms = took_ms ?? REBALANCED_WITHIN_MS;
  const { share, acknowledged, requests, unavailable } = seen();
  figures.rebalance_decided_percent = 100 * share;
  figures.rebalance_decisions = acknowledged;
  figures.rebalance_longest_gap_ms = gap();
  if (share < 0.98)
    problems.push(`${unavailable} of ${requests} requests were refused during the rebalance.`);
  if (figures.rebalance_longest_gap_ms > 5_000)
    problems.push('There was a gap of more than 5 s in the rebalance.');
  await load.stop();
  const [moved] = await coordinator.sql<{ count: string }>(
    'select count(*) from citus_shards where nodeport = $1 and table_name::text = $2',
    [spare.port, 'ledger_heads'],
  );
  figures.shards_moved = Number(moved?.count);
  if (figures.shards_moved === 0) problems.push('The new worker has no shard.');
}

/** The first lines of the service's log that tell why a command could not be written. */
async function failuresIn(output_file: string): Promise<string[]> {
  const lines = (await readFile(output_file, 'utf8')).split('\n');
  return lines
    .filter((line) => /could not be written|a command failed|request failed/.test(line))
    .slice(0, 5);
}

/**
 * Purser on Citus, a coordinator and two workers on loopback: it is distributed under load, loses a worker, gets a third one,
 * and loses the coordinator inside two-phase commits. Without an installed extension it is left out, which is said.
 */
export async function citus(context: ScenarioContext): Promise<Finding> {
  const programs = await findCitus();
  if (typeof programs === 'string') return { figures: {}, problems: [], skipped: programs };
  const dir = await makeDataDirectory(true);
  let cluster: CitusCluster | undefined;
  let node: ServeProcess | undefined;
  const tenants: Tenant[] = [];
  try {
    context.say('  starting a coordinator and three workers');
    cluster = await startCitus(programs, dir);
    const admin_key = `sk_${randomBytes(24).toString('hex')}`;
    const env = serviceEnvironment(context.env, [], {
      DATABASE_URL: cluster.url,
      SECRET_KEY: randomBytes(32).toString('hex'),
      DATA_DIR: join(dir, 'purser'),
      BOOTSTRAP_ADMIN_KEY: admin_key,
      RATE_LIMIT_PER_MINUTE: '10000000',
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      PORT: String(await freePort()),
    });
    const output_file = join(dir, 'purser.log');
    node = await startServing({ env, output_file, signal: context.signal });
    const made = await makeWorkspaces({ base_url: node.base_url, env }, { count: TENANTS, agents: 1 });
    tenants.push(...made.map((workspace) => ({ workspace, node: null, recorders: [] })));
    const place: Place = {
      context,
      cluster,
      env,
      node,
      admin_key,
      output_file,
      tenants,
      problems: [],
      figures: {},
    };
    const steps = { distribute, storm, countStatements, loseWorker, rebalance, loseCoordinator };
    for (const [name, step] of Object.entries(steps)) {
      context.say(`  ${name}`);
      await step(place);
      context.say(`    ${JSON.stringify(shown(place.figures))}`);
    }
    const { coordinator } = cluster;
    const lost = await whatIsLost(tenants, (text, values) => coordinator.sql(text, values), context.random);
    const acknowledged = tenants
      .flatMap(({ recorders }) => recorders)
      .reduce((sum, each) => sum + each.acknowledged(), 0);
    const problems = [...place.problems, ...lost];
    // Why a request was answered 500 is in the log alone, which is removed with the rest.
    if (problems.some((each) => each.includes('internal_error')))
      problems.push(...(await failuresIn(output_file)));
    return { figures: shown({ ...place.figures, acknowledged }), problems };
  } finally {
    for (const { recorders, workspace } of tenants) {
      workspace.client.close();
      for (const recorder of recorders) await recorder.stop();
    }
    await node?.end();
    await cluster?.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
