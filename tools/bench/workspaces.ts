import { Purser } from '@purser/sdk';
import { type Authority, addWorkspace, makeCore, openDatabase, readConfig } from '@purser/server/tools';
import pino from 'pino';
import { type JsonClient, makeJsonClient } from '../demo/json-client.ts';
import type { PurserProcess } from '../demo/purser-process.ts';
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
  purser: Purser;
  /** For what is measured on the wire. */
  client: JsonClient;
  targets: Target[];
  agent_ids: string[];
  /** Events of the ledger before the first decision. */
  events_before: number;
}

/** What an agent is allowed, by its number from 1. */
type AuthorityOf = (number: number) => Authority;

/** A long history takes its time to verify. */
const TIMEOUT_MS = 120_000;
/** How many workspaces are given their agents at a time. */
const AT_ONCE = 8;

async function addAgents(
  base_url: string,
  made: { workspace_id: string; admin_key: string },
  options: { agents: number; mode: 'SHADOW' | 'ENFORCE'; authorityOf?: AuthorityOf | undefined },
): Promise<BenchWorkspace> {
  const purser = new Purser({ baseURL: base_url, apiKey: made.admin_key, timeout: TIMEOUT_MS });
  const { workspace_id } = made;
  const targets: Target[] = [];
  const agent_ids: string[] = [];
  for (let number = 1; number <= options.agents; number += 1) {
    const { id } = await purser.agents.create({
      slug: `workshop-${number}`,
      mode: options.mode,
      authority: options.authorityOf?.(number) ?? BENCH_AUTHORITY,
    });
    const { key } = await purser.apiKeys.create({ name: `Workshop ${number}`, agent_id: id });
    targets.push({ workspace_id, agent_key: key });
    agent_ids.push(id);
  }
  const { events_checked } = await purser.ledger.verify();
  return {
    id: workspace_id,
    admin_key: made.admin_key,
    purser,
    client: makeJsonClient(base_url, made.admin_key),
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
  const { id } = await new Purser({ baseURL: base_url, apiKey: admin_key }).workspace.retrieve();
  return addAgents(base_url, { workspace_id: id, admin_key }, { agents, mode: 'SHADOW' });
}

/**
 * Makes workspaces on the Team plan, each with so many agents. They are made as the operator's command line makes
 * them, beside the running service on its database, by one process for all.
 */
export async function makeWorkspaces(
  purser: Pick<PurserProcess, 'base_url' | 'env'>,
  options: { count: number; agents: number; mode?: 'SHADOW' | 'ENFORCE'; authorityOf?: AuthorityOf },
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
  const { agents, mode = 'SHADOW', authorityOf } = options;
  const worker = async () => {
    for (let next = made.pop(); next !== undefined; next = made.pop()) {
      workspaces.push(await addAgents(purser.base_url, next, { agents, mode, authorityOf }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return workspaces;
}

/** What does not hold in a workspace that must have gained `added` events: its chain, or their number. */
export async function checkWorkspace(
  { id, purser, events_before }: BenchWorkspace,
  added: number,
  signal: AbortSignal,
): Promise<string[]> {
  signal.throwIfAborted();
  const { valid, events_checked } = await purser.ledger.verify();
  const found = events_checked - events_before;
  return [
    ...(valid ? [] : [`The ledger of ${id} is not valid.`]),
    ...(found === added
      ? []
      : [`The ledger of ${id} has ${found} new events for ${added} changes that were answered.`]),
  ];
}
