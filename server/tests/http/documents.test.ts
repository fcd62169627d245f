import { ERRORS } from '@purser/contract/errors';
import { WEBHOOK_EVENTS } from '@purser/contract/webhook-events';
import { makeVerifyingKey } from '@purser/rules/domain/checkpoints';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HealthOptions, makeHealthRoutes, makeMetricsRoute } from '../../src/service/api/health.ts';
import { Fields, Line } from '../../src/service/http/schemas.ts';
import { makeMetrics } from '../../src/service/observability/metrics.ts';
import type { OpenApi } from '../../src/service/openapi/document-types.ts';
import { makeOpenApi, responseOf } from '../../src/service/openapi/openapi.ts';
import { errorOf, FAKE_ROUTES, startFakes } from '../support/http-fakes.ts';

type Fakes = Awaited<ReturnType<typeof startFakes>>;

let fakes: Fakes;
const READY = {
  skipped_events: { report: 0, learning: 2, search: 0, coverage: 0 },
  clock_ahead_seconds: 0,
  mail: 'UNUSED' as const,
  database: { engine: 'postgres' as const, nodes: [] },
};
let checkReady: HealthOptions['checkReady'] = async () => READY;
let stopping = false;
const metrics = makeMetrics();
/** A second passes between any two looks at it, so that nothing is shared. */
let clock_ms = 0;
const now_ms = () => (clock_ms += 1_000);
const health = makeHealthRoutes({
  checkReady: () => checkReady(),
  isStopping: () => stopping,
  metrics_route: makeMetricsRoute(metrics, now_ms),
  now_ms,
  checkpoint_keys: [makeVerifyingKey(Buffer.alloc(32, 1))],
  api_routes: FAKE_ROUTES,
  version: '1.2.3',
  guide_sections: [{ href: '/docs/guides/first-steps', title: 'First steps', text: 'Start the service.' }],
});
beforeAll(async () => {
  fakes = await startFakes({ routes: [...FAKE_ROUTES, ...health], metrics });
});
afterAll(() => fakes.server.close());

const open = (path: string) => fakes.ask(path, { key: null });

describe('health routes need no key', () => {
  it('/healthz answers while the database is away', async () => {
    checkReady = () => Promise.reject(new Error('down'));
    const reply = await open('/healthz');
    expect([reply.status, reply.json()]).toEqual([200, { status: 'ok' }]);
    expect(reply.headers).not.toHaveProperty('ratelimit');
  });

  it('/readyz follows the check, and a check that hangs is a failed one', async () => {
    checkReady = async () => READY;
    expect((await open('/readyz')).json()).toEqual({
      status: 'ok',
      version: '1.2.3',
      detail: { ...READY, time_zone_data: process.versions.tz },
    });
    for (const failing of [() => Promise.reject(new Error('secret')), () => new Promise<never>(() => {})]) {
      checkReady = failing;
      const reply = await open('/readyz');
      expect([reply.status, errorOf(reply).code, reply.headers['retry-after']]).toEqual([
        503,
        'unavailable',
        '1',
      ]);
      expect(reply.text).not.toContain('secret');
    }
  });

  it('/readyz says that the process stops, though all else is well, and /healthz does not', async () => {
    checkReady = async () => READY;
    stopping = true;
    const [ready, health] = [await open('/readyz'), await open('/healthz')];
    stopping = false;
    expect([ready.status, errorOf(ready), health.status]).toEqual([
      503,
      expect.objectContaining({ code: 'unavailable', message: 'Stopping.' }),
      200,
    ]);
  });

  it('/metrics tells process, requests and what the lanes report', async () => {
    metrics.countDecision('ALLOW', 'SHADOW', 'WITHIN_AUTHORITY');
    metrics.observeBatch(7, 12);
    metrics.watch('purser_lane_waiting_commands', () => 42);
    const reply = await open('/metrics');
    expect(reply.headers['content-type']).toMatch(/^text\/plain/);
    expect(reply.text).toContain(
      'purser_decisions_total{decision="ALLOW",mode="SHADOW",reason_code="WITHIN_AUTHORITY"} 1',
    );
    expect(reply.text).toContain('purser_lane_batch_commands_sum 7');
    expect(reply.text).toContain('purser_lane_commit_duration_seconds_sum 0.012');
    expect(reply.text).toContain('purser_lane_waiting_commands 42');
    expect(reply.text).toContain('process_cpu_seconds_total');
  });
});

