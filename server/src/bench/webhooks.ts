import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonClient } from '../demo/json-client.ts';
import { percentilesOf } from '../demo/totals.ts';
import { type LoadOptions, type LoadResult, runLoad } from './load.ts';
import type { BenchWorkspace } from './workspaces.ts';

const ENDPOINTS = 3;
const LOAD_CLIENTS = 64;
/** One replay sends this many at most. */
const REPLAYED_AT_ONCE = 1_000;
const POLL_MS = 20;
const PATIENCE_MS = 120_000;

/** What webhooks cost and give. */
export interface WebhookFigures {
  endpoints: number;
  /** From the first event put into the outbox to the last one received, with nothing else to do. */
  deliveries: number;
  deliveries_per_second: number;
  clients: number;
  /** Decisions a second and their median, without endpoints and with them, deliveries under way beside. */
  without: { per_second: number; p50_ms: number };
  with: { per_second: number; p50_ms: number };
  /** Events that never came, or deliveries beyond them. */
  problems: string[];
}

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

async function must(client: JsonClient, method: string, path: string, body?: unknown) {
  const answer = await client.send(method, path, body);
  if (answer.status > 299) throw new Error(`${method} ${path} was answered ${answer.status}`);
  return answer.body as Record<string, unknown>;
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

/** Measures on a workspace of its own, whose ledger nobody counts afterwards. */
export async function measureWebhooks(
  workspace: BenchWorkspace,
  load: Pick<LoadOptions, 'base_url' | 'counter' | 'run_id' | 'signal' | 'makeBody'>,
  plan: { seconds: number; warm_up_ms: number; deliveries: number },
): Promise<WebhookFigures> {
  const { client, targets } = workspace;
  const { signal } = load;
  const problems: string[] = [];
  const run = () =>
    runLoad({
      ...load,
      clients: LOAD_CLIENTS,
      targets,
      warm_up_ms: plan.warm_up_ms,
      measured_ms: plan.seconds * 1000,
    });
  const figures = (result: LoadResult) => ({
    per_second: (result.measured * 1000) / result.measured_ms,
    p50_ms: percentilesOf(result.latencies_ms).p50,
  });

  const without = await run();
  const receiver = await startCounter();
  try {
    const endpoint_ids: string[] = [];
    for (let i = 0; i < ENDPOINTS; i++) {
      const made = await must(client, 'POST', '/v1/webhooks', { url: receiver.url });
      endpoint_ids.push(String(made.id));
    }
    const loaded = await run();
    const expected = loaded.created * ENDPOINTS;
    if (!(await untilReceived(receiver.ids, expected, signal))) {
      problems.push(`${receiver.ids.length} of ${expected} deliveries came within ${PATIENCE_MS / 1000} s.`);
    }
    if (new Set(receiver.ids).size !== loaded.created) {
      problems.push(`${loaded.created} decisions were told of as ${new Set(receiver.ids).size} events.`);
    }

    const before = receiver.ids.length;
    const begun_at_ms = performance.now();
    let queued = 0;
    while (queued < plan.deliveries) {
      for (const id of endpoint_ids) {
        const replayed = await must(client, 'POST', `/v1/webhooks/${id}/replay`, { from: '2020-01-01' });
        queued += Number(replayed.queued);
      }
      if (queued === 0) break;
    }
    await untilReceived(receiver.ids, before + queued, signal);
    const took_ms = performance.now() - begun_at_ms;
    const came = receiver.ids.length - before;
    if (came !== queued) problems.push(`${came} deliveries came of ${queued} that were replayed.`);
    return {
      endpoints: ENDPOINTS,
      deliveries: came,
      deliveries_per_second: (came * 1000) / took_ms,
      clients: LOAD_CLIENTS,
      without: figures(without),
      with: figures(loaded),
      problems,
    };
  } finally {
    await receiver.close();
  }
}

/** How many deliveries the rate is taken over: a whole number of replays to all endpoints. */
export function deliveriesFor(quick: boolean): number {
  return ENDPOINTS * REPLAYED_AT_ONCE * (quick ? 1 : 5);
}
