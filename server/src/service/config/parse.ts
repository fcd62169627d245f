import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { EMAIL } from '@purser/contract/values/people';
import { normaliseEmail } from '@purser/rules/domain/people';
import { MerchantsFileError, type OwnMerchant, parseMerchants } from '@purser/rules/purpose/own-merchants';
import { isActiveCurrency } from '@purser/rules/values/money';
import ipaddr from 'ipaddr.js';
import { SECRET_KEY_MIN_BYTES, weaknessOf } from './secret-key.ts';

/** A setting is wrong. The message is one line: the variable, its value unless secret, and what is allowed. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

/** Returned by a parser: what is wrong with a text, as the words between the variable's name and "but must be". */
export class Wrong {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }
}

export type Parse<T> = (text: string, cwd: string) => T | Wrong;

/** One environment variable. */
export interface Setting<T> {
  /** The default, as text; null if there is none. */
  default: string | null;
  /** The behaviour if it is unset and `default` is null. */
  when_unset: string;
  /** Completes the sentence "NAME must be …". */
  allowed: string;
  /** One sentence for the reference page. */
  meaning: string;
  parse: Parse<T>;
  /** The value of an unset variable when `default` is null. */
  unset: T | undefined;
}

export type Described<T> = Pick<Setting<T>, 'allowed' | 'meaning' | 'parse'>;

/** A setting that stands at `text` where its variable is unset. */
export function withDefault<T>(text: string, setting: Described<T>): Setting<T> {
  return { ...setting, default: text, when_unset: '', unset: undefined };
}

/** A setting that is null where its variable is unset; `when_unset` says what that means. */
export function optional<T>(when_unset: string, setting: Described<T>): Setting<T | null> {
  return { ...setting, default: null, when_unset, unset: null };
}

const MAX_SHOWN_CHARACTERS = 200;

/** The value as one line, so that the message stays one line whatever was given. */
function shown(text: string): string {
  return JSON.stringify(
    text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text,
  );
}

/** A problem for a parser to return. */
export function is(text: string): Wrong {
  return new Wrong(`is ${shown(text)}`);
}

/** Accepts a whole number between the bounds, both included. */
export function wholeNumber(min: number, max: number): Pick<Setting<number>, 'allowed' | 'parse'> {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : is(text);
    },
  };
}

export const MAX_PROCESSES = 64;

/** How many processes serve; `auto` is settled at the start. */
export function parseProcesses(text: string): number | 'auto' | Wrong {
  if (text === 'auto') return text;
  return wholeNumber(1, MAX_PROCESSES).parse(text, '');
}

/** Accepts one of these words. */
export function oneOf<const T extends string>(values: readonly T[]): Pick<Setting<T>, 'allowed' | 'parse'> {
  return {
    allowed: `one of ${values.join(', ')}`,
    parse: (text) => values.find((value) => value === text) ?? is(text),
  };
}

export const boolean: Pick<Setting<boolean>, 'allowed' | 'parse'> = {
  allowed: 'true or false',
  parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : is(text)),
};

/** An address or name to listen on. */
export function parseHost(text: string): string | Wrong {
  const hostName =
    /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;
  // An all-digit name such as "127.0.1" would be read by the system as some other address.
  const looksNumeric = /^[\d.]+$/.test(text);
  return isIP(text) !== 0 || (hostName.test(text) && !looksNumeric) ? text : is(text);
}

/** The address of a PostgreSQL server. The form with several hosts is refused by name: the driver takes one. */
export function parseDatabaseUrl(text: string): string | Wrong {
  const hosts = /^postgres(?:ql)?:\/\/(?:[^@/]*@)?([^/?]*)/i.exec(text)?.[1];
  const named = /[?&]host=([^&]*)/i.exec(text)?.[1];
  if (/,|%2c/i.test(`${hosts ?? ''}${named ?? ''}`)) {
    return new Wrong(
      'has several hosts, but Purser accepts only one: give a proxy or an address that leads to the primary (the value is not shown)',
    );
  }
  return parseUrl(text, ['postgres:', 'postgresql:']);
}

/** Only the start of a refused URL is shown, because a password may be anywhere in it. */
export function parseUrl(text: string, protocols: readonly string[]): string | Wrong {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0];
  if (scheme === undefined || !URL.canParse(text)) return new Wrong('is not a URL (its value is not shown)');
  if (protocols.includes(new URL(text).protocol)) return text;
  return new Wrong(`begins with ${shown(scheme)} (the rest is not shown)`);
}

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Returns whether a URL's host name is this machine itself, where nobody else can listen to what is sent. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** An origin that browsers keep secrets for: https, or loopback. Returned without a slash at its end. */
export function parsePublicUrl(text: string): string | Wrong {
  if (!URL.canParse(text)) return is(text);
  const { protocol, hostname, pathname, search, hash, username, password, origin } = new URL(text);
  if (pathname !== '/' || search + hash + username + password !== '') return is(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname)) ? origin : is(text);
}

