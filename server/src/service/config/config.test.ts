import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig, renderConfigurationReference, SETTINGS } from './config.ts';
import { weaknessOf } from './secret-key.ts';

const SECRET = randomBytes(32);

function problemOf(env: Record<string, string>): string {
  try {
    readConfig(env, '/srv');
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error(`${JSON.stringify(env)} was accepted`);
}

test('an empty environment gives the defaults of the table, and empty variables count as unset', () => {
  const expected = {
    port: 8080,
    host: '127.0.0.1',
    metrics_host: null,
    metrics_port: null,
    keep_alive_seconds: 72,
    database_url: null,
    data_dir: '/srv/.data',
    secret_key: null,
    secret_keys_old: [],
    bootstrap_admin_key: null,
    bootstrap_plan: 'team',
    rate_limit_per_minute: 600,
    unknown_key_limit_per_minute: 30,
    redis_url: null,
    trusted_proxies: [],
    webhook_allow_private_network: false,
    allow_untested_engine: false,
    webhook_retry_first_ms: 30_000,
    webhook_retry_max_ms: 300_000,
    webhook_timeout_ms: 10_000,
    serve_processes: 1,
    capability_ttl_seconds: 900,
    review_ttl_seconds: 86_400,
    purpose_merchants_file: null,
    purpose_model_url: null,
    purpose_model: null,
    purpose_model_api_key: null,
    purpose_model_prices: null,
    purpose_model_protocol: 'auto',
    purpose_model_required: false,
    purpose_model_may_clear: false,
    purpose_model_preset: 'auto',
    purpose_model_timeout_ms: null,
    purpose_model_daily_limit: null,
    purpose_model_max_concurrent: 16,
    purpose_model_parameters: { temperature: 0, max_tokens: 500 },
    gateway_port: null,
    purser_adapter_key: null,
    public_url: null,
    session_hours: 12,
    session_idle_minutes: 30,
    reauthenticate_minutes: 15,
    bootstrap_admin_email: null,
    bootstrap_admin_password_file: null,
    smtp_url: null,
    smtp_from: null,
    slack_api_url: 'https://slack.com/api',
    import_max_mib: 64,
    oidc_issuer: null,
    oidc_client_id: null,
    oidc_client_secret: null,
    oidc_name: 'single sign-on',
    oidc_scopes: 'openid email profile',
    oidc_allowed_domains: [],
    oidc_default_role: 'none',
    oidc_role_claim: null,
    oidc_role_admin: null,
    oidc_role_reviewer: null,
    oidc_role_viewer: null,
    password_sign_in: 'on',
    otel_exporter_otlp_endpoint: null,
    log_level: 'info',
  };
  const config = readConfig({}, '/srv');
  expect(config).toEqual(expected);
  expect(Object.isFrozen(config)).toBe(true);
  const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '']));
  expect(readConfig(empty, '/srv')).toEqual(expected);
});

test('right values are taken over, typed', () => {
  const config = readConfig(
    {
      PORT: '0',
      HOST: '::1',
      DATABASE_URL: 'postgres://u:p@db.example:5433/purser?sslmode=require',
      DATA_DIR: '/var/lib/purser',
      SECRET_KEY: SECRET.toString('hex'),
      BOOTSTRAP_ADMIN_KEY: `sk_${'a'.repeat(24)}`,
      BOOTSTRAP_PLAN: 'enterprise',
      TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1,2001:db8::/32',
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      PURPOSE_MODEL_URL: 'https://models.example/v1/chat/completions',
      PURPOSE_MODEL: 'judge-1',
      PURPOSE_MODEL_MAY_CLEAR: 'true',
      PURPOSE_MODEL_TIMEOUT_MS: '250',
      PURPOSE_MODEL_PARAMETERS: '{"seed":1}',
      LOG_LEVEL: 'debug',
    },
    '/srv',
  );
  expect(config).toMatchObject({
    port: 0,
    host: '::1',
    data_dir: '/var/lib/purser',
    secret_key: SECRET,
    bootstrap_plan: 'enterprise',
    trusted_proxies: ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'],
    webhook_allow_private_network: true,
    purpose_model: 'judge-1',
    purpose_model_may_clear: true,
    purpose_model_timeout_ms: 250,
    purpose_model_parameters: { seed: 1 },
    log_level: 'debug',
  });
});

