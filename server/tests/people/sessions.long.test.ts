import type { Origin } from '@purser/rules/domain/audit';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { revokeInvitation } from '../../src/engine/commands/people/revoke-invitation.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { type Browser, openBrowser, PASSWORD, setUp, signIn } from '../support/browser.ts';
import {
  makeKey,
  makeTestCore,
  type RunningService,
  refusal,
  startTestService,
} from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(5);

const START_MS = Date.parse('2026-11-22T08:00:00Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const EMAIL = 'ada@example.com';

const { test, s } = serviceTest({ stopped_at_ms: START_MS, plan: 'enterprise' });
/** Another node on the same database. */
let other: RunningService;
let ada: Browser;
let now_ms = START_MS;
test.beforeAll(async () => {
  other = await startTestService({ beside: s });
  ada = await setUp(s);
});
test.afterAll(() => other.stop());

const goOn = async (ms: number) => {
  now_ms += ms;
  await s.setClock(now_ms);
};
const out = [401, 'unauthenticated'];
const emailOf = async (browser: Browser) => (await browser.call('GET', '/v1/me')).body.user.email as string;
/** The same browser at the other node. */
const elsewhere = (browser: Browser) => openBrowser(other, browser.cookies);
async function join(role: string, email: string): Promise<Browser> {
  const admin = await signIn(s, EMAIL);
  const invited = await admin.call('POST', '/v1/invitations', { body: { email, role } });
  const browser = openBrowser(s);
  const token = invited.body.url.split('#')[1];
  const body = { token, name: role, password: PASSWORD };
  expect((await browser.call('POST', '/v1/auth/invitations/accept', { body })).status).toBe(201);
  return browser;
}

describe('CSRF: a request from another site', () => {
  const own = () => new URL(s.url).port;
  test.each<[string, () => Record<string, string>]>([
    ['without either header', () => ({ 'sec-fetch-site': '' })],
    ['from another site', () => ({ 'sec-fetch-site': 'cross-site' })],
    ['from another host of the site', () => ({ 'sec-fetch-site': 'same-site' })],
    ['typed into the address bar', () => ({ 'sec-fetch-site': 'none' })],
    ['with a header sent twice', () => ({ 'sec-fetch-site': 'same-origin, same-origin' })],
    ['from a foreign origin', () => ({ 'sec-fetch-site': '', origin: 'https://evil.example' })],
    ['from no origin', () => ({ 'sec-fetch-site': '', origin: 'null' })],
    ['from another port', () => ({ 'sec-fetch-site': '', origin: 'http://localhost:1' })],
    [
      'from the own name over another scheme',
      () => ({ 'sec-fetch-site': '', origin: `https://localhost:${own()}` }),
    ],
    ['whose origin belies the other header', () => ({ origin: 'https://evil.example' })],
    [
      'whose other header belies the origin',
      () => ({ 'sec-fetch-site': 'cross-site', origin: `http://localhost:${own()}` }),
    ],
  ])('%s changes nothing', async (_what, headers) => {
    for (const [method, path, body] of [
      ['POST', '/v1/agents', { slug: 'forged' }],
      ['PATCH', '/v1/me', { name: 'Forged' }],
      ['POST', '/v1/auth/sign-out', undefined],
      ['DELETE', '/v1/me/sessions/ses_1', undefined],
    ] as const) {
      const reply = await ada.call(method, path, {
        headers: headers(),
        ...(body === undefined ? {} : { body }),
      });
      expect([path, ...refusal(reply)]).toEqual([path, 403, 'cross_site_request']);
    }
    expect((await ada.call('GET', '/v1/me')).body.user.name).toBe('Ada');
  });
  test.each(['http://localhost', 'http://127.0.0.1'])(
    'the page at %s is the console’s own',
    async (origin) => {
      const headers = { 'sec-fetch-site': '', origin: `${origin}:${own()}` };
      const reply = await ada.call('PATCH', '/v1/me', { headers, body: { name: 'Ada' } });
      expect(reply.status).toBe(200);
    },
  );
  test('nobody is signed in, set up or invited from another site; without both headers they are', async () => {
    const doors = [
      '/v1/auth/sign-in',
      '/v1/auth/setup',
      '/v1/auth/invitations/accept',
      '/v1/auth/password/reset',
    ];
    const body = { email: EMAIL, password: PASSWORD };
    const bodies = [
      body,
      { ...body, code: 'x', name: 'x' },
      { token: 'x', name: 'x', password: PASSWORD },
      { token: 'x', password: PASSWORD },
    ];
    for (const [i, path] of doors.entries()) {
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': '', origin: 'https://evil.example' },
        { 'sec-fetch-site': '', origin: 'null' },
      ]) {
        const browser = openBrowser(s);
        const reply = await browser.call('POST', path, { body: bodies[i], headers });
        expect([path, ...refusal(reply)]).toEqual([path, 403, 'cross_site_request']);
        expect(browser.cookies.size).toBe(0);
      }
    }
    const plain = await openBrowser(s).call('POST', '/v1/auth/sign-in', {
      body,
      headers: { 'sec-fetch-site': '' },
    });
    expect(plain.status).toBe(200);
  });
  test('a key beside the cookie wins, and needs neither header', async () => {
    const { key } = await makeKey(s, { scopes: ['read'] });
    const reply = await ada.call('PATCH', '/v1/me', {
      key,
      headers: { 'sec-fetch-site': '' },
      body: { name: 'x' },
    });
    expect(refusal(reply)).toEqual([403, 'insufficient_scope']);
    expect((await ada.call('GET', '/v1/workspace', { key: 'sk_wrong' })).status).toBe(401);
  });
  test('no answer lets another origin read it', async () => {
    for (const path of ['/v1/me', '/v1/auth/options', '/v1/workspace']) {
      const reply = await ada.call('GET', path, { headers: { origin: 'https://evil.example' } });
      expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

test('session fixation: a session that a thief planted is not the one that its victim gets', async () => {
  const [name] = ada.cookies.keys();
  const planted = 'A'.repeat(43);
  const victim = openBrowser(s, new Map([[name as string, planted]]));
  await victim.call('POST', '/v1/auth/sign-in', { body: { email: EMAIL, password: PASSWORD } });
  expect(victim.cookies.get(name as string)).not.toBe(planted);
  const thief = openBrowser(s, new Map([[name as string, planted]]));
  expect(refusal(await thief.call('GET', '/v1/me'))).toEqual(out);
});

test('under https the cookie is bound to the host and never travels in the clear', async () => {
  const secure = await startTestService({ beside: s, env: { PUBLIC_URL: 'https://purser.example' } });
  const reply = await openBrowser(secure).call('POST', '/v1/auth/sign-in', {
    body: { email: EMAIL, password: PASSWORD },
    headers: { origin: 'https://purser.example' },
  });
  expect(reply.headers.getSetCookie()[0]).toMatch(
    /^__Host-purser=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=43200$/,
  );
  expect(reply.headers.getSetCookie()[1]).toMatch(
    /^__Host-purser-device=[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=15552000$/,
  );
  expect(secure.service.console_url).toBe('https://purser.example/console/');
  await secure.stop();
});

describe('how long a session lasts', () => {
  test('an administrator’s is over after 30 minutes without a request, another’s after 8 hours', async () => {
    const admin = await signIn(s, EMAIL);
    const viewer = await join('viewer', 'vic@example.com');
    await goOn(29 * MINUTE_MS);
    expect((await admin.call('GET', '/v1/me')).status).toBe(200);
    /** The last use of somebody's session is stored, by whichever node. */
    const seen = (email: string) => async () => {
      const { rowCount } = await s.sql(
        'select from sessions s join users u on u.user_id = s.user_id where u.email = $1 and last_seen_at = $2',
        [email, new Date(now_ms)],
      );
      return rowCount !== 0;
    };
    await until(seen(EMAIL));
    await goOn(29 * MINUTE_MS);
    expect((await elsewhere(admin).call('GET', '/v1/me')).status).toBe(200);
    await goOn(30 * MINUTE_MS);
    expect(refusal(await elsewhere(admin).call('GET', '/v1/me'))).toEqual(out);
    const { body: listed } = await (await signIn(s, EMAIL)).call('GET', '/v1/me/sessions');
    expect(listed.data, 'what opens nothing any more is not listed').toMatchObject([{ current: true }]);
    expect((await viewer.call('GET', '/v1/me')).status).toBe(200);
    await until(seen('vic@example.com'));
    await goOn(8 * HOUR_MS - 1);
    expect((await viewer.call('GET', '/v1/me/sessions')).body.data).toHaveLength(1);
    await until(seen('vic@example.com'));
    await goOn(8 * HOUR_MS);
    expect(refusal(await elsewhere(viewer).call('GET', '/v1/me'))).toEqual(out);
  });
  test('a request that no person made answers, and keeps no session going', async () => {
    const admin = await signIn(s, EMAIL);
    const inBackground = () => admin.call('GET', '/v1/inbox', { headers: { 'x-purser-background': '1' } });
    await goOn(29 * MINUTE_MS);
    expect((await inBackground()).status).toBe(200);
    await goOn(MINUTE_MS);
    expect(refusal(await inBackground())).toEqual(out);
  });
  test('an administrator’s is over after 30 minutes wherever it is left, also where they are a viewer', async () => {
    const left = await join('viewer', 'two@example.com');
    const other = await s.addWorkspace({ plan: 'team' });
    const invitation = { email: 'two@example.com', role: 'admin' };
    const invited = await s.call('POST', '/v1/invitations', { key: other.admin_key, body: invitation });
    const body = { token: invited.body.url.split('#')[1], name: 'x', password: PASSWORD };
    const admin = openBrowser(s);
    expect((await admin.call('POST', '/v1/auth/invitations/accept', { body })).status).toBe(201);
    await goOn(30 * MINUTE_MS);
    expect(refusal(await left.call('GET', '/v1/me'))).toEqual(out);
    const switched = await left.call('POST', '/v1/me/workspace', {
      body: { workspace_id: other.workspace_id },
    });
    expect(refusal(switched)).toEqual(out);
    const again = await signIn(s, 'two@example.com');
    const { body: listed } = await again.call('GET', '/v1/me/sessions');
    expect(listed.data, 'neither is listed').toMatchObject([{ current: true }]);
  });
  test('none lasts longer than 12 hours, however busy', async () => {
    const viewer = await signIn(s, 'vic@example.com');
    for (let hour = 1; hour < 12; hour++) {
      await goOn(HOUR_MS);
      expect((await viewer.call('GET', '/v1/me')).status).toBe(200);
    }
    await goOn(HOUR_MS);
    expect(refusal(await viewer.call('GET', '/v1/me'))).toEqual(out);
  });
});

describe('what weighs most needs a fresh proof', () => {
  let admin: Browser;
  let key: string;
  let hook: string;
  const attempts = () =>
    [
      ['POST', '/v1/api-keys', { name: 'k', scopes: ['admin'] }],
      ['PATCH', '/v1/agents/fresh', { mode: 'ENFORCE' }],
      ['POST', '/v1/agents', { slug: 'begun-in-enforce', mode: 'ENFORCE' }],
      ['PATCH', '/v1/workspace', { mode: 'ENFORCE' }],
      ['POST', '/v1/invitations', { email: 'new@example.com', role: 'admin' }],
      ['POST', `/v1/webhooks/${hook}/rotate-secret`, undefined],
      ['POST', '/v1/auth/passkey/register/options', undefined],
    ] as const;
  beforeAll(async () => {
    admin = await signIn(s, EMAIL);
    key = (await makeKey(s, { scopes: ['admin'] })).key;
    expect((await s.call('POST', '/v1/agents', { body: { slug: 'fresh' } })).status).toBe(201);
    hook = (await s.call('POST', '/v1/webhooks', { body: { url: 'https://hooks.example.com/a' } })).body.id;
    await goOn(15 * MINUTE_MS - 1);
    const { body } = await admin.call('POST', '/v1/api-keys', { body: { name: 'k', scopes: ['admin'] } });
    expect(body.scopes).toContain('admin');
    await goOn(1);
  });
  test('older than 15 minutes it is refused; reading and lesser changes are not', async () => {
    const vic = (await admin.call('GET', '/v1/members')).body.data.find(
      (each: { email: string }) => each.email === 'vic@example.com',
    );
    const role = ['PATCH', `/v1/members/${vic.user_id}`, { role: 'reviewer' }] as const;
    for (const [method, path, body] of [...attempts(), role]) {
      const reply = await admin.call(method, path, body === undefined ? {} : { body });
      expect([path, ...refusal(reply)]).toEqual([path, 403, 'reauthentication_required']);
    }
    const lesser = { name: 'k', scopes: ['read'] };
    expect((await admin.call('POST', '/v1/api-keys', { body: lesser })).status).toBe(201);
    expect((await admin.call('PATCH', '/v1/agents/fresh', { body: { name: 'Fresh' } })).status).toBe(200);
    expect((await admin.call('GET', '/v1/members')).status).toBe(200);
  });
  test('a key never needs it', async () => {
    const body = { email: 'other@example.com', role: 'admin' };
    expect((await s.call('POST', '/v1/invitations', { key, body })).status).toBe(201);
  });
  test('a wrong password proves nothing, the right one does', async () => {
    const prove = (password: string) => admin.call('POST', '/v1/auth/reauthenticate', { body: { password } });
    expect(refusal(await prove('not the password'))).toEqual(out);
    expect((await prove(PASSWORD)).status).toBe(204);
    for (const [method, path, body] of attempts()) {
      const reply = await admin.call(method, path, body === undefined ? {} : { body });
      expect(reply.status).toBeLessThan(300);
    }
  });
});

test('another password ends all other sessions, and the old one opens nothing', async () => {
  const [here, there] = [await signIn(s, 'vic@example.com'), await signIn(other, 'vic@example.com')];
  const body = { current_password: PASSWORD, new_password: 'another long password' };
  expect(
    refusal(await here.call('POST', '/v1/auth/password', { body: { ...body, current_password: 'x' } })),
  ).toEqual(out);
  const weak = await here.call('POST', '/v1/auth/password', { body: { ...body, new_password: 'short' } });
  expect(refusal(weak)).toEqual([400, 'invalid_request']);
  expect((await here.call('POST', '/v1/auth/password', { body })).status).toBe(204);
  expect((await here.call('GET', '/v1/me')).status).toBe(200);
  expect(refusal(await there.call('GET', '/v1/me'))).toEqual(out);
  await expect(signIn(s, 'vic@example.com')).rejects.toThrow(/unauthenticated/);
  await signIn(s, 'vic@example.com', 'another long password');
});

describe('what is true of a session holds on the next request on every node', () => {
  const ids = async (browser: Browser) => {
    const { body } = await browser.call('GET', '/v1/me');
    return { user_id: body.user.id, session_id: body.session.id };
  };
  test('sign-out, and the end of one session from another', async () => {
    const [one, two] = [await signIn(s, EMAIL), await signIn(s, EMAIL)];
    const { session_id } = await ids(two);
    const listed = await one.call('GET', '/v1/me/sessions');
    expect(listed.body.data.filter((each: { current: boolean }) => each.current)).toHaveLength(1);
    expect((await one.call('DELETE', `/v1/me/sessions/${session_id}`)).status).toBe(204);
    expect(refusal(await elsewhere(two).call('GET', '/v1/me'))).toEqual(out);
    const copy = openBrowser(other, new Map(one.cookies));
    await one.call('POST', '/v1/auth/sign-out');
    expect(refusal(await copy.call('GET', '/v1/me'))).toEqual(out);
  });
  test('the end of all others at once: the one that asks goes on, and so does everybody else', async () => {
    const [here, one, two] = [await signIn(s, EMAIL), await signIn(s, EMAIL), await signIn(other, EMAIL)];
    const somebody = await signIn(s, 'vic@example.com', 'another long password');
    for (let again = 0; again < 2; again++) {
      expect((await here.call('DELETE', '/v1/me/sessions')).status).toBe(204);
    }
    for (const ended of [one, elsewhere(one), openBrowser(s, two.cookies)]) {
      expect(refusal(await ended.call('GET', '/v1/me'))).toEqual(out);
    }
    expect((await here.call('GET', '/v1/me/sessions')).body.data).toMatchObject([{ current: true }]);
    expect((await somebody.call('GET', '/v1/me')).status).toBe(200);
  });
  test('nobody ends another person’s session', async () => {
    const rob = await join('reviewer', 'rob@example.com');
    const admin = await signIn(s, EMAIL);
    const { session_id } = await ids(rob);
    expect(refusal(await admin.call('DELETE', `/v1/me/sessions/${session_id}`))).toEqual([404, 'not_found']);
    expect((await rob.call('GET', '/v1/me')).status).toBe(200);
  });
  test('another role, and removal: reading and writing end at once', async () => {
    const rob = await signIn(s, 'rob@example.com');
    const admin = await signIn(s, EMAIL);
    const { user_id } = await ids(rob);
    const role = { role: 'viewer' };
    expect((await admin.call('PATCH', `/v1/members/${user_id}`, { body: role })).status).toBe(200);
    expect(refusal(await elsewhere(rob).call('GET', '/v1/decisions'))).toEqual(out);
    const again = await signIn(s, 'rob@example.com');
    expect((await again.call('GET', '/v1/me')).body.scopes).toEqual(['read']);
    expect((await admin.call('DELETE', `/v1/members/${user_id}`)).status).toBe(204);
    expect(refusal(await elsewhere(again).call('GET', '/v1/decisions'))).toEqual(out);
    expect(refusal(await again.call('PATCH', '/v1/me', { body: { name: 'x' } }))).toEqual(out);
    await expect(signIn(s, 'rob@example.com')).rejects.toThrow(/unauthenticated/);
  });
  describe('what was let in before is refused by the batch that would write it, after', () => {
    let core: Core;
    let admin: Browser;
    beforeAll(async () => {
      core = makeTestCore(s.database.connection);
      admin = await signIn(s, EMAIL);
    });
    afterAll(() => core.close());
    let count = 0;
    test.each<[string, (person: Browser, user_id: string) => Promise<unknown>]>([
      ['a sign-out', (person) => person.call('POST', '/v1/auth/sign-out')],
      [
        'the end of that session',
        async (person) => (await signIn(s, await emailOf(person))).call('DELETE', '/v1/me/sessions'),
      ],
      [
        'another role',
        (_, user_id) => admin.call('PATCH', `/v1/members/${user_id}`, { body: { role: 'viewer' } }),
      ],
      [
        'another role, given while the session was in another workspace',
        async (_, user_id) => {
          const elsewhere = await s.addWorkspace({ plan: 'team' });
          await s.sql('update sessions set workspace_id = $2 where user_id = $1', [
            user_id,
            elsewhere.workspace_id,
          ]);
          await admin.call('PATCH', `/v1/members/${user_id}`, { body: { role: 'viewer' } });
        },
      ],
      ['a removal', (_, user_id) => admin.call('DELETE', `/v1/members/${user_id}`)],
      [
        'a disabled account',
        (_, user_id) => s.sql('update users set disabled_at = now() where user_id = $1', [user_id]),
      ],
      ['the end of its time', () => goOn(12 * HOUR_MS)],
    ])('%s', async (_what, end) => {
      const person = await join('admin', `late-${++count}@example.com`);
      const { user_id, session_id } = await ids(person);
      const origin: Origin = {
        actor: { type: 'user', key_id: null, session_id, principal_id: `user:${user_id}` },
        role: 'admin',
        request_id: null,
        client_address: null,
      };
      const write = () =>
        core.lane.submit(s.workspace_id, revokeInvitation, { invitation_id: 'inv_none' }, origin);
      await expect(write()).rejects.toMatchObject({ code: 'not_found' });
      await end(person, user_id);
      await expect(write()).rejects.toMatchObject({ code: 'unauthenticated' });
    });
  });
  test('a removal that was committed before a write of the removed is committed stops it in the batch', async () => {
    const boss = await join('admin', 'boss@example.com');
    const admin = await signIn(s, EMAIL);
    const { user_id } = await ids(boss);
    const writes = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? boss : elsewhere(boss)).call('POST', '/v1/agents', { body: { slug: `raced-${i}` } }),
    );
    const removal = admin.call('DELETE', `/v1/members/${user_id}`);
    const replies = await Promise.all(writes);
    expect((await removal).status).toBe(204);
    for (const reply of replies) expect([201, 401]).toContain(reply.status);
    const { rows } = await s.sql(
      `select max(a.seq) filter (where a.actor::json->>'principal_id' = $2) as last,
         max(a.seq) filter (where a.action = 'member.removed' and a.target_id = $1) as removed
       from audit_records a`,
      [user_id, `user:${user_id}`],
    );
    expect(Number(rows[0].last)).toBeLessThan(Number(rows[0].removed));
  });
});
