import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { makeSpendBody } from '../bench/spend-bodies.ts';
import { makeJsonClient } from '../demo/json-client.ts';
import { MAIN_FILE, type ServeProcess } from '../demo/purser-process.ts';
import { startLoad, type Tenant } from './citus-load.ts';
import type { CitusCluster, CitusNode } from './citus-nodes.ts';
import type { ScenarioContext } from './stage.ts';

const BACK_WITHIN_MS = 60_000;
const MAX_STATEMENTS = 11;
const NEW_KEYS = 20;

const run = promisify(execFile);

/** The installation under test. */
export interface Place {
  context: ScenarioContext;
  cluster: CitusCluster;
  env: Record<string, string | undefined>;
  node: ServeProcess;
  admin_key: string;
  output_file: string;
  tenants: Tenant[];
  problems: string[];
  figures: Record<string, number>;
}

/** Runs an operator's command beside the service. */
export async function command(
  { env }: Place,
  ...args: string[]
): Promise<{ stdout: string; failure: string | null }> {
  try {
    const { stdout } = await run(process.execPath, [MAIN_FILE, ...args], { env, timeout: 300_000 });
    return { stdout, failure: null };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { stdout, failure: stderr || (error as Error).message };
  }
}

/** Waits until `look` holds. Returns the milliseconds that it took; null after `within_ms`. */
export async function until(
  { context }: Place,
  within_ms: number,
  look: () => Promise<boolean> | boolean,
): Promise<number | null> {
  const began_ms = performance.now();
  while (!(await look())) {
    if (performance.now() - began_ms > within_ms) return null;
    await context.wait(100);
  }
  return performance.now() - began_ms;
}

/** A client with the key of a workspace's agent. */
export const clientOf = (tenant: Tenant, place: Place) =>
  makeJsonClient(place.node.base_url, tenant.workspace.targets[0]?.agent_key as string);

/** The number of statements of each transaction in the coordinator's log that stored decisions, with its beginning and end. */
export function statementsOfDecisions(log: string): number[] {
  const counts: number[] = [];
  const open = new Map<string, { statements: number; stores: boolean }>();
  for (const line of log.split('\n')) {
    const [, pid, text = ''] = /^(\d+) LOG: {2}(?:execute [^:]+|statement): (.*)/.exec(line) ?? [];
    if (pid === undefined) continue;
    if (text === 'begin') open.set(pid, { statements: 0, stores: false });
    const batch = open.get(pid);
    if (batch === undefined) continue;
    batch.statements += 1;
    batch.stores ||= /^insert into decisions\b/.test(text);
    if (text !== 'commit') continue;
    if (batch.stores) counts.push(batch.statements);
    open.delete(pid);
  }
  return counts;
}

/** How many transactions in a node's log stored decisions and were then prepared for a commit in two phases. */
export function preparedDecisions(log: string): number {
  const stored = new Set<string>();
  let count = 0;
  for (const line of log.split('\n')) {
    const [, pid, text = ''] = /^(\d+) LOG: {2}(?:execute [^:]+|statement): (.*)/i.exec(line) ?? [];
    if (pid === undefined) continue;
    if (/^insert into (?:public\.)?decisions/i.test(text)) stored.add(pid);
    else if (/^prepare transaction/i.test(text) && stored.delete(pid)) count += 1;
    else if (/^(?:begin|commit|rollback)/i.test(text)) stored.delete(pid);
  }
  return count;
}

/** No decision commits in two phases, and a lone one takes few statements, by the logs of all nodes. */
export async function countStatements(place: Place): Promise<void> {
  const { cluster, tenants, problems, figures, context } = place;
  const nodes = [cluster.coordinator, ...cluster.workers];
  const logging = async (value: string) => {
    for (const node of nodes) {
      await node.sql(`alter system set log_statement = '${value}'`);
      await node.sql('select pg_reload_conf()');
    }
    await context.wait(1_000);
  };
  const client = clientOf(tenants[0] as Tenant, place);
  let asked = 0;
  const ask = () => {
    asked += 1;
    const headers = { 'idempotency-key': `alone-${asked}` };
    return client.send('POST', '/v1/decisions', JSON.parse(makeSpendBody(asked)), headers);
  };
  for (let i = 0; i < 3; i++) await ask();
  await logging('all');
  const sizes = await Promise.all(nodes.map(async (node) => (await node.log()).length));
  for (let i = 0; i < 6; i++) await ask();
  await context.wait(500);
  const counts = statementsOfDecisions((await cluster.coordinator.log()).slice(sizes[0]));
  figures.statements_of_a_lone_decision = Math.max(...counts);
  if (counts.length === 0 || Math.max(...counts) > MAX_STATEMENTS)
    problems.push(
      `Lone decisions took ${counts.join(', ')} statements; none may take over ${MAX_STATEMENTS}.`,
    );
  const load = startLoad(tenants, place.node.base_url);
  const seen = load.watch(tenants);
  await context.wait(4_000);
  figures.decisions_watched = seen().acknowledged;
  await load.stop();
  let of_decisions = 0;
  for (const [i, node] of nodes.entries())
    of_decisions += preparedDecisions((await node.log()).slice(sizes[i]));
  figures.decisions_in_two_phases = of_decisions;
  if (of_decisions > 0) problems.push(`${of_decisions} decisions were committed in two phases.`);
  if (figures.decisions_watched === 0) problems.push('No decision was made while its commit was watched.');
  await logging('none');
  client.close();
}