test('a wrong value is refused in one line that names the variable, the value and what is allowed', () => {
  expect(problemOf({ PORT: 'http' })).toBe('PORT is "http", but must be a whole number from 0 to 65535.');
  expect(problemOf({ BOOTSTRAP_PLAN: 'Team' })).toBe(
    'BOOTSTRAP_PLAN is "Team", but must be one of free, team, enterprise.',
  );
});

describe.each([
  ['PORT', ['-1', '65536', '80.5', '0x50', ' 80', '1e3', 'NaN']],
  ['HOST', ['local host', 'http://localhost', '127.0.0.1:8080', '[::1]', '127.0.1', '256.1.1.1', '-a']],
  ['REDIS_URL', ['http://redis', 'redis', 'redis//redis:6379']],
  ['DATABASE_URL', ['mysql://db/purser', 'db.example', 'http://db', 'postgres//db']],
  ['DATA_DIR', ['a\0b']],
  ['BOOTSTRAP_PLAN', ['pro', 'TEAM']],
  ['SERVE_PROCESSES', ['0', '65', 'all', '1.5', '-1']],
  ['RATE_LIMIT_PER_MINUTE', ['0', '-5', 'many', '600/min']],
  ['UNKNOWN_KEY_LIMIT_PER_MINUTE', ['0', 'off']],
  [
    'TRUSTED_PROXIES',
    ['10.0.0.0/33', '10.0.0.0/0', '::/0', 'proxy.example', '10.0.0.1;10.0.0.2', ',', '10/8'],
  ],
  ['WEBHOOK_ALLOW_PRIVATE_NETWORK', ['1', 'yes', 'TRUE']],
  ['ALLOW_UNTESTED_ENGINE', ['1', 'yes']],
  ['WEBHOOK_RETRY_FIRST_MS', ['0', '30s']],
  ['WEBHOOK_RETRY_MAX_MS', ['0', '5m']],
  ['WEBHOOK_TIMEOUT_MS', ['0', '10s']],
  ['CAPABILITY_TTL_SECONDS', ['0', '15m']],
  ['REVIEW_TTL_SECONDS', ['0', '1d']],
  ['PURPOSE_MERCHANTS_FILE', ['/nowhere/merchants.txt', '.', 'a\0b']],
  ['PURPOSE_MODEL_URL', ['models.example', 'ftp://models.example', 'https://u:p@models.example']],
  ['PURPOSE_MODEL_MAY_CLEAR', ['yes', '1']],
  ['PURPOSE_MODEL_REQUIRED', ['yes', '1']],
  ['PURPOSE_MODEL_TIMEOUT_MS', ['0', '60001', '1.5s']],
  ['PURPOSE_MODEL_MAX_CONCURRENT', ['0', '1001']],
  [
    'PURPOSE_MODEL_PARAMETERS',
    ['temperature=0', '[]', 'null', '{"model":"other"}', '{"response_format":null}', '{"stream":true}'],
  ],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', ['collector:4318', 'grpc://collector:4317', 'collector']],
  ['LOG_LEVEL', ['verbose', 'INFO']],
] as const)('%s', (name, values) => {
  test.each(values)('%j is refused', (value) => {
    const problem = problemOf({ [name]: value, SECRET_KEY: SECRET.toString('base64') });
    expect(problem.startsWith(`${name} `)).toBe(true);
    expect(problem).toContain(SETTINGS[name].allowed);
    expect(problem).not.toContain('\n');
  });
});

