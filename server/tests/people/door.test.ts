import { describe, expect } from 'vitest';
import { type Browser, openBrowser, PASSWORD, postToHost, setupCodeOf, signIn } from '../support/browser.ts';
import { fieldOf, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest();
let ada: Browser;

const person = { email: ' Ada@Example.com ', name: 'Ada', password: PASSWORD };
const anybody = () => openBrowser(s);

describe('set-up', () => {
  test('the address of the console carries a code of 80 bits in its fragment, while there is nobody', async () => {
    expect(s.service.console_url).toMatch(
      /^http:\/\/localhost:\d+\/console\/setup#[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/,
    );
    const options = await anybody().call('GET', '/v1/auth/options');
    expect(options.body).toMatchObject({ setup: true, password: true });
  });
  test('a wrong code makes nobody', async () => {
    const code = '0000-0000-0000-0000';
    const reply = await anybody().call('POST', '/v1/auth/setup', { body: { ...person, code } });
    expect(refusal(reply)).toEqual([401, 'unauthenticated']);
    expect((await s.sql('select 1 from users')).rowCount).toBe(0);
  });
  test('over plain http from another machine makes nobody, and the code stays good', async () => {
    const body = { ...person, code: setupCodeOf(s) };
    expect(await postToHost(s, 'purser.example', '/v1/auth/setup', body)).toBe(403);
    expect((await s.sql('select 1 from users')).rowCount).toBe(0);
    expect((await s.sql('select 1 from setup_codes')).rowCount).toBe(1);
  });
  test.each([
    ['short', 'eleven char'],
    ['among the commonest', 'unbelievable'],
    ['a common one doubled', 'passwordpassword'],
    ['the e-mail', 'ADA@example.com'],
  ])('a password that is %s is refused, and the code stays good', async (_what, password) => {
    const code = setupCodeOf(s);
    const reply = await anybody().call('POST', '/v1/auth/setup', { body: { ...person, code, password } });
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'password']);
  });
  test('of many at once with the right code one becomes the administrator, with a session', async () => {
    const code = setupCodeOf(s).toLowerCase().replaceAll('-', ' ');
    const browsers = [1, 2, 3, 4].map(() => openBrowser(s));
    const replies = await Promise.all(
      browsers.map((browser, i) =>
        browser.call('POST', '/v1/auth/setup', {
          body: { ...person, email: `${i}${person.email.trim()}`, code },
        }),
      ),
    );
    const won = replies.findIndex((reply) => reply.status === 201);
    expect(replies.filter((reply) => reply.status === 201)).toHaveLength(1);
    for (const reply of replies) {
      if (reply.status !== 201) expect(refusal(reply)).toEqual([409, 'already_set_up']);
    }
    ada = browsers[won] as Browser;
    const { body } = replies[won] as (typeof replies)[0];
    expect(body).toMatchObject({ role: 'admin', scopes: ['admin', 'review', 'read'] });
    expect(body.principal_id).toBe(`user:${body.user.id}`);
    expect(body.workspaces).toEqual([
      { id: s.workspace_id, name: 'First workspace', role: 'admin', status: 'active' },
    ]);
    expect((await s.sql('select 1 from users')).rowCount).toBe(1);
  });
  test('once there is somebody the code is not looked at', async () => {
    const reply = await anybody().call('POST', '/v1/auth/setup', { body: { ...person, code: 'x' } });
    expect(refusal(reply)).toEqual([409, 'already_set_up']);
    expect((await s.sql('select 1 from setup_codes')).rowCount).toBe(0);
  });
  test('the chain holds the first membership, and verifies', async () => {
    const audit = await ada.call('GET', '/v1/audit');
    const joined = audit.body.data.find((each: { action: string }) => each.action === 'member.joined');
    expect(joined.actor).toMatchObject({ type: 'user', key_id: null, session_id: null });
    expect((await ada.call('GET', '/v1/ledger/verify')).body.valid).toBe(true);
  });
});

describe('sign-in and sign-out', () => {
  test('the session comes as a cookie that scripts cannot read and no other site sends', async () => {
    const { body: me } = await ada.call('GET', '/v1/me');
    const reply = await anybody().call('POST', '/v1/auth/sign-in', {
      body: { email: ` ${me.user.email.toUpperCase()}`, password: PASSWORD },
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.getSetCookie()).toHaveLength(2);
    expect(reply.headers.getSetCookie()[0]).toMatch(
      /^purser_[0-9a-f]{6}=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    expect(reply.body.session.id).not.toBe(me.session.id);
  });
  test('stolen cookie: after sign-out a copy of it is worth nothing, and other sessions go on', async () => {
    const { body: me } = await ada.call('GET', '/v1/me');
    const browser = await signIn(s, me.user.email);
    const stolen = openBrowser(s, new Map(browser.cookies));
    expect((await stolen.call('GET', '/v1/me')).status).toBe(200);
    expect((await browser.call('POST', '/v1/auth/sign-out')).status).toBe(204);
    expect([...browser.cookies.keys()]).toEqual([expect.stringMatching(/^purser_device_/)]);
    expect(refusal(await stolen.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
    expect((await ada.call('GET', '/v1/me')).status).toBe(200);
  });
  test('the database knows no token: what it holds of a session opens none', async () => {
    const { rows } = await s.sql("select encode(digest, 'hex') as hex, digest from sessions limit 1");
    for (const token of [rows[0].hex.slice(0, 43), rows[0].digest.toString('base64url')]) {
      const [name] = ada.cookies.keys();
      const thief = openBrowser(s, new Map([[name as string, token]]));
      expect(refusal(await thief.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
    }
  });
});