/**
 * The coordinator dies inside the two-phase commits of new keys: of some, workers have prepared and it has not decided; of
 * others it has decided and not yet informed the workers. Each key is then whole, or is not there.
 */
export async function loseCoordinator(place: Place): Promise<void> {
  const { cluster, tenants, problems, figures, context } = place;
  const workers = [...cluster.workers, cluster.spare];
  // A standby that is not there holds a commit after it is on the disk: of the workers' first half, or of the coordinator's.
  const hold = async (nodes: readonly CitusNode[], standby: string) => {
    for (const node of nodes) {
      await node.sql(`alter system set synchronous_standby_names = '${standby}'`);
      await node.sql('select pg_reload_conf()');
    }
    await context.wait(300);
  };
  const prepared = async () => {
    let count = 0;
    for (const node of workers)
      count += (await node.sql("select from pg_prepared_xacts where gid like 'citus%'")).length;
    return count;
  };
  const isServing = async () => {
    const client = clientOf(tenants[0] as Tenant, place);
    const answer = await client
      .send('POST', '/v1/decisions', JSON.parse(makeSpendBody(1)), { 'idempotency-key': 'is-serving' })
      .catch(() => null);
    client.close();
    return answer !== null && answer.status < 300;
  };
  for (const [round, nodes] of [workers, [cluster.coordinator]].entries()) {
    if ((await until(place, BACK_WITHIN_MS, isServing)) === null)
      throw new Error('The service did not come back after the coordinator did.');
    await hold(nodes, 'nobody');
    const asked = Array.from({ length: NEW_KEYS / 2 }, (_, i) => {
      const { workspace } = tenants[i % tenants.length] as Tenant;
      const client = makeJsonClient(place.node.base_url, workspace.admin_key);
      const body = { name: `Round ${round}, ${i}`, agent_id: workspace.agent_ids[0] };
      return client
        .send('POST', '/v1/api-keys', body)
        .catch(() => null)
        .finally(() => client.close());
    });
    if ((await until(place, 4_000, async () => (await prepared()) > 0)) === null)
      problems.push(`Round ${round}: no worker had prepared a new key.`);
    await context.wait(500);
    figures[round === 0 ? 'prepared_undecided' : 'prepared_decided'] = await prepared();
    await cluster.coordinator.kill();
    await Promise.all(asked);
    const holds_itself = nodes.includes(cluster.coordinator);
    await cluster.coordinator.start(holds_itself ? { synchronous_standby_names: '' } : {});
    await hold(nodes, '');
    const settled_ms = await until(place, BACK_WITHIN_MS, async () => (await prepared()) === 0);
    if (settled_ms === null) problems.push(`Round ${round}: prepared transactions were left.`);
    figures[round === 0 ? 'undone_after_ms' : 'finished_after_ms'] = settled_ms ?? BACK_WITHIN_MS;
  }
  await until(place, BACK_WITHIN_MS, isServing);
  const names = new Map<number, number>();
  for (const { workspace } of tenants) {
    const keys = await cluster.coordinator.sql<{ key_id: string; name: string }>(
      "select key_id, name from api_keys where workspace_id = $1 and name like 'Round %'",
      [workspace.id],
    );
    const digests = await cluster.coordinator.sql<{ key_id: string }>(
      'select key_id from api_key_digests where workspace_id = $1',
      [workspace.id],
    );
    const all = await cluster.coordinator.sql<{ key_id: string }>(
      'select key_id from api_keys where workspace_id = $1 and revoked_at is null',
      [workspace.id],
    );
    const known = new Set(digests.map(({ key_id }) => key_id));
    if (all.some(({ key_id }) => !known.has(key_id)) || known.size !== all.length)
      problems.push(`${workspace.id} has ${all.length} keys and ${known.size} digests of keys.`);
    for (const { name } of keys) names.set(Number(name[6]), (names.get(Number(name[6])) ?? 0) + 1);
  }
  figures.new_keys_undone = NEW_KEYS / 2 - (names.get(0) ?? 0);
  figures.new_keys_finished = names.get(1) ?? 0;
}
