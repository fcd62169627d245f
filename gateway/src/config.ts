import { readFileSync } from 'node:fs';
import type { PriceTable, Provider } from './prices/price-table.ts';
import { PriceFileError, readPrices } from './prices/read-prices.ts';

/** A variable with a value that is not allowed. The message is one line: variable, value, what is allowed. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** A provider that calls are passed on to. */
export interface Upstream {
  provider: Provider;
  /** The merchant of its leases. */
  name: string;
  url: string;
  key: string;
}

export interface Config {
  port: number;
  host: string;
  purser_url: string;
  adapter_key: string;
  data_dir: string;
  prices: PriceTable;
  upstreams: Partial<Record<Provider, Upstream>>;
  lease_minor: number;
  lease_ms: number;
  idle_ms: number;
  check_ms: number;
  wait_ms: number;
  call_ms: number;
  default_output_tokens: number;
  min_output_tokens: number;
  on_client_abort: 'drain' | 'stop';
}

type Env = Readonly<Record<string, string | undefined>>;

/** The built-in prices, which lie beside the sources and what is built of them. */
const BUILT_IN = new URL('../prices.json', import.meta.url);

/** Keys are named and never shown. */
const shown = (name: string, value: string) =>
  name.endsWith('_KEY') ? '(not shown)' : JSON.stringify(value.slice(0, 200));

function refuse(name: string, value: string | undefined, allowed: string): never {
  throw new ConfigError(
    `${name} is ${value === undefined ? 'not set' : shown(name, value)}, and must be ${allowed}.`,
  );
}

function numberOf(env: Env, name: string, fallback: number, min: number, max: number): number {
  const value = env[name];
  if (value === undefined || value === '') return fallback;
  const number = Number(value);
  const is_in_range = /^\d{1,12}$/.test(value) && number >= min && number <= max;
  return is_in_range ? number : refuse(name, value, `a whole number from ${min} to ${max}`);
}

function urlOf(env: Env, name: string, fallback: string): string {
  const value = env[name] || fallback;
  const url = URL.canParse(value) ? new URL(value) : null;
  const is_plain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!is_plain || url.username !== '' || url.password !== '')
    return refuse(name, value, 'an http or https address without a query, a fragment or a password');
  return value.replace(/\/+$/, '');
}

function keyOf(env: Env, name: string): string | undefined {
  const value = env[name];
  if (value === undefined || value === '') return undefined;
  return /^[\x21-\x7e]{1,500}$/.test(value)
    ? value
    : refuse(name, value, '1 to 500 visible ASCII characters');
}

function upstreamOf(env: Env, provider: Provider, url: string, name: string): Upstream | undefined {
  const prefix = provider.toUpperCase();
  const key = keyOf(env, `${prefix}_API_KEY`);
  const upstream = urlOf(env, `${prefix}_UPSTREAM`, url);
  const merchant = env[`${prefix}_NAME`] || name;
  if (!/^[^\p{C}]{1,200}$/u.test(merchant))
    refuse(`${prefix}_NAME`, merchant, '1 to 200 characters in one line');
  return key === undefined ? undefined : { provider, key, url: upstream, name: merchant };
}

function pricesOf(env: Env): PriceTable {
  const built_in = readFileSync(BUILT_IN, 'utf8');
  const file = env.PRICES_FILE;
  if (file === undefined || file === '') return readPrices(built_in, null);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return refuse('PRICES_FILE', file, 'the path of a file that can be read');
  }
  try {
    return readPrices(built_in, text);
  } catch (error) {
    if (!(error instanceof PriceFileError)) throw error;
    return refuse('PRICES_FILE', file, `a file of prices: in it ${error.message}`);
  }
}

/** The settings of a gateway. Throws a `ConfigError` for a value that is not allowed. */
export function readConfig(env: Env): Config {
  const adapter_key = keyOf(env, 'PURSER_ADAPTER_KEY');
  if (adapter_key === undefined)
    return refuse('PURSER_ADAPTER_KEY', undefined, 'a key of Purser with the scope consume');
  const openai = upstreamOf(env, 'openai', 'https://api.openai.com', 'OpenAI');
  const anthropic = upstreamOf(env, 'anthropic', 'https://api.anthropic.com', 'Anthropic');
  const abort = env.ON_CLIENT_ABORT || 'drain';
  if (abort !== 'drain' && abort !== 'stop') refuse('ON_CLIENT_ABORT', abort, 'drain or stop');
  const seconds = (name: string, fallback: number, min: number, max: number) =>
    numberOf(env, name, fallback, min, max) * 1000;
  return {
    port: numberOf(env, 'PORT', 8081, 0, 65_535),
    host: env.HOST || '127.0.0.1',
    purser_url: urlOf(env, 'PURSER_URL', 'http://127.0.0.1:8080'),
    adapter_key,
    data_dir: env.GATEWAY_DATA_DIR || '.data/gateway',
    prices: pricesOf(env),
    upstreams: { ...(openai && { openai }), ...(anthropic && { anthropic }) },
    lease_minor: numberOf(env, 'LEASE_MINOR', 200, 1, 1_000_000_000),
    lease_ms: seconds('LEASE_SECONDS', 300, 1, 86_400),
    idle_ms: seconds('LEASE_IDLE_SECONDS', 30, 1, 86_400),
    check_ms: seconds('CHECK_SECONDS', 5, 1, 300),
    wait_ms: seconds('WAIT_SECONDS', 10, 0, 60),
    call_ms: seconds('CALL_SECONDS', 600, 1, 86_400),
    default_output_tokens: numberOf(env, 'DEFAULT_OUTPUT_TOKENS', 16_384, 1, 10_000_000),
    min_output_tokens: numberOf(env, 'MIN_OUTPUT_TOKENS', 256, 1, 10_000_000),
    on_client_abort: abort as Config['on_client_abort'],
  };
}
