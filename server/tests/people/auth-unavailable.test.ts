import { describe, expect } from 'vitest';
import { makeAuthenticator } from '../support/authenticator.ts';
import { type Browser, openBrowser, PASSWORD, setUp, signIn } from '../support/browser.ts';
import type { Reply } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest();
let ada: Browser;
let passkey: ReturnType<typeof makeAuthenticator>;
let invitation: string;
test.beforeAll(async () => {
  ada = await setUp(s);
  const body = { email: 'bob@example.com', role: 'viewer' };
  invitation = (await ada.call('POST', '/v1/invitations', { body })).body.url.split('#')[1];
  passkey = makeAuthenticator(`http://localhost:${new URL(s.url).port}`);
  const { body: options } = await ada.call('POST', '/v1/auth/passkey/register/options');
  await ada.call('POST', '/v1/auth/passkey/register/verify', { body: passkey.create(options) });
});

/** Nobody was let in, nobody was refused for what they are, and it is worth trying again at once. */
function expectUntold({ status, body, headers }: Reply): void {
  expect([status, body.error?.code, body.error?.message, headers.get('retry-after')]).toEqual([
    503,
    'auth_unavailable',
    'Sign-in could not be verified right now; retry.',
    '1',
  ]);
  expect(headers.getSetCookie()).toEqual([]);
}
/** Runs work while the database cannot answer what is asked of a table. */
async function without<T>(table: string, work: () => Promise<T>): Promise<T> {
  await s.sql(`alter table ${table} rename to hidden`);
  try {
    return await work();
  } finally {
    await s.sql(`alter table hidden rename to ${table}`);
  }
}

test('a key that cannot be looked up', async () => {
  expectUntold(await without('api_keys', () => s.call('GET', '/v1/workspace')));
});

test.each(['sessions', 'members', 'users'])('a session, where %s cannot be read', async (table) => {
  for (const [method, path, body] of [
    ['GET', '/v1/workspace'],
    ['GET', '/v1/me'],
    ['GET', '/v1/me/sessions'],
    ['PATCH', '/v1/me', { name: 'Ada' }],
    ['POST', '/v1/auth/reauthenticate', { password: PASSWORD }],
    ['DELETE', '/v1/me/sessions'],
  ] as const) {
    expectUntold(await without(table, () => ada.call(method, path, body === undefined ? {} : { body })));
  }
  expect((await ada.call('GET', '/v1/workspace')).status).toBe(200);
});

describe('the door', () => {
  const password = { email: 'ada@example.com', password: PASSWORD };
  const reset = `usr_01KAJ5F0V8Z3M2Q9X7T4R6N1BD.9999999999999.${'A'.repeat(43)}`;
  const accepting = () => ({ token: invitation, name: 'Bob', password: PASSWORD });
  const person = { email: 'eve@example.com', name: 'Eve', password: PASSWORD };
  test.each<[string, string, string, () => object | undefined]>([
    ['users', 'GET', '/v1/auth/options', () => undefined],
    ['users', 'POST', '/v1/auth/setup', () => ({ ...person, code: 'x' })],
    ['users', 'POST', '/v1/auth/sign-in', () => password],
    ['members', 'POST', '/v1/auth/sign-in', () => password],
    ['sessions', 'POST', '/v1/auth/sign-in', () => password],
    // A person who is let in is recorded, or is not let in. A refusal is recorded behind its answer.
    ['sign_ins', 'POST', '/v1/auth/sign-in', () => password],
    ['invitations', 'POST', '/v1/auth/invitations/accept', accepting],
    ['users', 'POST', '/v1/auth/invitations/accept', accepting],
    ['invitations', 'POST', '/v1/auth/invitations/read', () => ({ token: invitation })],
    ['members', 'POST', '/v1/auth/invitations/read', () => ({ token: invitation })],
    ['users', 'POST', '/v1/auth/password/reset', () => ({ token: reset, password: PASSWORD })],
    ['passkey_challenges', 'POST', '/v1/auth/passkey/options', () => undefined],
    ['user_passkeys', 'POST', '/v1/auth/passkey/verify', () => passkey.get({ challenge: 'AAAA' })],
    ['passkey_challenges', 'POST', '/v1/auth/passkey/verify', () => passkey.get({ challenge: 'AAAA' })],
  ])('where %s cannot be read: %s %s', async (table, method, path, body) => {
    const given = body();
    const browser = openBrowser(s);
    expectUntold(
      await without(table, () => browser.call(method, path, given === undefined ? {} : { body: given })),
    );
  });
  test('opens again by itself, with what was asked in vain', async () => {
    await signIn(s, password.email);
    const { status } = await openBrowser(s).call('POST', '/v1/auth/invitations/accept', {
      body: accepting(),
    });
    expect(status).toBe(201);
  });
});