describe('routes without a key', () => {
  it('routes without a key are counted by client address, each address by itself, but for the probes, which are never refused', async () => {
    checkReady = async () => READY;
    const routes = [...FAKE_ROUTES, ...health];
    const limited = await startFakes({
      routes,
      metrics: makeMetrics(),
      rate_limit_per_minute: 3,
      trusted_proxies: ['127.0.0.1'],
    });
    try {
      const from = (address: string, path: string) =>
        limited.ask(path, { key: null, headers: { 'x-forwarded-for': address } });
      const statuses = [];
      for (const path of ['/metrics', '/docs', '/openapi.json', '/metrics', '/docs']) {
        statuses.push((await from('192.0.2.1', path)).status);
      }
      expect(statuses).toEqual([200, 200, 200, 429, 429]);
      const refused = await from('192.0.2.1', '/.well-known/jwks.json');
      expect([refused.status, errorOf(refused).code, refused.headers['retry-after']]).toEqual([
        429,
        'rate_limited',
        '60',
      ]);
      expect((await from('192.0.2.2', '/metrics')).status).toBe(200);
      for (let i = 0; i < 10; i++) {
        expect((await from('192.0.2.1', '/healthz')).status).toBe(200);
        expect((await from('192.0.2.1', '/readyz')).status).toBe(200);
      }
    } finally {
      await limited.server.close();
    }
  });
});

describe('/openapi.json', () => {
  const document = makeOpenApi([...FAKE_ROUTES, ...health], { version: '1.2.3', events: WEBHOOK_EVENTS });

  it('/openapi.json is the document of the served routes', async () => {
    expect((await open('/openapi.json')).json()).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it("/openapi.json passes a public linter's recommended rules", async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map((problem) => `${problem.ruleId}: ${problem.message}`)).toEqual([]);
  });

  it('/openapi.json names a contact', () => {
    expect(document.info.contact.name).not.toBe('');
  });

  it('/openapi.json has every route once, with its scopes as alternatives', () => {
    const listed = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((operation) => operation.operationId),
    );
    expect(listed.sort()).toEqual([...FAKE_ROUTES, ...health].map((route) => route.operationId).sort());
    expect(document.paths['/v1/spends/{id}']?.delete?.security).toEqual([
      { ApiKey: ['admin'] },
      { ApiKey: ['review'] },
      { Session: ['admin'] },
      { Session: ['review'] },
    ]);
    expect(document.paths['/healthz']?.get?.security).toEqual([]);
  });

  it('/openapi.json lists for each operation every error that it can answer with', () => {
    const responses = document.paths['/v1/spends']?.post?.responses ?? {};
    expect(Object.keys(responses)).toEqual(['201', '400', '401', '403', '409', '422', '429', '500', '503']);
    const [forbidden, limited] = ['403', '429'].map((status) =>
      responseOf(responses[status] as { $ref: string }, document),
    );
    expect(forbidden?.description).toContain(`\`agent_mismatch\`: ${ERRORS.agent_mismatch.when}`);
    expect(forbidden?.content).toEqual({
      'application/json': { schema: { $ref: '#/components/schemas/Error' } },
    });
    expect(limited?.headers).toHaveProperty('Retry-After');
  });

  it('/openapi.json has each error response once, and operations name it', () => {
    const named = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ responses }) =>
        Object.entries(responses).flatMap(([status, response]) => {
          if (Number(status) < 400) return [];
          expect(response).toEqual({ $ref: expect.stringMatching(/^#\/components\/responses\//) });
          const codes = responseOf(response, document).description.matchAll(/^`(\w+)`/gm);
          for (const [, code] of codes)
            expect(String(ERRORS[code as keyof typeof ERRORS].status)).toBe(status);
          return [(response as { $ref: string }).$ref.split('/').at(-1)];
        }),
      ),
    );
    const { responses } = document.components;
    expect([...new Set(named)].sort()).toEqual(Object.keys(responses));
    expect(new Set(Object.values(responses).map((each) => JSON.stringify(each))).size).toBe(
      Object.keys(responses).length,
    );
  });

  it('/openapi.json shows the rules of fields as ordinary JSON Schema, without our own keywords', () => {
    const request = document.components.schemas.SpendRequest as {
      properties: OpenApi['components']['schemas'];
    };
    expect(request.properties.action).toMatchObject({
      properties: {
        merchant: { type: 'string', minLength: 1, maxLength: 200 },
        currency: { type: 'string', pattern: '^[A-Z]{3}$' },
        amount_minor: { type: 'integer', minimum: 1, maximum: 9_007_199_254_740_991 },
      },
    });
    expect(JSON.stringify(document)).not.toContain('x-rule');
  });

  it('/openapi.json shows query parameters by their type and the idempotency key as a header', () => {
    const { get, post } = document.paths['/v1/spends'] ?? {};
    expect(get?.parameters).toContainEqual({
      name: 'limit',
      in: 'query',
      required: false,
      description: 'Maximum number of items to return.',
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    });
    expect(post?.parameters).toMatchObject([{ name: 'idempotency-key', in: 'header', required: true }]);
  });

  it('two different schemas of one name are refused at start', () => {
    const [first] = FAKE_ROUTES;
    if (first === undefined) throw new Error('no route');
    const other = {
      ...first,
      path: '/other',
      body: Fields({ a: Line({ max: 1 }) }, { $id: 'SpendRequest' }),
    };
    expect(() => makeOpenApi([first, other], { version: '1', events: {} })).toThrow('SpendRequest');
  });
});

