import { describe, expect } from 'vitest';
import { type Forgery, makeAuthenticator } from '../support/authenticator.ts';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import { refusal, startTestService } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest();
let ada: Browser;
let passkey: ReturnType<typeof makeAuthenticator>;
const origin = () => `http://localhost:${new URL(s.url).port}`;

test.beforeAll(async () => {
  ada = await setUp(s);
  passkey = makeAuthenticator(origin());
});

const challenge = async (browser: Browser) =>
  (await browser.call('POST', '/v1/auth/passkey/options')).body as { challenge: string };
const registration = async () => (await ada.call('POST', '/v1/auth/passkey/register/options')).body;
const register = (body: object) => ada.call('POST', '/v1/auth/passkey/register/verify', { body });
const enter = (browser: Browser, body: object) => browser.call('POST', '/v1/auth/passkey/verify', { body });

describe('a passkey', () => {
  test.each<[string, Forgery]>([
    ['made for another origin', { origin: 'https://evil.example' }],
    ['made for another host', { rp_id: 'evil.example' }],
    ['for another challenge', { challenge: 'AAAA' }],
    ['of a device that was not unlocked', { is_unverified: true }],
  ])('%s is not added', async (_what, forgery) => {
    const reply = await register(passkey.create(await registration(), forgery));
    expect(refusal(reply)).toEqual([401, 'unauthenticated']);
  });
  test('is added by the person who asked, once for each challenge, and listed by its name', async () => {
    const options = await registration();
    expect(options.authenticatorSelection).toMatchObject({
      residentKey: 'required',
      userVerification: 'required',
    });
    const answer = passkey.create(options);
    expect((await register({ ...answer, name: 'Ada’s laptop' })).status).toBe(204);
    expect(refusal(await register(answer))).toEqual([401, 'unauthenticated']);
    const { body } = await ada.call('GET', '/v1/me/passkeys');
    expect(body.data).toMatchObject([{ name: 'Ada’s laptop', last_used_at: null }]);
    const { body: told } = await ada.call('GET', '/v1/sign-ins?limit=1');
    expect(told.data).toMatchObject([{ kind: 'passkey_added', method: 'passkey', email: 'ada@example.com' }]);
    expect((await registration()).excludeCredentials).toMatchObject([{ id: passkey.id }]);
  });
  test('is not added with a challenge that was made for signing in', async () => {
    const { challenge: for_sign_in } = await challenge(ada);
    const other = makeAuthenticator(origin());
    const reply = await register(other.create(await registration(), { challenge: for_sign_in }));
    expect(refusal(reply)).toEqual([401, 'unauthenticated']);
  });
  test('signs in its owner, with a session of its own', async () => {
    const browser = openBrowser(s);
    const reply = await enter(browser, passkey.get(await challenge(browser)));
    expect(reply.status).toBe(200);
    expect(reply.body.user.email).toBe('ada@example.com');
    const { body } = await ada.call('GET', '/v1/sign-ins?limit=1');
    expect(body.data[0]).toMatchObject({ kind: 'ok', method: 'passkey' });
  });
  test('its answer is good once, also for two at the same time', async () => {
    const browser = openBrowser(s);
    const answer = passkey.get(await challenge(browser));
    const replies = await Promise.all([enter(browser, answer), enter(openBrowser(s), answer)]);
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 401]);
  });
  test.each<[string, Forgery]>([
    ['for another origin', { origin: 'https://evil.example' }],
    ['for another host', { rp_id: 'evil.example' }],
    ['to a challenge that nobody made', { challenge: 'AAAA' }],
    ['of a device that was not unlocked', { is_unverified: true }],
    ['in another person’s name', { user_handle: Buffer.from('usr_0').toString('base64url') }],
    ['of a copy that lags behind', { counter: 1 }],
  ])('an answer %s lets nobody in', async (_what, forgery) => {
    const browser = openBrowser(s);
    const reply = await enter(browser, passkey.get(await challenge(browser), forgery));
    expect(refusal(reply)).toEqual([401, 'unauthenticated']);
    expect(browser.cookies.size).toBe(0);
    const { body } = await ada.call('GET', '/v1/sign-ins?limit=1');
    expect(body.data[0]).toMatchObject({ kind: 'wrong', method: 'passkey', email: 'ada@example.com' });
  });
  test('an answer signed by another key under its name lets nobody in', async () => {
    const browser = openBrowser(s);
    const { id } = passkey;
    const forged = { ...makeAuthenticator(origin()).get(await challenge(browser)), id, rawId: id };
    expect(refusal(await enter(browser, forged))).toEqual([401, 'unauthenticated']);
  });
  test('of somebody whom nobody knows is answered in the same words as a wrong one', async () => {
    const browser = openBrowser(s);
    const unknown = await enter(browser, makeAuthenticator(origin()).get(await challenge(browser)));
    const wrong = await enter(browser, passkey.get(await challenge(browser), { is_unverified: true }));
    expect(unknown.body.error.message).toBe(wrong.body.error.message);
  });
  test('is a fresh proof of its owner alone, and signs nobody in once removed', async () => {
    const prove = (body: object) => ada.call('POST', '/v1/auth/reauthenticate', { body });
    expect((await prove({ passkey: passkey.get(await challenge(ada)) })).status).toBe(204);
    expect(refusal(await prove({}))).toEqual([400, 'invalid_request']);
    const { body } = await ada.call('GET', '/v1/me/passkeys');
    const path = `/v1/me/passkeys/${body.data[0].id}`;
    expect((await ada.call('DELETE', path)).status).toBe(204);
    expect(refusal(await ada.call('DELETE', path))).toEqual([404, 'not_found']);
    const browser = openBrowser(s);
    const reply = await enter(browser, passkey.get(await challenge(browser)));
    expect(refusal(reply)).toEqual([401, 'unauthenticated']);
  });
});

