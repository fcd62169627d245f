import { ROUTES } from '@purser/contract/routes';
import { expect, test } from 'vitest';
import { makeHealthRoutes, makeMetricsRoute } from '../../src/service/api/health.ts';
import { makeMcpRoute } from '../../src/service/api/mcp.ts';
import { makePackageRoutes } from '../../src/service/api/packages.ts';
import { makeApiRoutes, makePeopleServices, makePersonRoutes } from '../../src/service/api/routes.ts';
import { readConfig } from '../../src/service/config/config.ts';
import { makeOwnLimiter } from '../../src/service/http/limiters.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { deriveSecrets } from '../../src/service/installation/secrets.ts';
import { makeMetrics } from '../../src/service/observability/metrics.ts';
import { OfferedPackages } from '../../src/service/packages/offered-packages.ts';
import { Turns } from '../../src/service/scheduling/turns.ts';

/** All routes with their handlers, none of which is called. */
function servedRoutes() {
  const metrics = makeMetrics();
  const now_ms = () => 0;
  const secrets = deriveSecrets(Buffer.alloc(32));
  const core = { metrics, secrets, now_ms, turns: new Turns({ now_ms }) } as Core;
  const config = readConfig({});
  const people = makePeopleServices(core, config, makeOwnLimiter);
  const mcp_route = makeMcpRoute({ core, site: people.site, onFailure: () => {} });
  const api_routes = [...makeApiRoutes(core, config), ...makePersonRoutes(core, config, people), mcp_route];
  const packages = makePackageRoutes({
    packages: new OfferedPackages('/nowhere'),
    site: people.site,
    public_url: null,
  });
  const health = makeHealthRoutes({
    checkReady: () => Promise.reject(new Error('nothing is served')),
    isStopping: () => false,
    metrics_route: makeMetricsRoute(metrics, core.now_ms),
    now_ms: core.now_ms,
    checkpoint_keys: core.secrets.verifyingKeys,
    api_routes: [...api_routes, ...packages],
    guide_sections: [],
    version: '0',
  });
  return [...api_routes, ...packages, ...health];
}

test('every route of the contract has a handler, and every handler has a route, in the order of the reference', () => {
  expect(servedRoutes().map(({ operationId }) => operationId)).toEqual(Object.keys(ROUTES));
});

test('each route is listed under its operationId', () => {
  expect(Object.values(ROUTES).map(({ operationId }) => operationId)).toEqual(Object.keys(ROUTES));
});

test('a served route is the one of the contract, with what only the server needs', () => {
  for (const served of servedRoutes()) {
    expect(served).toMatchObject(ROUTES[served.operationId as keyof typeof ROUTES]);
  }
});

test('JSON that the compiler cannot check is sent by six answers of five routes alone', async () => {
  const { readFileSync, readdirSync } = await import('node:fs');
  const api = new URL('../../src/service/api/', import.meta.url);
  const uses = readdirSync(api, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => readFileSync(new URL(name, api), 'utf8').match(/storedJson\(/g) ?? []);
  expect(uses).toHaveLength(5);
});
