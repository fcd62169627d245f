import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../server/tests/support/until.ts';
import { readPrices } from '../../src/prices/read-prices.ts';
import { type BilledCall, type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { ask, calling } from './gateway.ts';
import { type GatewayProcess, processEnvironmentOf, spawnGateway } from './gateway-process.ts';

export const LIMIT_MINOR = 100;
export const AGENTS = 20;
const GATEWAYS = 4;
const CALLS = 200;
/** The cheapest models that both providers have had for long, with outputs that cost USD 0.005 to 0.025: three times the budget. */
const MODELS = [
  { path: '/v1/chat/completions', model: 'gpt-5-mini', output: [2_500, 12_500] },
  { path: '/v1/messages', model: 'claude-haiku-4-5', output: [1_000, 5_000] },
] as const;
/** The official clients repeat a call twice if its connection is lost. */
const LOST_AT_MOST = 2;
const LONGEST_PAUSE_MS = 40;

const PRICES = new URL('../../prices.json', import.meta.url);
const PER_MILLION = new Map(
  readPrices(readFileSync(PRICES, 'utf8'), null).models.map(({ model, entry }) => [
    model,
    entry.per_million as Record<string, string>,
  ]),
);

/** Minor units that the provider charges, at the prices that gateways have built in. */
export const billOf = (calls: readonly BilledCall[]): number =>
  calls.reduce((sum, { model, input, cached, written, output }) => {
    const prices = PER_MILLION.get(model) ?? {};
    const price = (name: string) => Number(prices[name] ?? prices.input);
    const cost =
      (input - cached - written) * price('input') +
      cached * price('cached_input') +
      written * price('cache_write') +
      output * price('output');
    return sum + cost / 1e4;
  }, 0);

/** How a call ended: its status, and the reason of a refusal. A connection that was lost is `lost`. */
export type Ending = string;

/**
 * Streamed calls of both shapes, all at once. Each agent has one shape and one gateway. Like the official clients, callers
 * repeat what the answer says may be repeated, until they have an answer that does not.
 */
function callAll(urlOf: (place: number) => string, keys: readonly string[]): Promise<Ending[]> {
  return Promise.all(
    Array.from({ length: CALLS }, async (_, n) => {
      const agent = n % AGENTS;
      const {
        path,
        model,
        output: [least, most],
      } = MODELS[agent % 2] as (typeof MODELS)[number];
      const output = least + Math.floor(Math.random() * (most - least));
      for (let lost = 0; ; ) {
        const pause_ms = Math.floor(Math.random() * LONGEST_PAUSE_MS);
        const body = calling({ output, pause_ms }, { model, max_tokens: output, stream: true });
        const answer = await ask(urlOf(Math.floor(agent / 2) % GATEWAYS), path, body, {
          key: keys[agent] as string,
        }).catch(() => null);
        if (answer === null) {
          if (++lost > LOST_AT_MOST) return 'lost';
          await new Promise((wait) => setTimeout(wait, 200));
          continue;
        }
        if (answer.status === 200) return '200';
        if (answer.headers.get('x-should-retry') !== 'true')
          return `${answer.status} ${answer.headers.get('x-purser-reason')}`;
        const wait_s = Number(answer.headers.get('retry-after') ?? 0.2);
        await new Promise((wait) => setTimeout(wait, wait_s * 1_000));
      }
    }),
  );
}

export interface Spent {
  /** Minor units that the provider charges. */
  billed: number;
  endings: Record<Ending, number>;
}

function spentOf(provider: FakeProvider, endings: readonly Ending[]): Spent {
  const counts: Record<Ending, number> = {};
  for (const each of endings) counts[each] = (counts[each] ?? 0) + 1;
  return { billed: billOf(provider.calls), endings: counts };
}

/**
 * Four gateways before one provider, and more calls than the budget has money for. `kills` times a gateway at random is killed
 * at a random moment, and started again on its journal. Resolves once `isSettled` says that nothing is held.
 */
export async function spendThroughGateways(parts: {
  purser_url: string;
  adapter_key: string;
  keys: readonly string[];
  kills: number;
  isSettled: () => Promise<boolean>;
}): Promise<Spent> {
  const provider = await startFakeProvider();
  const root = mkdtempSync(join(tmpdir(), 'purser-gateways-'));
  const gateways: GatewayProcess[] = [];
  const start = async (place: number) => {
    const directory = join(root, String(place));
    mkdirSync(directory, { recursive: true });
    const env = { PURSER_ADAPTER_KEY: parts.adapter_key, WAIT_SECONDS: '2', LEASE_IDLE_SECONDS: '1' };
    gateways[place] = await spawnGateway(
      processEnvironmentOf(parts.purser_url, provider.url, directory, env),
    );
  };
  try {
    await Promise.all(Array.from({ length: GATEWAYS }, (_, place) => start(place)));
    let is_over = false;
    const all = callAll((place) => (gateways[place] as GatewayProcess).url, parts.keys).finally(() => {
      is_over = true;
    });
    const moments = Array.from({ length: parts.kills }, () => Math.floor(Math.random() * 60));
    for (const calls of moments.sort((a, b) => a - b)) {
      await until(() => is_over || provider.calls.length >= calls, 1);
      const place = Math.floor(Math.random() * GATEWAYS);
      await gateways[place]?.kill('SIGKILL');
      await start(place);
    }
    const endings = await all;
    await until(parts.isSettled, 100);
    return spentOf(provider, endings);
  } finally {
    await Promise.all(gateways.map((each) => each.kill('SIGKILL')));
    await provider.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Passes calls on while less than the limit was billed, as a gateway does that asks before a call and counts after it. */
function startSoftCap(provider: FakeProvider): Promise<Server> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (billOf(provider.calls.filter(({ is_done }) => is_done)) >= LIMIT_MINOR) {
      response.writeHead(429, { 'x-purser-reason': 'insufficient_quota' }).end();
      return;
    }
    const answer = await fetch(`${provider.url}${request.url}`, {
      method: 'POST',
      body: Buffer.concat(chunks),
    });
    response.writeHead(answer.status);
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) response.write(chunk);
    response.end();
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** The same calls through a soft cap. */
export async function spendThroughSoftCap(): Promise<Spent> {
  const provider = await startFakeProvider();
  const cap = await startSoftCap(provider);
  const { port } = cap.address() as AddressInfo;
  try {
    const keys = Array.from({ length: AGENTS }, () => 'sk_agent');
    return spentOf(provider, await callAll(() => `http://127.0.0.1:${port}`, keys));
  } finally {
    cap.closeAllConnections();
    await new Promise((resolve) => cap.close(resolve));
    await provider.stop();
  }
}
