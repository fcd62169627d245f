import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { percentilesOf } from '../demo/totals.ts';
import type { Bench, Loaded } from './bench.ts';
import { shownNumber } from './render.ts';
import type { GroupResult } from './result.ts';
import { makeWorkspaces } from './workspaces.ts';

const ENDPOINTS = 3;
const LOAD_CLIENTS = 64;
/** One replay sends this many at most. */
const REPLAYED_AT_ONCE = 1_000;
const POLL_MS = 20;
const PATIENCE_MS = 120_000;

/** A receiver in this process that answers 204 and counts. */
async function startCounter(): Promise<{ url: string; ids: string[]; close(): Promise<void> }> {
  const ids: string[] = [];
  const server = createServer((request, response) => {
    ids.push(String(request.headers['x-svc-id']));
    request.resume();
    request.on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}/`, ids, close };
}

/** Waits until `count` deliveries came. False: they did not. */
async function untilReceived(ids: readonly string[], count: number, signal: AbortSignal): Promise<boolean> {
  const deadline_ms = performance.now() + PATIENCE_MS;
  while (ids.length < count) {
    if (performance.now() > deadline_ms) return false;
    await wait(POLL_MS, null, { signal });
  }
  return true;
}

const GOALS = { deliveries_per_second: 1_500 };

/** What deliveries to a local receiver come to, and what three endpoints cost a decision. */
export async function measureWebhooks(bench: Bench): Promise<GroupResult> {
  const { plan, signal } = bench;
  const [workspace] = await makeWorkspaces(bench.purser, { count: 1, agents: 5 });
  if (workspace === undefined) throw new Error('No workspace was made.');
  const { purser } = workspace;
  const problems: string[] = [];
  const load = () =>
    bench.load(LOAD_CLIENTS, bench.decisionsOf(workspace.targets), {
      warm_up_ms: plan.warm_up_ms,
      measured_ms: plan.seconds * 1000,
    });
  const without = await load();
  const receiver = await startCounter();
  try {
    const endpoint_ids: string[] = [];
    for (let i = 0; i < ENDPOINTS; i++) {
      const { id } = await purser.webhookEndpoints.create({ url: receiver.url });
      endpoint_ids.push(id);
    }
    const beside = await load();
    const expected = beside.good * ENDPOINTS;
    if (!(await untilReceived(receiver.ids, expected, signal))) {
      problems.push(`${receiver.ids.length} of ${expected} deliveries came within ${PATIENCE_MS / 1000} s.`);
    }
    if (new Set(receiver.ids).size !== beside.good) {
      problems.push(`${beside.good} decisions were told of as ${new Set(receiver.ids).size} events.`);
    }
    const before = receiver.ids.length;
    const wanted = ENDPOINTS * REPLAYED_AT_ONCE * (plan.kind === 'quick' ? 1 : 5);
    const begun_at_ms = performance.now();
    let queued = 0;
    while (queued < wanted) {
      const queued_before = queued;
      for (const id of endpoint_ids) {
        queued += (await purser.webhookDeliveries.replay(id, { from: daysAgo(20) })).queued;
      }
      if (queued === queued_before) break;
    }
    await untilReceived(receiver.ids, before + queued, signal);
    const took_ms = performance.now() - begun_at_ms;
    const came = receiver.ids.length - before;
    if (came !== queued) problems.push(`${came} deliveries came of ${queued} that were replayed.`);
    const per_second = (came * 1000) / took_ms;
    const row = (name: string, loaded: Loaded) => {
      const { p50, p99 } = percentilesOf(loaded.latencies_ms);
      return [name, shownNumber(loaded.per_second), shownNumber(p50), shownNumber(p99)];
    };
    return {
      tables: [
        {
          title: `Decisions, ${LOAD_CLIENTS} clients`,
          columns: ['endpoints', 'per second', 'p50 ms', 'p99 ms'],
          rows: [row('none', without), row(`${ENDPOINTS}, deliveries under way`, beside)],
        },
        {
          title: 'Deliveries to a receiver on the same machine, nothing else to do',
          columns: ['endpoints', 'deliveries', 'per second'],
          rows: [[String(ENDPOINTS), String(came), shownNumber(per_second)]],
        },
      ],
      goals: [
        {
          name: 'Webhook deliveries',
          unit: '/s',
          is_least: true,
          goal: GOALS.deliveries_per_second,
          measured: per_second,
        },
      ],
      notes: ['The receiver is part of the load generator; deliveries share the process with decisions.'],
      problems,
    };
  } finally {
    await receiver.close();
  }
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
