import { expect } from 'vitest';
import { makePeopleServices, makePersonRoutes } from '../../src/service/api/routes.ts';
import { readConfig } from '../../src/service/config/config.ts';
import { makeOwnLimiter } from '../../src/service/http/limiters.ts';
import { setUp } from '../support/browser.ts';
import { caseOf, makeWorld, nameOf, ROUTES } from '../support/every-route.ts';
import { superuserConnection } from '../support/postgres.ts';
import { fieldOf, makeTestCore, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { addPasskey } from '../support/signers.ts';

const { test, s } = serviceTest({ plan: 'enterprise' });

const without = ROUTES.filter(
  ({ method, body, bodyOptional, content }) =>
    method === 'POST' && content === undefined && (body === undefined || bodyOptional === true),
).map(nameOf);

test.each(without)('%s takes no body, {} and nothing else', async (name) => {
  const world = await makeWorld(s, { workspace_id: s.workspace_id, admin_key: s.admin_key });
  const { request, status } = caseOf(name);
  for (const options of [{}, { raw: '' }, { body: {} }]) {
    const { path } = await request(world);
    expect([options, (await s.call('POST', path, options)).status]).toEqual([options, status]);
  }
  const { path } = await request(world);
  for (const raw of ['[]', 'null', '""', '{"unknown": 1}']) {
    const reply = await s.call('POST', path, { raw });
    expect([raw, ...refusal(reply)]).toEqual([raw, 400, 'invalid_request']);
  }
});

test('routes of the account without a body take {} too, and other methods take none', async () => {
  const core = makeTestCore(superuserConnection());
  const config = readConfig({});
  const routes = makePersonRoutes(core, config, makePeopleServices(core, config, makeOwnLimiter)).filter(
    ({ method, body, path }) => method === 'POST' && body === undefined && path !== '/v1/auth/sign-out',
  );
  await core.close();
  expect(routes.length).toBeGreaterThan(0);
  const ada = await setUp(s);
  // A signing key is made from a passkey.
  await addPasskey(s, ada);
  for (const { path } of [...routes, { path: '/v1/auth/sign-out' }]) {
    const reply = await ada.call('POST', path, { body: {} });
    // No workspace has the id `:id`; what is refused for its body is 400.
    expect([path, path.includes(':id') ? reply.status === 404 : reply.status < 300]).toEqual([path, true]);
  }
  const reply = await s.call('DELETE', '/v1/api-keys/key_x', { body: {} });
  expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'body']);
});