test('at an IP address there are no passkeys, and the page is told so', async () => {
  const bare = await startTestService({ env: { PUBLIC_URL: 'http://127.0.0.1:9' } });
  const options = await openBrowser(bare).call('GET', '/v1/auth/options');
  expect(options.body.passkey).toBe(false);
  const reply = await openBrowser(bare).call('POST', '/v1/auth/passkey/options');
  expect(refusal(reply)).toEqual([404, 'not_found']);
  await bare.stop();
});

describe('a password beside passkeys', () => {
  const passkeysOf = async () => (await ada.call('GET', '/v1/me/passkeys')).body.data as { id: string }[];
  const removePassword = (browser: Browser) => browser.call('DELETE', '/v1/auth/password');
  const add = async () => {
    const made = makeAuthenticator(origin());
    expect((await register(made.create(await registration()))).status).toBe(204);
    return made;
  };

  test('stays while there is no passkey to come in with', async () => {
    // Refusals of the tests before are recorded behind their answers; the list waits for them.
    await ada.call('GET', '/v1/sign-ins?limit=1');
    for (const { id } of await passkeysOf()) await ada.call('DELETE', `/v1/me/passkeys/${id}`);
    const { body: told } = await ada.call('GET', '/v1/sign-ins?limit=1');
    expect(told.data).toMatchObject([{ kind: 'passkey_removed', email: 'ada@example.com' }]);
    expect(refusal(await removePassword(ada))).toEqual([409, 'last_way_in']);
    expect((await ada.call('GET', '/v1/me')).body.has_password).toBe(true);
  });
  test('is removed by whoever has one, ends the other sessions, and is a wrong one from then on', async () => {
    const made = await add();
    const elsewhere = openBrowser(s);
    const by_password = { body: { email: 'ada@example.com', password: PASSWORD } };
    expect((await elsewhere.call('POST', '/v1/auth/sign-in', by_password)).status).toBe(200);
    expect((await removePassword(ada)).status).toBe(204);
    expect((await removePassword(ada)).status).toBe(204);
    expect((await ada.call('GET', '/v1/me')).body.has_password).toBe(false);
    expect(refusal(await elsewhere.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
    const typed = await openBrowser(s).call('POST', '/v1/auth/sign-in', by_password);
    expect(refusal(typed)).toEqual([401, 'unauthenticated']);
    const browser = openBrowser(s);
    expect((await enter(browser, made.get(await challenge(browser)))).status).toBe(200);
  });
  test('the last passkey then stays, also of two that are removed at once', async () => {
    await add();
    const ids = await passkeysOf();
    expect(ids).toHaveLength(2);
    const replies = await Promise.all(ids.map(({ id }) => ada.call('DELETE', `/v1/me/passkeys/${id}`)));
    expect(replies.map((reply) => reply.status).sort()).toEqual([204, 409]);
    expect(await passkeysOf()).toHaveLength(1);
  });
});
