import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BenchWorkspace } from '../bench/workspaces.ts';
import { invalidChain } from './invariants.ts';
import { makeRecorder, type Recorder } from './recorder.ts';
import { PATIENCE_MS } from './stage.ts';

/** A workspace with one agent, and the node on which it lies. */
export interface Tenant {
  workspace: BenchWorkspace;
  /** `host:port` of its worker; null before the tables are distributed. */
  node: string | null;
  /** Its clients, one for each phase. */
  recorders: Recorder[];
}

/** The answers that clients of some workspaces got within a time. */
export interface Window {
  requests: number;
  acknowledged: number;
  unavailable: number;
  per_second: number;
  /** The part of the answers that were decisions, from 0 to 1. */
  share: number;
}

/** Starts two clients for each workspace, until `stop`. */
export function startLoad(tenants: readonly Tenant[], base_url: string) {
  for (const tenant of tenants) {
    const [target] = tenant.workspace.targets;
    const recorder = makeRecorder({
      baseUrl: () => base_url,
      agents: [{ agent: 'workshop-1', agent_key: target?.agent_key as string }],
      run_id: randomBytes(6).toString('hex'),
      clients: 2,
      patience_ms: PATIENCE_MS,
    });
    tenant.recorders.push(recorder);
    recorder.start();
  }
  const current = (tenant: Tenant) => tenant.recorders.at(-1) as Recorder;
  const sum = (of: readonly Tenant[]) => {
    const all = of.map((tenant) => current(tenant).figures());
    const total = (name: 'requests' | 'acknowledged' | 'unavailable') =>
      all.reduce((count, each) => count + each[name], 0);
    return {
      requests: total('requests'),
      acknowledged: total('acknowledged'),
      unavailable: total('unavailable'),
    };
  };
  return {
    /** Counts what the clients of these workspaces are answered until the returned function is called. */
    watch(of: readonly Tenant[]): () => Window {
      const before = sum(of);
      const began_ms = performance.now();
      return () => {
        const now = sum(of);
        const requests = now.requests - before.requests;
        const acknowledged = now.acknowledged - before.acknowledged;
        const unavailable = now.unavailable - before.unavailable;
        const per_second = (1000 * acknowledged) / (performance.now() - began_ms);
        return {
          requests,
          acknowledged,
          unavailable,
          per_second,
          share: acknowledged / (acknowledged + unavailable),
        };
      };
    },
    /** Watches for the longest time without a decision, ms, until the returned function is called. */
    longestGap(of: readonly Tenant[]): () => number {
      let last = sum(of).acknowledged;
      let since_ms = performance.now();
      let longest_ms = 0;
      const look = () => {
        const { acknowledged } = sum(of);
        const now_ms = performance.now();
        longest_ms = Math.max(longest_ms, now_ms - since_ms);
        if (acknowledged > last) since_ms = now_ms;
        last = acknowledged;
      };
      const timer = setInterval(look, 50);
      return () => {
        look();
        clearInterval(timer);
        return longest_ms;
      };
    },
    /** Ends the clients, and asks for what they do not know. */
    async stop(): Promise<void> {
      await Promise.all(tenants.map((tenant) => current(tenant).stop()));
    },
  };
}

/** Returns the problems of all answers that clients got: all of it is kept, once, answers again as it did, and each chain is valid. */
export async function whatIsLost(
  tenants: readonly Tenant[],
  sql: (text: string, values: unknown[]) => Promise<{ decision_id: string; idempotency_key: string }[]>,
  random: () => number,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { workspace, recorders } of tenants) {
    const kept = await sql(
      'select decision_id, idempotency_key from idempotency_keys where workspace_id = $1',
      [workspace.id],
    );
    const by_key = new Map(kept.map((row) => [row.idempotency_key, row.decision_id]));
    if (by_key.size !== kept.length) problems.push(`${workspace.id} has a key twice.`);
    for (const recorder of recorders) {
      problems.push(...(await recorder.resolveAll()), ...recorder.problems);
      for (const { key, decision_id } of recorder.told())
        if (by_key.has(key) && by_key.get(key) !== decision_id)
          problems.push(`${decision_id} was acknowledged, and another is kept.`);
        else if (!by_key.has(key) && kept.length > 0 && !(await isKept(sql, workspace.id, key)))
          problems.push(`${decision_id} was acknowledged and is not kept.`);
      problems.push(...(await recorder.askAgain(5, random)));
    }
    problems.push(...(await invalidChain(workspace.client)));
  }
  return problems;
}

/** Returns whether a key is there by now: what nobody knew is asked for again, and then decided. */
async function isKept(
  sql: (text: string, values: unknown[]) => Promise<unknown[]>,
  workspace_id: string,
  key: string,
): Promise<boolean> {
  const text =
    'select decision_id, idempotency_key from idempotency_keys where workspace_id = $1 and idempotency_key = $2';
  return (await sql(text, [workspace_id, key])).length === 1;
}

/** A receiver of webhooks, and how many requests came to each path. */
export async function startReceiver(): Promise<{
  url: string;
  received: Map<string, number>;
  server: Server;
}> {
  const received = new Map<string, number>();
  const server = createServer((request, response) => {
    received.set(request.url as string, (received.get(request.url as string) ?? 0) + 1);
    request.resume();
    request.on('end', () => response.writeHead(200).end());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, server };
}
