import { addWorkspace, makeCore, openDatabase, readConfig } from '@purser/server/tools';
import pino from 'pino';
import { describeError, type JsonClient, makeJsonClient } from '../demo/json-client.ts';
import type { PurserProcess } from '../demo/purser-process.ts';
import { verifyLedger } from '../demo/send-spends.ts';
import { BENCH_AUTHORITY } from './spend-bodies.ts';

/** Whose decisions are asked for. */
export interface Target {
  workspace_id: string;
  agent_key: string;
}

/** A workspace with agents that may ask for decisions. */
export interface BenchWorkspace {
  id: string;
  admin_key: string;
  client: JsonClient;
  targets: Target[];
  agent_ids: string[];
  /** Events of the ledger before the first decision. */
  events_before: number;
}

/** How many workspaces are given their agents at a time. */
const AT_ONCE = 8;

/** Sends a request that has to succeed; gives the answer's body. Throws with what the service said otherwise. */
export async function must(
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

async function addAgents(
  base_url: string,
  made: { workspace_id: string; admin_key: string },
  options: { agents: number; mode: 'SHADOW' | 'ENFORCE' },
): Promise<BenchWorkspace> {
  const client = makeJsonClient(base_url, made.admin_key);
  const { workspace_id } = made;
  const targets: Target[] = [];
  const agent_ids: string[] = [];
  for (let number = 1; number <= options.agents; number += 1) {
    const { id } = await must(client, 'POST', '/v1/agents', {
      slug: `workshop-${number}`,
      mode: options.mode,
      authority: BENCH_AUTHORITY,
    });
    const { key } = await must(client, 'POST', '/v1/api-keys', { name: `Workshop ${number}`, agent_id: id });
    targets.push({ workspace_id, agent_key: String(key) });
    agent_ids.push(String(id));
  }
  const { events_checked } = await verifyLedger(client);
  return {
    id: workspace_id,
    admin_key: made.admin_key,
    client,
    targets,
    agent_ids,
    events_before: events_checked,
  };
}

/** Gives the workspace that the service made at its start agents that may ask for decisions. */
export async function prepareFirstWorkspace(
  purser: Pick<PurserProcess, 'base_url' | 'admin_key'>,
  agents: number,
): Promise<BenchWorkspace> {
  const { base_url, admin_key } = purser;
  const client = makeJsonClient(base_url, admin_key);
  const { id } = await must(client, 'GET', '/v1/workspace');
  client.close();
  return addAgents(base_url, { workspace_id: String(id), admin_key }, { agents, mode: 'SHADOW' });
}

/**
 * Makes workspaces on the Team plan, each with so many agents. They are made as the operator's command line makes
 * them, beside the running service on its database, by one process for all.
 */
export async function makeWorkspaces(
  purser: Pick<PurserProcess, 'base_url' | 'env'>,
  options: { count: number; agents: number; mode?: 'SHADOW' | 'ENFORCE' },
): Promise<BenchWorkspace[]> {
  const log = pino({ level: 'silent' });
  const database = await openDatabase(readConfig(purser.env), { as: 'command', log });
  const core = makeCore(database, log);
  const made: { workspace_id: string; admin_key: string }[] = [];
  try {
    const input = { plan: 'team', trial_days: null, by: 'operator' } as const;
    const names = Array.from({ length: options.count }, (_, i) => `Bench ${i + 1}`);
    made.push(...(await Promise.all(names.map((name) => addWorkspace(core, { ...input, name })))));
  } finally {
    await core.close();
    await database.close();
  }
  const workspaces: BenchWorkspace[] = [];
  const { agents, mode = 'SHADOW' } = options;
  const worker = async () => {
    for (let next = made.pop(); next !== undefined; next = made.pop()) {
      workspaces.push(await addAgents(purser.base_url, next, { agents, mode }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return workspaces;
}

/** What does not hold in a workspace that must have gained `added` events: its chain, or their number. */
export async function checkWorkspace(
  { id, client, events_before }: BenchWorkspace,
  added: number,
  signal: AbortSignal,
): Promise<string[]> {
  signal.throwIfAborted();
  const { valid, events_checked } = await verifyLedger(client);
  const found = events_checked - events_before;
  return [
    ...(valid ? [] : [`The ledger of ${id} is not valid.`]),
    ...(found === added
      ? []
      : [`The ledger of ${id} has ${found} new events for ${added} changes that were answered.`]),
  ];
}