describe('SECRET_KEY', () => {
  test.each(['hex', 'base64', 'base64url'] as const)('is read from %s', (encoding) => {
    expect(readConfig({ SECRET_KEY: SECRET.toString(encoding) }).secret_key).toEqual(SECRET);
    expect(readConfig({ SECRET_KEY: SECRET.toString(encoding).replaceAll('=', '') }).secret_key).toEqual(
      SECRET,
    );
  });

  test('any 32 to 64 bytes come back as they were in every encoding', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 64 }),
        fc.constantFrom('hex', 'base64', 'base64url'),
        (bytes, encoding) => {
          const text = Buffer.from(bytes).toString(encoding as BufferEncoding);
          // Base64 of hexadecimal digits alone is read as hexadecimal, and is as rare as a guessed key.
          fc.pre(encoding === 'hex' || !/^[0-9a-f]+$/i.test(text));
          fc.pre(
            weaknessOf(Buffer.from(bytes), encoding === 'hex' ? null : text.replace(/=+$/, '')) === null,
          );
          expect(readConfig({ SECRET_KEY: text }).secret_key).toEqual(Buffer.from(bytes));
        },
      ),
    );
  });

  test.each([
    ['31 bytes in base64', Buffer.alloc(31, 9).toString('base64')],
    ['31 bytes in hexadecimal', Buffer.alloc(31, 9).toString('hex')],
    ['hexadecimal that would be long enough as base64', 'ab'.repeat(24)],
    ['a sentence', 'correct horse battery staple correct horse battery'],
    ['base64 with a wrong length', `${SECRET.toString('base64url')}AA`],
    ['base64 with a wrong padding', `${SECRET.toString('base64')}=`],
    ['two alphabets at once', `${'+'.repeat(22)}${'_'.repeat(22)}`],
  ])('%s is refused without showing it', (_name, value) => {
    const problem = problemOf({ SECRET_KEY: value });
    expect(problem).toContain('SECRET_KEY');
    expect(problem).toContain('at least 32 random bytes');
    expect(problem).not.toContain(value);
  });

  test.each([
    'postgres://u:hunter2@h1,h2/db?target_session_attrs=read-write',
    'postgresql://h1:5432,h2:5433/db',
    'postgresql://u@localhost/db?host=h1,h2',
    'postgresql://u@localhost/db?host=h1%2Ch2',
  ])('DATABASE_URL with several hosts is refused by that name, and shows nothing of itself: %s', (url) => {
    const problem = problemOf({ DATABASE_URL: url, SECRET_KEY: 'x' });
    expect(problem).toContain('DATABASE_URL has several hosts');
    expect(problem).not.toMatch(/hunter2|h1/);
  });
  test('is required with DATABASE_URL', () => {
    expect(problemOf({ DATABASE_URL: 'postgres://db/purser' })).toMatch(
      /^SECRET_KEY is unset, but must be at least 32 random bytes.* when DATABASE_URL is set/,
    );
  });
});

describe('secrets', () => {
  test.each([
    ['BOOTSTRAP_ADMIN_KEY', `sk_${'x'.repeat(23)}`],
    ['BOOTSTRAP_ADMIN_KEY', `pk_${'x'.repeat(40)}`],
    ['BOOTSTRAP_ADMIN_KEY', `sk_${'x'.repeat(24)} ${'y'.repeat(9)}`],
    ['PURPOSE_MODEL_API_KEY', 'secret with spaces'],
    ['DATABASE_URL', 'mysql://purser:hunter2@db/purser'],
    ['REDIS_URL', 'http://:hunter2@redis:6379'],
    ['DATABASE_URL', 'mysql://db/purser?password=hunter2'],
    ['DATABASE_URL', 'purser:hunter2@db'],
    ['PURPOSE_MODEL_URL', 'https://purser:hunter2@models.example'],
  ])('%s %j is refused without showing the secret', (name, value) => {
    const problem = problemOf({ [name]: value });
    expect(problem).toContain(name);
    expect(problem).not.toMatch(/hunter2|xxxx|secret with/);
  });
});

test('an address for the metrics without a port is refused', () => {
  expect(problemOf({ METRICS_HOST: '127.0.0.1' })).toMatch(/^METRICS_PORT is unset/);
  expect(readConfig({ METRICS_PORT: '9464' })).toMatchObject({ metrics_port: 9_464, metrics_host: null });
});

