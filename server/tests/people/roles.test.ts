import { expect } from 'vitest';
import { renderOpenApi } from '../../src/documents.ts';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import { nameOf, ROUTES, type Scope } from '../support/every-route.ts';
import { refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const ROLES: Record<string, Scope[]> = {
  admin: ['admin', 'review', 'read'],
  reviewer: ['review', 'read'],
  viewer: ['read'],
};
const { test, s } = serviceTest({ plan: 'enterprise' });
const people = new Map<string, Browser>();
test.beforeAll(async () => {
  const ada = await setUp(s);
  people.set('admin', ada);
  for (const role of ['reviewer', 'viewer']) {
    const { body } = await ada.call('POST', '/v1/invitations', { body: { email: `${role}@b.de`, role } });
    const browser = openBrowser(s);
    const accepted = { token: body.url.split('#')[1], name: role, password: PASSWORD };
    await browser.call('POST', '/v1/auth/invitations/accept', { body: accepted });
    people.set(role, browser);
  }
});

const addressOf = (path: string) => path.replaceAll(/:\w+|\{\w+\}/g, 'x');

test.each(Object.entries(ROLES))(
  '%s: the scopes of the role, and 403 wherever another one is asked for',
  async (role, scopes) => {
    const browser = people.get(role) as Browser;
    expect((await browser.call('GET', '/v1/me')).body).toMatchObject({ role, scopes });
    const beyond = ROUTES.filter(
      (route) => Array.isArray(route.scopes) && !route.scopes.some((scope) => scopes.includes(scope)),
    );
    const told = beyond.map(nameOf);
    expect(told).toEqual(expect.arrayContaining(['POST /v1/decisions', 'POST /v1/capabilities/consume']));
    expect(told.includes('POST /v1/api-keys')).toBe(role !== 'admin');
    for (const { method, path } of beyond) {
      const reply = await browser.call(method, addressOf(path), method === 'GET' ? {} : { body: {} });
      expect([method, path, ...refusal(reply)]).toEqual([method, path, 403, 'insufficient_scope']);
    }
  },
);

test('every route of a session answers the strongest key with 403, and who is not signed in with 401', async () => {
  const of_sessions = Object.entries(renderOpenApi().paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, { security?: object[] }>)
      .filter(([, { security }]) => JSON.stringify(security) === '[{"Session":[]}]')
      .map(([method]) => [method.toUpperCase(), path] as const),
  );
  expect(of_sessions.length).toBeGreaterThan(10);
  for (const [method, path] of of_sessions) {
    const body = method === 'GET' ? {} : { body: {} };
    const by_key = await s.call(method, addressOf(path), body);
    expect([method, path, ...refusal(by_key)]).toEqual([method, path, 403, 'insufficient_scope']);
    const by_nobody = await openBrowser(s).call(method, addressOf(path), body);
    expect([method, path, ...refusal(by_nobody)]).toEqual([method, path, 401, 'unauthenticated']);
  }
});
