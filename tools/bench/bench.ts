import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  findRunningEmbeddedPostgres,
  type PostgresConnection,
  readPostmasterFile,
  SUPERUSER,
} from '@purser/embedded-postgres';
import { connectOnce, DECISIONS, type DecisionKind } from '@purser/server/tools';
import { type PurserProcess, startPurser } from '../demo/purser-process.ts';
import { type LoadOptions, type LoadResult, type Requests, runLoad } from './load.ts';
import type { Plan } from './plan.ts';
import { processorSeconds } from './processes.ts';
import { makeSpendBody } from './spend-bodies.ts';
import { prepareTpcb, type Tpcb } from './tpcb.ts';
import { type BenchWorkspace, checkWorkspace, type Target } from './workspaces.ts';

/** A load's result, and the processor time that an answer took. Null where the system does not tell. */
export interface Loaded extends LoadResult {
  per_second: number;
  service_cpu_ms: number | null;
  postgres_cpu_ms: number | null;
}

export type LoadLimits = Pick<LoadOptions, 'warm_up_ms' | 'measured_ms' | 'max_requests' | 'per_second'>;

/** What the groups of measurements work with: a service with a database of its own, and what was sent to it. */
export interface Bench {
  purser: PurserProcess;
  /** A connection to the service's PostgreSQL. */
  server: PostgresConnection;
  plan: Plan;
  signal: AbortSignal;
  say: (line: string) => void;
  decisions: Record<DecisionKind, number>;
  /** TPC-B on the same PostgreSQL, for the groups that compare themselves with it. May be called once. */
  prepareTpcb(): Promise<Tpcb>;
  load(clients: number, requests: Requests, limits: LoadLimits): Promise<Loaded>;
  /** Processor time, ms, that some work takes of the service and of PostgreSQL; null where it cannot be told. */
  processorTimeOf<T>(
    work: () => Promise<T>,
  ): Promise<{ result: T; service_ms: number | null; postgres_ms: number | null }>;
  /** Asks for decisions, the targets in turn; `makeBody` of a number that no other request of the run has. */
  decisionsOf(
    targets: readonly Target[],
    options?: { makeBody?: (n: number) => string; onCreated?: (body: Buffer) => void },
  ): Requests;
  /** Says which events a workspace's ledger must have gained besides those of decisions. */
  expectEvents(workspace_id: string, count: number): void;
  /** What is wrong with these workspaces and with the answers so far. */
  findProblems(workspaces: readonly BenchWorkspace[]): Promise<string[]>;
  stop(): Promise<void>;
}

const DECISION_MARKS = DECISIONS.map((kind) => ({ kind, mark: Buffer.from(`"decision":"${kind}"`) }));

/** The bytes of a request that carries a key and, where there is one, a JSON body. */
export function requestText(
  method: string,
  path: string,
  key: string,
  body?: { text: string; idempotency_key?: string },
): string {
  const head = `${method} ${path} HTTP/1.1\r\nhost: purser\r\nx-api-key: ${key}\r\n`;
  if (body === undefined) return `${head}\r\n`;
  const idempotency =
    body.idempotency_key === undefined ? '' : `idempotency-key: ${body.idempotency_key}\r\n`;
  return `${head}${idempotency}content-type: application/json\r\ncontent-length: ${body.text.length}\r\n\r\n${body.text}`;
}

/**
 * Starts a service on a data directory of its own, on a disk. Throws when it does not get ready; then nothing is left
 * behind.
 */
export async function startBench(
  plan: Plan,
  context: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
  say: (line: string) => void,
): Promise<Bench> {
  const { env, signal } = context;
  const purser = await startPurser({
    settings: {
      BOOTSTRAP_PLAN: 'team',
      RATE_LIMIT_PER_MINUTE: '10000000',
      LOG_LEVEL: 'info',
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    },
    env,
    signal,
    needs_disk: true,
  });
  try {
    const server = await findRunningEmbeddedPostgres(purser.data_dir);
    const postmaster = await readPostmasterFile(join(purser.data_dir, 'postgres'));
    if (server === null || postmaster === null) throw new Error('The service runs without its PostgreSQL.');
    if (plan.flush_ms > 0) await slowFlushes(server, plan.flush_ms);
    const path = env.PATH ?? '';
    return makeBench({ purser, server, postmaster_pid: postmaster.pid, path, plan, signal, say });
  } catch (error) {
    await purser.stop();
    throw error;
  }
}

