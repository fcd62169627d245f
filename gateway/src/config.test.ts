import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const KEY = { PURSER_ADAPTER_KEY: 'sk_adapter' };
const problem = (env: Record<string, string>) => {
  try {
    readConfig({ ...KEY, ...env });
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

test('only the adapter key is needed; a provider without a key is not served', () => {
  const config = readConfig({
    ...KEY,
    OPENAI_API_KEY: 'sk-provider',
    OPENAI_UPSTREAM: 'http://127.0.0.1:9/',
  });
  expect(config).toMatchObject({
    port: 8081,
    host: '127.0.0.1',
    purser_url: 'http://127.0.0.1:8080',
    data_dir: '.data/gateway',
    lease_minor: 200,
    lease_ms: 300_000,
    idle_ms: 30_000,
    check_ms: 5000,
    wait_ms: 10_000,
    call_ms: 600_000,
    default_output_tokens: 16_384,
    min_output_tokens: 256,
    on_client_abort: 'drain',
  });
  expect(Object.keys(config.upstreams)).toEqual(['openai']);
  expect(config.upstreams.openai).toMatchObject({ name: 'OpenAI', url: 'http://127.0.0.1:9' });
});

test.each<[Record<string, string>, string]>([
  [{ PORT: '70000' }, 'PORT is "70000", and must be a whole number from 0 to 65535.'],
  [{ CHECK_SECONDS: '0' }, 'CHECK_SECONDS is "0", and must be a whole number from 1 to 300.'],
  [{ WAIT_SECONDS: '61' }, 'WAIT_SECONDS is "61", and must be a whole number from 0 to 60.'],
  [{ LEASE_MINOR: '1.5' }, 'LEASE_MINOR is "1.5", and must be a whole number from 1 to 1000000000.'],
  [{ ON_CLIENT_ABORT: 'wait' }, 'ON_CLIENT_ABORT is "wait", and must be drain or stop.'],
  [
    { PURSER_URL: 'ftp://x' },
    'PURSER_URL is "ftp://x", and must be an http or https address without a query, a fragment or a password.',
  ],
  [
    { OPENAI_API_KEY: 'with space' },
    'OPENAI_API_KEY is (not shown), and must be 1 to 500 visible ASCII characters.',
  ],
  [
    { PRICES_FILE: '/nowhere' },
    'PRICES_FILE is "/nowhere", and must be the path of a file that can be read.',
  ],
  [
    { PURSER_ADAPTER_KEY: '' },
    'PURSER_ADAPTER_KEY is not set, and must be a key of Purser with the scope consume.',
  ],
])('a value that is not allowed is one line that says what is: %j', (env, message) => {
  expect(problem(env)).toBe(message);
});

test('a bad price file is named by its field', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'purser-prices-')), 'prices.json');
  writeFileSync(file, JSON.stringify({ models: [{ provider: 'openai' }] }));
  expect(problem({ PRICES_FILE: file })).toBe(
    `PRICES_FILE is ${JSON.stringify(file)}, and must be a file of prices: in it models[0].model must be a text of 1 to 300 characters.`,
  );
});
