import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { percentilesOf } from '../../demo/totals.ts';
import type { Bench } from '../bench.ts';
import { shownNumber } from '../render.ts';
import type { GroupResult } from '../result.ts';
import { makeWorkspaces } from '../workspaces.ts';

const CALLS = { quick: 100, default: 1_000, long: 5_000 };
const WARM_UP = 50;
const GOAL_MS = 5;
const GOAL_RATIO = 3;
const MODEL = 'gpt-5-mini';
const MODELS_ALONE = { purpose: { objective: 'Model calls' }, model_usage: {} };
const GATEWAY = fileURLToPath(new URL('../../../../gateway/dist/main.js', import.meta.url));
const BARE_PROXY = fileURLToPath(new URL('bare-proxy.js', import.meta.url));

const chunk = (more: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: MODEL, ...more })}\n\n`;
const FIRST = chunk({ choices: [{ index: 0, delta: { content: 'A word' }, finish_reason: null }] });
const REST =
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
  chunk({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 2, total_tokens: 22 } }) +
  'data: [DONE]\n\n';

/** A provider that begins its answer at once. */
async function startProvider(): Promise<Server> {
  const server = createServer((message, response) => {
    message.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(FIRST, () => response.end(REST));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

async function startBareProxy(provider_url: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(BARE_PROXY, [provider_url]);
  const [port] = await once(child, 'message');
  return { child, url: `http://127.0.0.1:${port}` };
}

async function startGateway(env: Record<string, string>): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [GATEWAY], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const { msg, url: found } = JSON.parse(line);
      if (msg === 'listening') resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`The gateway ended with ${code}.`)));
  });
  return { child, url };
}

/** Milliseconds from sending a call to the first byte of its answer. The answer is read to its end. */
async function firstByteMs(dispatcher: Agent, url: string, key: string): Promise<number> {
  const began_ms = performance.now();
  const { statusCode, body } = await request(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: MODEL,
      stream: true,
      max_completion_tokens: 50,
      messages: [{ role: 'user', content: 'Write one word.' }],
    }),
    dispatcher,
  });
  let took_ms = 0;
  for await (const _ of body) took_ms ||= performance.now() - began_ms;
  if (statusCode !== 200) throw new Error(`A model call was answered ${statusCode}.`);
  return took_ms;
}

/** Measures what the gateway adds to the first byte of a streamed model call, beside a proxy that only passes on. */
export async function measureModels({ plan, purser, signal, say }: Bench): Promise<GroupResult> {
  const [workspace] = await makeWorkspaces(purser, {
    count: 1,
    agents: 1,
    mode: 'ENFORCE',
    authorityOf: () => ({ ...MODELS_ALONE, currency: 'USD', monthly_budget_minor: 1_000_000 }),
  });
  if (workspace === undefined) throw new Error('No workspace was made.');
  const { key: adapter } = await workspace.purser.apiKeys.create({ name: 'Gateway', scopes: ['consume'] });
  const key = workspace.targets[0]?.agent_key as string;
  const directory = await mkdtemp(join(tmpdir(), 'purser-bench-gateway-'));
  const provider = await startProvider();
  const provider_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const dispatcher = new Agent();
  const children: ChildProcess[] = [];
  try {
    const proxy = await startBareProxy(provider_url);
    children.push(proxy.child);
    const gateway = await startGateway({
      PORT: '0',
      PURSER_URL: purser.base_url,
      PURSER_ADAPTER_KEY: adapter,
      GATEWAY_DATA_DIR: directory,
      OPENAI_API_KEY: 'sk-bench',
      OPENAI_UPSTREAM: provider_url,
    });
    children.push(gateway.child);
    const ways = [
      { name: 'without anything between', url: provider_url, took: [] as number[] },
      { name: 'through a proxy that only passes on', url: proxy.url, took: [] as number[] },
      { name: 'through the gateway', url: gateway.url, took: [] as number[] },
    ] as const;
    // By turns, so that what disturbs the machine disturbs all three.
    for (let n = 0; n < WARM_UP + CALLS[plan.kind] && !signal.aborted; n += 1)
      for (const { url, took } of ways) {
        const took_ms = await firstByteMs(dispatcher, url, key);
        if (n >= WARM_UP) took.push(took_ms);
      }
    const [direct, bare, through] = ways.map(({ took }) => percentilesOf(took)) as [P, P, P];
    const [of_proxy, of_gateway] = [bare.p50 - direct.p50, through.p50 - direct.p50];
    say(`  added p50: proxy ${of_proxy.toFixed(2)} ms, gateway ${of_gateway.toFixed(2)} ms`);
    return {
      tables: [
        {
          title: `The first byte of a streamed model call, ${CALLS[plan.kind].toLocaleString('en')} calls, one client`,
          columns: ['way', 'p50 ms', 'p99 ms', 'added p50 ms'],
          rows: ways.map(({ name, took }) => {
            const { p50, p99 } = percentilesOf(took);
            return [name, shownNumber(p50), shownNumber(p99), shownNumber(p50 - direct.p50)];
          }),
        },
      ],
      goals: [
        {
          name: `Added by the gateway to the first byte, p50: ${GOAL_MS} ms, or ${GOAL_RATIO} times what the proxy adds`,
          unit: 'ms',
          is_least: false,
          goal: Math.max(GOAL_MS, GOAL_RATIO * of_proxy),
          measured: plan.kind === 'quick' ? null : of_gateway,
        },
      ],
      notes: ['The provider is a fake one on loopback that begins its answer at once.'],
      problems: [],
    };
  } finally {
    workspace.client.close();
    for (const child of children) child.kill('SIGKILL');
    await dispatcher.destroy();
    provider.closeAllConnections();
    provider.close();
    await rm(directory, { recursive: true, force: true });
  }
}

type P = ReturnType<typeof percentilesOf>;
