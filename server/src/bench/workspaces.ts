import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describeError, type JsonClient, makeJsonClient } from '../demo/json-client.ts';
import { MAIN_FILE, type PurserProcess } from '../demo/purser-process.ts';
import { verifyLedger } from '../demo/send-spends.ts';
import type { Target } from './load.ts';
import { BENCH_AUTHORITY } from './spend-bodies.ts';

const run = promisify(execFile);

/** A workspace with agents that may ask for decisions. */
export interface BenchWorkspace {
  id: string;
  client: JsonClient;
  targets: Target[];
  /** Events of the ledger before the first decision. */
  events_before: number;
}

/** Sends a request that has to succeed; gives the answer's body. Throws with what the service said otherwise. */
async function must(
  client: JsonClient,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const answer = await client.send(method, path, body);
  if (answer.status < 200 || answer.status > 299) {
    throw new Error(`${method} ${path} was answered ${describeError(answer)}`);
  }
  return answer.body as Record<string, unknown>;
}

async function prepareWorkspace(
  base_url: string,
  admin_key: string,
  agent_count: number,
): Promise<BenchWorkspace> {
  const client = makeJsonClient(base_url, admin_key);
  const { id } = await must(client, 'GET', '/v1/workspace');
  const workspace_id = String(id);
  const targets: Target[] = [];
  for (let number = 1; number <= agent_count; number += 1) {
    const agent = await must(client, 'POST', '/v1/agents', {
      slug: `workshop-${number}`,
      authority: BENCH_AUTHORITY,
    });
    const created = await must(client, 'POST', '/v1/api-keys', {
      name: `Workshop ${number}`,
      agent_id: agent.id,
    });
    targets.push({ workspace_id, agent_key: String(created.key) });
  }
  const { events_checked } = await verifyLedger(client);
  return { id: workspace_id, client, targets, events_before: events_checked };
}

/** The first workspace, which the service made at its start. */
export function prepareFirstWorkspace(
  purser: Pick<PurserProcess, 'base_url' | 'admin_key'>,
  agent_count: number,
): Promise<BenchWorkspace> {
  return prepareWorkspace(purser.base_url, purser.admin_key, agent_count);
}

/** Two at a time: as many as the smallest machines have cores. */
const AT_ONCE = 2;

/** Makes further workspaces with the operator's command line, each with one agent. */
export async function makeWorkspaces(
  purser: PurserProcess,
  count: number,
  signal: AbortSignal,
): Promise<BenchWorkspace[]> {
  const makeOne = async (number: number): Promise<BenchWorkspace> => {
    const args = ['workspace', 'create', '--name', `Bench ${number}`, '--plan', 'team', '--json'];
    const { stdout } = await run(process.execPath, [MAIN_FILE, ...args], { env: purser.env, signal });
    const { admin_key } = JSON.parse(stdout) as { admin_key: string };
    return prepareWorkspace(purser.base_url, admin_key, 1);
  };
  const made: BenchWorkspace[] = [];
  let next = 1;
  const worker = async () => {
    while (next <= count) {
      const number = next;
      next += 1;
      made.push(await makeOne(number));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return made;
}

/** How many events of a type a workspace's ledger lists, counted page by page. */
export async function countEvents(
  { client }: BenchWorkspace,
  type: string,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  let cursor: string | null = null;
  do {
    signal.throwIfAborted();
    const from: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await must(client, 'GET', `/v1/ledger/events?limit=200${from}`);
    const events = page.data as { type: string }[];
    count += events.filter((event) => event.type === type).length;
    cursor = typeof page.next_cursor === 'string' ? page.next_cursor : null;
  } while (cursor !== null);
  return count;
}

/** What does not hold in a workspace after `created` decisions: its chain, or their number. Empty: all is well. */
export async function checkWorkspace(workspace: BenchWorkspace, created: number): Promise<string[]> {
  const { valid, events_checked } = await verifyLedger(workspace.client);
  const added = events_checked - workspace.events_before;
  return [
    ...(valid ? [] : [`The ledger of ${workspace.id} is not valid.`]),
    ...(added === created
      ? []
      : [
          `The ledger of ${workspace.id} has ${added} new events for ${created} decisions that were answered.`,
        ]),
  ];
}
