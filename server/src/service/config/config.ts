import { resolve } from 'node:path';
import { ROLES } from '@purser/contract/values/scopes';
import { GATEWAY_SETTINGS } from './gateway-settings.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';
import { MODEL_SETTINGS } from './model-settings.ts';
import {
  boolean,
  ConfigError,
  is,
  MAX_OLD_SECRET_KEYS,
  MAX_PROCESSES,
  oneOf,
  optional,
  parseAdminKey,
  parseDatabaseUrl,
  parseDomains,
  parseEmail,
  parseHost,
  parseIssuer,
  parseMerchantsFile,
  parseName,
  parseOldSecretKeys,
  parseProcesses,
  parseProxies,
  parsePublicUrl,
  parseSecretKey,
  parseSlackApiUrl,
  parseUrl,
  parseVisible,
  type Setting,
  Wrong,
  wholeNumber,
  withDefault,
} from './parse.ts';
import { SECRET_KEY_MIN_BYTES } from './secret-key.ts';

export { ConfigError } from './parse.ts';

const YEAR_SECONDS = 31_536_000;
const DAY_MS = 86_400_000;

/**
 * Every environment variable the service reads, once: `readConfig` checks by this table and the reference page
 * is generated from it. An empty variable counts as unset.
 */
export const SETTINGS = {
  PORT: withDefault('8080', {
    ...wholeNumber(0, 65_535),
    meaning: 'Port to listen on; 0 picks a free one and prints it.',
  }),
  HOST: withDefault('127.0.0.1', {
    allowed: 'an IP address or a host name',
    meaning: 'Address to listen on; 0.0.0.0 or :: for all addresses.',
    parse: parseHost,
  }),
  METRICS_HOST: optional('HOST', {
    allowed: 'an IP address or a host name',
    meaning: 'Address at which /metrics answers instead of the public one; needs METRICS_PORT.',
    parse: parseHost,
  }),
  METRICS_PORT: optional('/metrics answers at the public address', {
    ...wholeNumber(0, 65_535),
    meaning:
      'Port at which /metrics answers instead of the public one; 0 picks a free one, which is logged. Metrics cover all workspaces, so keep them private.',
  }),
  SERVE_PROCESSES: withDefault('1', {
    allowed: `auto or a whole number from 1 to ${MAX_PROCESSES}`,
    meaning:
      'Number of processes behind the one port. auto uses one per core, less one for PostgreSQL, as far as 256 MB of memory and the database connections of each allow, and at least one. Each process uses up to 36 database connections.',
    parse: parseProcesses,
  }),
  KEEP_ALIVE_SECONDS: withDefault('72', {
    ...wholeNumber(1, 86_400),
    meaning:
      'How long a connection may be idle between two requests; set it longer than the idle timeout of the proxy or load balancer.',
  }),
  DATABASE_URL: optional('the embedded PostgreSQL in DATA_DIR', {
    allowed: 'a URL that begins with postgres:// or postgresql://',
    meaning: 'A PostgreSQL server, version 15 or later, to use instead of the embedded one.',
    parse: parseDatabaseUrl,
  }),
  DATA_DIR: withDefault('.data', {
    allowed: 'a path to a directory',
    meaning:
      'Directory of the embedded database, the generated secrets and the checkpoints; a relative path is relative to the working directory.',
    parse: (text, cwd) => (text.includes('\0') ? is(text) : resolve(cwd, text)),
  }),
  SECRET_KEY: optional('generated into DATA_DIR', {
    allowed: `at least ${SECRET_KEY_MIN_BYTES} random bytes, written in base64 or hexadecimal`,
    meaning:
      'The secret that all others are derived from; required with DATABASE_URL, and the same on every node. Back it up: without it no existing key works.',
    parse: parseSecretKey,
  }),
  SECRET_KEYS_OLD: withDefault('', {
    allowed: `at most ${MAX_OLD_SECRET_KEYS} other secret keys, each as SECRET_KEY is written, separated by commas`,
    meaning:
      'Earlier secret keys, or the next one. They can still read existing secrets; new secrets use SECRET_KEY.',
    parse: parseOldSecretKeys,
  }),
  BOOTSTRAP_ADMIN_KEY: optional('a random key', {
    allowed: 'sk_ and at least 24 more visible ASCII characters, at most 255 in total',
    meaning: 'Value of the first admin key; read only while no workspace exists.',
    parse: parseAdminKey,
  }),
  BOOTSTRAP_PLAN: withDefault('team', {
    ...oneOf(['free', 'team', 'enterprise']),
    meaning: 'Plan of the first workspace; read only while no workspace exists.',
  }),
  RATE_LIMIT_PER_MINUTE: withDefault('600', {
    ...wholeNumber(1, 10_000_000),
    meaning: 'Requests per minute and key.',
  }),
  UNKNOWN_KEY_LIMIT_PER_MINUTE: withDefault('30', {
    ...wholeNumber(1, 10_000_000),
    meaning: 'Requests per minute and client address with a missing, unknown, revoked or expired key.',
  }),
  REDIS_URL: optional('each node counts separately', {
    allowed: 'a URL that begins with redis:// or rediss://',
    meaning:
      'A Redis server in which all nodes count requests together for both limits; while it is unreachable, each node counts separately.',
    parse: (text) => parseUrl(text, ['redis:', 'rediss:']),
  }),
  TRUSTED_PROXIES: withDefault('', {
    allowed: 'IP addresses and CIDR ranges, separated by commas, no range being /0',
    meaning: 'Proxies whose x-forwarded-for header is trusted.',
    parse: (text) => (text === '' ? Object.freeze([]) : parseProxies(text)),
  }),
  WEBHOOK_ALLOW_PRIVATE_NETWORK: withDefault('false', {
    ...boolean,
    meaning:
      'true allows webhook endpoints with http:// and at loopback or private addresses; only for development and tests.',
  }),
  ALLOW_UNTESTED_ENGINE: withDefault('false', {
    ...boolean,
    meaning:
      'true starts the service on CockroachDB or YugabyteDB, which nobody has tested; otherwise the start refuses them.',
  }),
  IMPORT_MAX_MIB: withDefault('64', {
    ...wholeNumber(1, 1_024),
    meaning: 'Largest file of an import, in MiB.',
  }),
  WEBHOOK_RETRY_FIRST_MS: withDefault('30000', {
    ...wholeNumber(1, DAY_MS),
    meaning:
      'Milliseconds between the first failed webhook attempt and the second; doubles with each further attempt.',
  }),
  WEBHOOK_RETRY_MAX_MS: withDefault('300000', {
    ...wholeNumber(1, DAY_MS),
    meaning: 'The longest wait between webhook attempts, in milliseconds.',
  }),
  WEBHOOK_TIMEOUT_MS: withDefault('10000', {
    ...wholeNumber(1, 600_000),
    meaning: 'Milliseconds within which an endpoint must respond with a 2xx status.',
  }),
  CAPABILITY_TTL_SECONDS: withDefault('900', {
    ...wholeNumber(1, YEAR_SECONDS),
    meaning: 'Lifetime of a capability, in seconds.',
  }),
  REVIEW_TTL_SECONDS: withDefault('86400', {
    ...wholeNumber(1, YEAR_SECONDS),
    meaning: 'Time until a pending review in ENFORCE expires, in seconds.',
  }),
  PURPOSE_MERCHANTS_FILE: optional('the built-in tables alone', {
    allowed: 'the path of a readable text file with a line "name; trade" for each merchant',
    meaning:
      'Merchants for the purpose assessor to know in addition to its built-in tables; read once, at the start.',
    parse: parseMerchantsFile,
  }),
  ...MODEL_SETTINGS,
  ...GATEWAY_SETTINGS,
  PUBLIC_URL: optional('http://localhost:PORT, for browsers on the same machine', {
    allowed: 'a URL that begins with https://, or http:// on localhost or a loopback address, without a path',
    meaning:
      'Where browsers find this service: the origin of cookies, links, redirects and passkeys. Behind a proxy that speaks https it is the address of the proxy.',
    parse: parsePublicUrl,
  }),
  SLACK_API_URL: withDefault('https://slack.com/api', {
    allowed: 'https://slack.com/api, or an http:// URL on localhost or a loopback address',
    meaning: 'The Web API of Slack, for channels of the type slack_app; another one is for tests.',
    parse: parseSlackApiUrl,
  }),
  SESSION_HOURS: withDefault('12', {
    ...wholeNumber(1, 8_760),
    meaning: "Maximum length of a person's session.",
  }),
  SESSION_IDLE_MINUTES: withDefault('30', {
    ...wholeNumber(1, 525_600),
    meaning:
      'Idle minutes after which an administrator is signed out; other people are signed out after 8 hours, or after this time if it is longer.',
  }),
  REAUTHENTICATE_MINUTES: withDefault('15', {
    ...wholeNumber(1, 525_600),
    meaning:
      'How long after signing in a person may create admin keys, change roles, invite administrators, switch to ENFORCE, rotate secrets and add passkeys without confirming their identity again.',
  }),
  BOOTSTRAP_ADMIN_EMAIL: optional('a code for the first administrator is printed', {
    allowed: 'an e-mail address',
    meaning:
      'E-mail of the first administrator, created at the start; needs BOOTSTRAP_ADMIN_PASSWORD_FILE; read only while no account exists.',
    parse: parseEmail,
  }),
  BOOTSTRAP_ADMIN_PASSWORD_FILE: optional('a code for the first administrator is printed', {
    allowed: 'the path of a file with a password of 12 to 256 characters',
    meaning:
      'File with the password of BOOTSTRAP_ADMIN_EMAIL; read only while no account exists. A line break at its end is ignored.',
    parse: (text, cwd) => (text.includes('\0') ? is(text) : resolve(cwd, text)),
  }),
  ...MAIL_SETTINGS,
  OIDC_ISSUER: optional('no sign-in through an identity provider', {
    allowed: 'a URL that begins with https://, or http:// on localhost or a loopback address',
    meaning:
      'An identity provider that speaks OpenID Connect; its redirect address is PUBLIC_URL with /v1/auth/oidc/callback.',
    parse: parseIssuer,
  }),
  OIDC_CLIENT_ID: optional('no identity provider', {
    allowed: 'visible ASCII characters, 1,000 at most',
    meaning: 'Client id of this service at the provider; required with OIDC_ISSUER.',
    parse: parseVisible,
  }),
  OIDC_CLIENT_SECRET: optional('a public client', {
    allowed: 'visible ASCII characters, 1,000 at most',
    meaning: 'The client secret from the provider.',
    parse: parseVisible,
  }),
  OIDC_NAME: withDefault('single sign-on', {
    allowed: '1 to 64 characters',
    meaning: 'Name of the provider on the sign-in page.',
    parse: parseName,
  }),
  OIDC_SCOPES: withDefault('openid email profile', {
    allowed: 'scopes separated by spaces, including openid',
    meaning: 'Scopes requested from the provider.',
    parse: (text) =>
      /^[!-~]+( [!-~]+)*$/.test(text) && text.split(' ').includes('openid') ? text : is(text),
  }),
  OIDC_ALLOWED_DOMAINS: withDefault('', {
    allowed: 'e-mail domains, separated by commas',
    meaning: 'People with a verified e-mail in another domain are refused; unset allows all domains.',
    parse: parseDomains,
  }),
  OIDC_DEFAULT_ROLE: withDefault('none', {
    ...oneOf(['none', ...ROLES]),
    meaning:
      'Role in the first workspace for people who sign in through the provider without an invitation; none allows only invited people.',
  }),
  OIDC_ROLE_CLAIM: optional('roles are set in Purser', {
    allowed: 'the name of a claim, 1 to 64 characters',
    meaning:
      'Claim with the role in the first workspace, read at each sign-in; any value other than the three below changes nothing.',
    parse: parseName,
  }),
  OIDC_ROLE_ADMIN: optional('no value', {
    allowed: '1 to 64 characters',
    meaning: 'Value of OIDC_ROLE_CLAIM (or an item, if it is a list) that gives the role admin.',
    parse: parseName,
  }),
  OIDC_ROLE_REVIEWER: optional('no value', {
    allowed: '1 to 64 characters',
    meaning: 'The same for the role reviewer.',
    parse: parseName,
  }),
  OIDC_ROLE_VIEWER: optional('no value', {
    allowed: '1 to 64 characters',
    meaning: 'The same for the role viewer.',
    parse: parseName,
  }),
  PASSWORD_SIGN_IN: withDefault('on', {
    ...oneOf(['on', 'off']),
    meaning: 'off disables password sign-in; needs OIDC_ISSUER.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional('no traces; OpenTelemetry is not loaded', {
    allowed: 'a URL that begins with http:// or https://',
    meaning:
      'An OpenTelemetry collector that accepts OTLP over HTTP, usually at port 4318. It receives traces of requests, batches and their statements, with ids only. OpenTelemetry also reads its own variables, such as OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME and OTEL_TRACES_SAMPLER.',
    parse: (text) => parseUrl(text, ['http:', 'https:']),
  }),
  LOG_LEVEL: withDefault('info', {
    ...oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    meaning: 'Lowest level of the messages that are logged, as JSON lines on standard output.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

/** The checked settings: the variable's name in lower case, its value parsed. */
export type Config = Readonly<{
  [Name in SettingName as Lowercase<Name>]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
}>;

function must(name: SettingName, problem: string, addition = ''): ConfigError {
  return new ConfigError(`${name} ${problem}, but must be ${SETTINGS[name].allowed}${addition}.`);
}

/** Settings that mean nothing without the other one. */
const BOTH_OR_NONE: readonly (readonly [SettingName, SettingName])[] = [
  ['BOOTSTRAP_ADMIN_EMAIL', 'BOOTSTRAP_ADMIN_PASSWORD_FILE'],
  ['BOOTSTRAP_ADMIN_PASSWORD_FILE', 'BOOTSTRAP_ADMIN_EMAIL'],
  ['SMTP_URL', 'SMTP_FROM'],
  ['SMTP_FROM', 'SMTP_URL'],
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID'],
  ['OIDC_CLIENT_ID', 'OIDC_ISSUER'],
  ['OIDC_CLIENT_SECRET', 'OIDC_ISSUER'],
  ['OIDC_ROLE_CLAIM', 'OIDC_ISSUER'],
  ['OIDC_ROLE_ADMIN', 'OIDC_ROLE_CLAIM'],
  ['OIDC_ROLE_REVIEWER', 'OIDC_ROLE_CLAIM'],
  ['OIDC_ROLE_VIEWER', 'OIDC_ROLE_CLAIM'],
];

const isSet = (config: Config, name: SettingName) =>
  config[name.toLowerCase() as Lowercase<SettingName>] !== null;

/**
 * Checks an environment and returns it as a frozen object. `cwd` is where a relative DATA_DIR starts.
 * Throws `ConfigError`, whose message is exactly one line, for the first wrong variable in the table's order.
 */
export function readConfig(env: Record<string, string | undefined>, cwd: string = process.cwd()): Config {
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(SETTINGS)) {
    const name = key as SettingName;
    const text = env[name] === undefined || env[name] === '' ? setting.default : env[name];
    const value = text === null ? setting.unset : setting.parse(text, cwd);
    if (value instanceof Wrong) throw must(name, value.problem);
    values[name.toLowerCase()] = value;
  }
  const config = Object.freeze(values) as Config;
  if (config.database_url !== null && config.secret_key === null) {
    throw must('SECRET_KEY', 'is unset', ' when DATABASE_URL is set, the same on every node');
  }
  if (config.metrics_host !== null && config.metrics_port === null) {
    throw must('METRICS_PORT', 'is unset', ' when METRICS_HOST is set');
  }
  for (const [name, other] of BOTH_OR_NONE) {
    if (isSet(config, name) && !isSet(config, other)) throw must(other, 'is unset', ` when ${name} is set`);
  }
  if (config.password_sign_in === 'off' && config.oidc_issuer === null) {
    throw must('OIDC_ISSUER', 'is unset', ' when PASSWORD_SIGN_IN is off');
  }
  const { secret_key, secret_keys_old } = config;
  if (secret_key !== null && secret_keys_old.some((old) => old.equals(secret_key))) {
    throw must('SECRET_KEYS_OLD', 'contains SECRET_KEY itself (not shown)');
  }
  if (config.purpose_model_url !== null && config.purpose_model === null) {
    throw must('PURPOSE_MODEL', 'is unset', ' when PURPOSE_MODEL_URL is set');
  }
  // A model or its key without an address would be a second opinion that is silently never asked for.
  for (const name of ['purpose_model', 'purpose_model_api_key'] as const) {
    if (config[name] !== null && config.purpose_model_url === null) {
      throw must('PURPOSE_MODEL_URL', 'is unset', ` when ${name.toUpperCase()} is set`);
    }
  }
  const { purpose_model_daily_limit: limit, purpose_model_prices: prices } = config;
  if (limit !== null && 'cost_micros' in limit && limit.currency !== prices?.currency) {
    throw must(
      'PURPOSE_MODEL_PRICES',
      'has no price in it',
      ` when PURPOSE_MODEL_DAILY_LIMIT is in ${limit.currency}`,
    );
  }
  for (const name of ['purpose_model_required', 'purpose_model_may_clear'] as const) {
    if (config[name] && config.purpose_model_url === null) {
      throw must('PURPOSE_MODEL_URL', 'is unset', ` when ${name.toUpperCase()} is true`);
    }
  }
  return config;
}

/** The text of docs/reference/configuration.md, generated from the table. */
export function renderConfigurationReference(): string {
  const code = (text: string) => `\`${text}\``;
  const rows = Object.entries(SETTINGS).map(([name, setting]) => {
    const unset = setting.default === '' ? 'none' : setting.default === null ? setting.when_unset : null;
    const cells = [code(name), unset ?? code(setting.default ?? ''), setting.allowed, setting.meaning];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [
    '# Configuration',
    '',
    'Generated from `server/src/service/config/config.ts`.',
    '',
    'The service is configured only by environment variables. An empty variable counts as unset. All of them are',
    'checked at the start: a wrong value stops the start with one line that names the variable, the value (unless it is',
    'secret) and what is allowed.',
    '',
    '| Variable | If unset | Allowed | Meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