/**
 * Has PostgreSQL wait before every flush of a commit, as a slower disk would make it: whoever flushes waits, and who
 * commits meanwhile shares the flush.
 */
async function slowFlushes(server: PostgresConnection, flush_ms: number): Promise<void> {
  const client = await connectOnce({ ...server, ...SUPERUSER });
  try {
    await client.query(`alter system set commit_delay = ${Math.round(flush_ms * 1000)}`);
    await client.query('alter system set commit_siblings = 0');
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
}

function makeBench(
  parts: Pick<Bench, 'purser' | 'server' | 'plan' | 'signal' | 'say'> & {
    postmaster_pid: number;
    path: string;
  },
): Bench {
  const { postmaster_pid, path, ...kept } = parts;
  const { purser, server, signal } = parts;
  const { base_url } = purser;
  const decisions: Bench['decisions'] = { ALLOW: 0, REVIEW: 0, DENY: 0 };
  const events = new Map<string, number>();
  const errors = new Map<string, number>();
  let asked = 0;

  const processorTimeOf: Bench['processorTimeOf'] = async (work) => {
    const pids = [purser.pid, postmaster_pid];
    const before = await Promise.all(pids.map(processorSeconds));
    const result = await work();
    const after = await Promise.all(pids.map(processorSeconds));
    const [service_ms = null, postgres_ms = null] = after.map((to, i) => {
      const from = before[i] ?? null;
      return to === null || from === null ? null : (to - from) * 1000;
    });
    return { result, service_ms, postgres_ms };
  };
  const expectEvents = (workspace_id: string, count: number) =>
    void events.set(workspace_id, (events.get(workspace_id) ?? 0) + count);

  return {
    ...kept,
    decisions,
    expectEvents,
    prepareTpcb: () => prepareTpcb(server, path, signal),
    async load(clients, requests, limits) {
      const { result, service_ms, postgres_ms } = await processorTimeOf(() =>
        runLoad({ base_url, clients, requests, signal, ...limits }),
      );
      for (const [what, count] of result.errors) {
        const told = `with ${clients} client${clients === 1 ? '' : 's'} ${what}`;
        errors.set(told, (errors.get(told) ?? 0) + count);
      }
      return {
        ...result,
        per_second: (result.measured * 1000) / result.measured_ms,
        service_cpu_ms: service_ms === null ? null : service_ms / result.good,
        postgres_cpu_ms: postgres_ms === null ? null : postgres_ms / result.good,
      };
    },
    processorTimeOf,
    decisionsOf(targets, { makeBody = makeSpendBody, onCreated } = {}) {
      const targetOf = (n: number) => targets[n % targets.length] as Target;
      return {
        good_status: 201,
        make(n) {
          const number = asked;
          asked += 1;
          // As clients make them: in no order, so that the index is written to everywhere.
          const body = { text: makeBody(number), idempotency_key: randomUUID() };
          return requestText('POST', '/v1/decisions', targetOf(n).agent_key, body);
        },
        onGood(n, body) {
          const found = DECISION_MARKS.find(({ mark }) => body.includes(mark));
          if (found === undefined) errors.set('201 without a decision', 1);
          else decisions[found.kind] += 1;
          expectEvents(targetOf(n).workspace_id, 1);
          onCreated?.(body);
        },
      };
    },
    async findProblems(workspaces) {
      const problems: string[] = [];
      for (const workspace of workspaces) {
        problems.push(...(await checkWorkspace(workspace, events.get(workspace.id) ?? 0, signal)));
      }
      for (const [what, count] of errors) problems.push(`${count} requests were answered ${what}.`);
      return problems;
    },
    stop: () => purser.stop(),
  };
}