/** The base address of Slack's Web API: Slack itself, or a server on this machine, without a slash at its end. */
export function parseSlackApiUrl(text: string): string | Wrong {
  if (!URL.canParse(text)) return is(text);
  const { protocol, hostname, pathname, search, hash, username, password, origin } = new URL(text);
  if (search + hash + username + password !== '') return is(text);
  const base = `${origin}${pathname}`.replace(/\/+$/, '');
  const is_local = protocol === 'http:' && isLoopbackName(hostname);
  return base === 'https://slack.com/api' || is_local ? base : is(text);
}

/** The address of an identity provider. Its tokens may be read on the way nowhere but on this machine itself. */
export function parseIssuer(text: string): string | Wrong {
  if (!URL.canParse(text)) return is(text);
  const { protocol, hostname, search, hash, username, password } = new URL(text);
  if (search + hash + username + password !== '') return is(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname)) ? text : is(text);
}

const MAX_NAME = 64;

/** One line of a few words. */
export function parseName(text: string): string | Wrong {
  return text.length <= MAX_NAME && /^[^\p{Cc}]+$/u.test(text) ? text : is(text);
}

/** Domains separated by commas, in lower case. */
export function parseDomains(text: string): readonly string[] | Wrong {
  const domains = text === '' ? [] : text.split(',').map((domain) => domain.trim().toLowerCase());
  return domains.every((domain) => /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(domain))
    ? Object.freeze(domains)
    : is(text);
}

/** An e-mail address, as `normaliseEmail` compares it. */
export function parseEmail(text: string): string | Wrong {
  return EMAIL.test(text) ? normaliseEmail(text) : is(text);
}

/** The address of a chat endpoint; its credentials belong into the API key. */
export function parseModelUrl(text: string): string | Wrong {
  const url = parseUrl(text, ['http:', 'https:']);
  if (url instanceof Wrong) return url;
  const { username, password } = new URL(url);
  return username === '' && password === '' ? url : new Wrong('contains a user name or password (not shown)');
}

/** Fields that each request to the model sets itself. */
export const RESERVED_PARAMETERS = [
  'model',
  'messages',
  'response_format',
  'stream',
  'instructions',
  'input',
  'text',
  'system',
  'tools',
  'tool_choice',
] as const;