test('what means nothing without another setting is refused without it', () => {
  for (const [given, missing] of [
    [{ BOOTSTRAP_ADMIN_EMAIL: 'ada@example.com' }, 'BOOTSTRAP_ADMIN_PASSWORD_FILE'],
    [{ OIDC_ISSUER: 'https://id.example' }, 'OIDC_CLIENT_ID'],
    [{ OIDC_ROLE_CLAIM: 'groups' }, 'OIDC_ISSUER'],
    [{ PASSWORD_SIGN_IN: 'off' }, 'OIDC_ISSUER'],
  ] as const) {
    expect(() => readConfig(given)).toThrow(new RegExp(`^${missing} is unset, but must be`));
  }
});

test.each([
  'http://purser.example',
  'https://purser.example/console',
  'ftp://localhost',
  'https://user@purser.example',
  'localhost:8080',
])('sessions would travel in the clear, or nowhere, with PUBLIC_URL %s', (PUBLIC_URL) => {
  expect(() => readConfig({ PUBLIC_URL })).toThrow(/^PUBLIC_URL is "/);
});

test.each([
  ['https://Purser.example/', 'https://purser.example'],
  ['http://localhost:9090', 'http://localhost:9090'],
  ['http://127.0.0.1:9090', 'http://127.0.0.1:9090'],
])('PUBLIC_URL %s is the origin %s', (PUBLIC_URL, origin) => {
  expect(readConfig({ PUBLIC_URL }).public_url).toBe(origin);
});

test('a session lasts 12 hours, 30 minutes idle for administrators, and proves for 15 minutes; each from 1', () => {
  expect(readConfig({})).toMatchObject({
    session_hours: 12,
    session_idle_minutes: 30,
    reauthenticate_minutes: 15,
    oidc_default_role: 'none',
    password_sign_in: 'on',
  });
  for (const name of ['SESSION_HOURS', 'SESSION_IDLE_MINUTES', 'REAUTHENTICATE_MINUTES']) {
    expect(readConfig({ [name]: '1' })).toMatchObject({ [name.toLowerCase()]: 1 });
    for (const value of ['0', '-1', '1.5', '30 m']) expect(problemOf({ [name]: value })).toContain(name);
  }
});

test('an identity provider is asked in the clear on this machine alone', () => {
  const by = (OIDC_ISSUER: string) => ({ OIDC_ISSUER, OIDC_CLIENT_ID: 'purser' });
  for (const issuer of ['https://id.example', 'http://localhost:9', 'http://127.0.0.1:9']) {
    expect(readConfig(by(issuer)).oidc_issuer).toContain(issuer);
  }
  for (const issuer of ['http://id.example', 'http://127.0.0.1.example', 'ftp://localhost']) {
    expect(problemOf(by(issuer))).toMatch(/^OIDC_ISSUER is "/);
  }
});

test('a model without an address, or an address without a model, is refused', () => {
  expect(problemOf({ PURPOSE_MODEL_URL: 'https://models.example' })).toMatch(/^PURPOSE_MODEL is unset/);
  expect(problemOf({ PURPOSE_MODEL: 'judge-1' })).toMatch(/^PURPOSE_MODEL_URL is unset/);
  expect(problemOf({ PURPOSE_MODEL_API_KEY: 'abc' })).toMatch(/^PURPOSE_MODEL_URL is unset/);
  expect(problemOf({ PURPOSE_MODEL_MAY_CLEAR: 'true' })).toMatch(/^PURPOSE_MODEL_URL is unset/);
  expect(problemOf({ PURPOSE_MODEL_REQUIRED: 'true' })).toMatch(
    /^PURPOSE_MODEL_URL is unset.*when PURPOSE_MODEL_REQUIRED is true/,
  );
});

test('whatever the value, a refusal is one line', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(SETTINGS)),
      fc.string({ unit: 'binary', maxLength: 400 }),
      (name, value) => {
        try {
          readConfig({ [name]: value });
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
          expect((error as Error).message).not.toMatch(/[\r\n\u2028\u2029]/);
        }
      },
    ),
  );
});

test('the reference page has one row for every setting', () => {
  const page = renderConfigurationReference();
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const rows = page.split('\n').filter((line) => line.startsWith(`| \`${name}\` |`));
    expect(rows.length).toBe(1);
    expect(rows[0]).toContain(setting.meaning);
  }
});