describe('/docs', () => {
  it('/docs is one page without script that describes every operation and every error', async () => {
    const reply = await open('/docs');
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(reply.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(reply.text).not.toMatch(/<script|<img|style="/);
    // Its icon is all that it loads.
    expect(reply.text.match(/<link[^>]*>/g)).toEqual([
      '<link rel="icon" href="/console/icon.svg" type="image/svg+xml">',
    ]);
    for (const route of [...FAKE_ROUTES, ...health])
      expect(reply.text.split(`<article id="${route.operationId}">`)).toHaveLength(2);
    for (const code of Object.keys(ERRORS)) expect(reply.text).toContain(`id="error-${code}"`);
  });

  it('every link within /docs leads somewhere', async () => {
    const { text } = await open('/docs');
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const targets = [...text.matchAll(/href="(?:\/docs)?#([^"]+)"/g)].map(([, target]) => target);
    expect(targets.length).toBeGreaterThan(20);
    for (const target of targets) expect(ids).toContain(target);
  });

  it('the search finds operations, their fields, errors, objects and guides by every word of it', async () => {
    const found = async (q: string) => {
      const { status, text } = await open(`/docs?q=${encodeURIComponent(q)}`);
      expect(status).toBe(200);
      const main = text.slice(text.indexOf('<main'));
      return [...main.matchAll(/<li><a href="([^"]+)">/g)].map(([, href]) => href);
    };
    expect(await found('first start')).toContain('/docs/guides/first-steps');
    expect(await found('readyz')).toContain('/docs#getReadiness');
    expect(await found('rate_limited')).toContain('/docs#error-rate_limited');
    expect(await found('PublicKeys thumbprint')).toEqual(['/docs#object-PublicKeys']);
    expect(await found('no-such-word-anywhere')).toEqual([]);
    const hostile = await open(`/docs?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
    expect(hostile.text).toContain('Nothing found');
    expect(hostile.text).not.toContain('<script');
    expect((await open(`/docs?q=${'x'.repeat(101)}`)).status).toBe(400);
  });

  it('a reader chooses light or dark, and the choice holds for the search too', async () => {
    const tagOf = ({ text }: { text: string }) => /<html[^>]*>/.exec(text)?.[0];
    expect(tagOf(await open('/docs'))).toBe('<html lang="en">');
    const dark = await open('/docs?theme=dark');
    expect(tagOf(dark)).toBe('<html lang="en" data-theme="dark">');
    const kept = String(dark.headers['set-cookie']).split(';')[0] as string;
    const later = await fakes.ask('/docs?q=readyz', { key: null, headers: { cookie: kept } });
    expect(tagOf(later)).toBe('<html lang="en" data-theme="dark">');
    expect((await open('/docs?theme=pink')).status).toBe(400);
  });

  it('a description is shown in /docs as text, never as markup', async () => {
    expect((await open('/docs')).text).not.toContain('"<rail>');
  });
});