/** A JSON object of parameters that each request to the model carries. */
export function parseModelParameters(text: string): Readonly<Record<string, unknown>> | Wrong {
  let value: unknown;
  try {
    value = text.length > 2_000 ? null : JSON.parse(text);
  } catch {
    return is(text);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return is(text);
  if (RESERVED_PARAMETERS.some((name) => Object.hasOwn(value, name))) return is(text);
  return Object.freeze(value as Record<string, unknown>);
}

/** Prices per million tokens, in units of the currency. */
export interface ModelPrices {
  currency: string;
  input: number;
  cached_input: number;
  output: number;
}

const MAX_PRICE = 100_000;

/** The prices of the model. */
export function parseModelPrices(text: string): ModelPrices | Wrong {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return is(text);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return is(text);
  const { currency, input, output, cached_input = input, ...others } = value as Record<string, unknown>;
  const isPrice = (price: unknown): price is number =>
    typeof price === 'number' && price >= 0 && price <= MAX_PRICE;
  if (typeof currency !== 'string' || !isActiveCurrency(currency) || Object.keys(others).length > 0)
    return is(text);
  if (!isPrice(input) || !isPrice(output) || !isPrice(cached_input)) return is(text);
  return Object.freeze({ currency, input, cached_input, output });
}

/** The model's daily limit: tokens, or money in millionths of a unit. */
export type ModelDailyLimit = { tokens: number } | { cost_micros: number; currency: string };

/** "2000000" or "5.00 USD". */
export function parseDailyLimit(text: string): ModelDailyLimit | Wrong {
  const money = /^(\d{1,7})(\.\d{1,6})? ([A-Z]{3})$/.exec(text);
  if (money !== null && isActiveCurrency(money[3] as string)) {
    const cost_micros = Math.round(Number(`${money[1]}${money[2] ?? ''}`) * 1_000_000);
    return { cost_micros, currency: money[3] as string };
  }
  return /^\d{1,12}$/.test(text) ? { tokens: Number(text) } : is(text);
}

/** The operator's own list of merchants, read from a file; `cwd` is where relative paths begin. */
export function parseMerchantsFile(text: string, cwd: string): readonly OwnMerchant[] | Wrong {
  if (text.includes('\0')) return is(text);
  try {
    return Object.freeze(parseMerchants(readFileSync(resolve(cwd, text), 'utf8')));
  } catch (error) {
    if (error instanceof MerchantsFileError) return new Wrong(`is ${shown(text)}, which ${error.message}`);
    return new Wrong(
      `is ${shown(text)}, which cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    );
  }
}

/** A secret key that was written down; `base64` is null where that was in hexadecimal. */
export function readSecretKey(text: string): { bytes: Buffer; base64: string | null } | Wrong {
  // A text of hexadecimal digits only is read as such: that real base64 of 32 bytes has no other letter is
  // as good as impossible, and read as base64 a short hexadecimal secret would pass for a longer one.
  const isHex = /^[0-9a-f]+$/i.test(text) && text.length % 2 === 0;
  const digits = text.replace(/={1,2}$/, '');
  const isPaddedRight = digits.length === text.length || text.length % 4 === 0;
  const isBase64 =
    (/^[A-Za-z0-9+/]+$/.test(digits) || /^[A-Za-z0-9_-]+$/.test(digits)) &&
    digits.length % 4 !== 1 &&
    isPaddedRight;
  if (!isHex && !isBase64) return new Wrong('is neither base64 nor hexadecimal (its value is not shown)');
  const bytes = Buffer.from(digits, isHex ? 'hex' : 'base64');
  return bytes.length >= SECRET_KEY_MIN_BYTES
    ? { bytes, base64: isHex ? null : digits }
    : new Wrong(`is ${bytes.length} bytes long when decoded (its value is not shown)`);
}

/** A key of at least 32 bytes in base64 or hexadecimal, which no person made up. */
export function parseSecretKey(text: string): Buffer | Wrong {
  const key = readSecretKey(text);
  if (key instanceof Wrong) return key;
  const weakness = weaknessOf(key.bytes, key.base64);
  return weakness === null ? key.bytes : new Wrong(`is weak: it ${weakness} (its value is not shown)`);
}

export const MAX_OLD_SECRET_KEYS = 8;

/** Old keys may be weak: whoever has to replace one has to name it. */
export function parseOldSecretKeys(text: string): readonly Buffer[] | Wrong {
  const texts = text === '' ? [] : text.split(',').map((one) => one.trim());
  if (texts.length > MAX_OLD_SECRET_KEYS) return new Wrong(`has ${texts.length} keys (not shown)`);
  const keys: Buffer[] = [];
  for (const [i, one] of texts.entries()) {
    const key = readSecretKey(one);
    if (key instanceof Wrong) return new Wrong(`has a key, number ${i + 1}, that ${key.problem}`);
    keys.push(key.bytes);
  }
  return Object.freeze(keys);
}

/** The value of the first admin key. */
export function parseAdminKey(text: string): string | Wrong {
  if (!text.startsWith('sk_')) return new Wrong('does not begin with sk_ (its value is not shown)');
  if (!/^[\x21-\x7e]+$/.test(text)) {
    return new Wrong('contains a space or a character outside visible ASCII (its value is not shown)');
  }
  const MAX_CHARACTERS = 255;
  const characters = text.length - 'sk_'.length;
  if (characters < 24) return new Wrong(`has ${characters} characters after sk_ (its value is not shown)`);
  return text.length <= MAX_CHARACTERS
    ? text
    : new Wrong(`is ${text.length} characters long (its value is not shown)`);
}

/** `/0` is refused: it would let every client choose the address it is known by. */
function isProxyRange(text: string): boolean {
  if (isIP(text) !== 0) return !text.includes('%');
  const [address, prefix, ...rest] = text.split('/');
  if (address === undefined || prefix === undefined || rest.length > 0) return false;
  if (isIP(address) === 0 || !/^[1-9]\d{0,2}$/.test(prefix)) return false;
  return ipaddr.isValidCIDR(text);
}

/** Ranges of proxies whose word on the client address is believed. */
export function parseProxies(text: string): readonly string[] | Wrong {
  const ranges = text.split(',').map((range) => range.trim());
  const wrong = ranges.find((range) => !isProxyRange(range));
  if (wrong === undefined) return Object.freeze(ranges);
  return ranges.length === 1 ? is(text) : new Wrong(`is ${shown(text)}, where ${shown(wrong)} is wrong`);
}

/** A text without control characters. */
export function parseVisible(text: string): string | Wrong {
  return /^[\x21-\x7e]{1,1000}$/.test(text)
    ? text
    : new Wrong('contains a space or a character outside visible ASCII (its value is not shown)');
}
