import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import { makeLog } from '../../src/log.ts';
import type { FakeProvider } from './fake-provider.ts';

/** Prices of the tests: one token of output costs USD 0.00001, a thousandth of a cent. */
export const PRICES = {
  models: (['openai', 'anthropic'] as const).map((provider) => ({
    provider,
    model: 'test-model',
    currency: 'USD',
    per_million: { input: '2', cached_input: '0.5', cache_write: '2.5', cache_write_1h: '4', output: '10' },
    tiers: { fast: { input: '4', output: '20' } },
    context_window: 200_000,
    max_output_tokens: 8_000,
    image_tokens: 1_000,
    source: 'https://example.com/prices',
    as_of: '2026-11-20',
  })),
};

export interface TestGateway extends Gateway {
  directory: string;
  /** Lines of the log. */
  lines: string[];
  journal(): string;
  /** Stops it and starts another one on its journal. */
  again(): Promise<TestGateway>;
  remove(): Promise<void>;
}

/** Settings of a gateway with the tests' prices, and with both providers at one address. */
export function environmentOf(
  purser_url: string,
  provider_url: string,
  directory: string,
): Record<string, string> {
  const prices_file = join(directory, 'prices.json');
  writeFileSync(prices_file, JSON.stringify(PRICES));
  return {
    PORT: '0',
    PURSER_URL: purser_url,
    PURSER_ADAPTER_KEY: 'sk_adapter',
    PRICES_FILE: prices_file,
    GATEWAY_DATA_DIR: directory,
    OPENAI_API_KEY: 'sk-provider-openai',
    OPENAI_UPSTREAM: provider_url,
    ANTHROPIC_API_KEY: 'sk-provider-anthropic',
    ANTHROPIC_UPSTREAM: provider_url,
    DEFAULT_OUTPUT_TOKENS: '1000',
    MIN_OUTPUT_TOKENS: '10',
  };
}

/** A gateway of this process, with both providers at the fake one. */
export async function startTestGateway(
  purser_url: string,
  provider: Pick<FakeProvider, 'url'>,
  env: Record<string, string> = {},
  directory = mkdtempSync(join(tmpdir(), 'purser-gateway-')),
): Promise<TestGateway> {
  const lines: string[] = [];
  const config = readConfig({
    ...environmentOf(purser_url, provider.url, directory),
    WAIT_SECONDS: '0',
    ...env,
  });
  const gateway = await startGateway(
    config,
    makeLog((line) => void lines.push(line)),
  );
  return {
    ...gateway,
    directory,
    lines,
    journal: () => readFileSync(join(directory, 'journal.jsonl'), 'utf8'),
    async again() {
      await gateway.stop();
      return startTestGateway(purser_url, provider, env, directory);
    },
    async remove() {
      await gateway.stop().catch(() => {});
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface CallOptions {
  key?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The answer to a call with a wish, once its head has come. */
export const send = (
  url: string,
  path: string,
  body: Record<string, unknown>,
  options: CallOptions = {},
): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${options.key ?? 'sk_agent'}`,
      ...options.headers,
    },
    body: JSON.stringify(body),
    ...(options.signal && { signal: options.signal }),
  });

/** The answer to a call with a wish, read to its end. */
export async function ask(
  ...call: Parameters<typeof send>
): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await send(...call);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** A call's body with a wish for the fake provider. */
export const calling = (wish: object, more: Record<string, unknown> = {}) => ({
  model: 'test-model',
  messages: [{ role: 'user', content: JSON.stringify(wish) }],
  ...more,
});
