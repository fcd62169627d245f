import { SUPERUSER } from '@purser/embedded-postgres';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ARGON2 } from '../../src/service/people/passwords.ts';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import { type RunningService, refusal, startTestService } from '../support/running-service.ts';
import { until } from '../support/until.ts';

/** How many hashes were begun, and what the next ones wait for. */
const hashes = { begun: 0, under_way: 0, most: 0, gate: Promise.resolve() };
const counted =
  <A extends unknown[], R>(work: (...given: A) => Promise<R>) =>
  async (...given: A): Promise<R> => {
    hashes.begun += 1;
    hashes.under_way += 1;
    hashes.most = Math.max(hashes.most, hashes.under_way);
    await hashes.gate;
    return work(...given).finally(() => {
      hashes.under_way -= 1;
    });
  };

let s: RunningService;
let ada: Browser;
beforeAll(async () => {
  s = await startTestService();
  ada = await setUp(s);
});
afterAll(() => s.stop());
// The files of a worker share their modules, so what counts is put into the module that every service uses.
const { hash, verify } = ARGON2;
beforeEach(() => {
  vi.spyOn(ARGON2, 'hash').mockImplementation(counted(hash));
  vi.spyOn(ARGON2, 'verify').mockImplementation(counted(verify));
  hashes.begun = 0;
  hashes.most = 0;
});

let count = 0;
const somebody = () => `somebody-${++count}@example.com`;
const signIn = (email: string, password = 'wrong', headers = {}) =>
  openBrowser(s).call('POST', '/v1/auth/sign-in', { body: { email, password }, headers });

describe('user enumeration by text and time: a stranger cannot find out who has an account', () => {
  test('a wrong password, an unknown e-mail and text that is no e-mail get the same answer for the same work', async () => {
    await ada.call('POST', '/v1/invitations', { body: { email: 'invited@example.com', role: 'viewer' } });
    const told = new Set<string>();
    const cases = [
      'ada@example.com',
      'nobody@example.com',
      'invited@example.com',
      'no e-mail',
      '',
      'x'.repeat(500),
    ];
    for (const email of cases) {
      for (const password of ['wrong', '', 'y'.repeat(3_000)]) {
        hashes.begun = 0;
        const reply = await signIn(email, password);
        told.add(`${reply.status} ${reply.body.error.code} ${reply.body.error.message} ${hashes.begun}`);
      }
    }
    expect([...told]).toEqual(['401 unauthenticated The e-mail or the password is wrong. 1']);
  });
  test('a removed or disabled person with the right password gets the answer of a wrong password', async () => {
    const email = somebody();
    const invited = await ada.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } });
    const body = { token: invited.body.url.split('#')[1], name: 'x', password: PASSWORD };
    const joined = await openBrowser(s).call('POST', '/v1/auth/invitations/accept', { body });
    await ada.call('DELETE', `/v1/members/${joined.body.user.id}`);
    hashes.begun = 0;
    const reply = await signIn(email, PASSWORD);
    expect([...refusal(reply), reply.body.error.message, hashes.begun]).toEqual([
      401,
      'unauthenticated',
      'The e-mail or the password is wrong.',
      1,
    ]);
    // The right password is counted and listed as a wrong one is, so that the limit tells nothing either.
    for (let i = 1; i < 10; i++) expect((await signIn(email, PASSWORD)).status).toBe(401);
    expect((await signIn(email, PASSWORD)).status).toBe(429);
    const { body: listed } = await ada.call('GET', '/v1/sign-ins?member=false');
    expect(listed.data).toMatchObject([{ email, kind: 'wrong', user_id: null }]);
  });
});

describe('guessed passwords', () => {
  test('after ten wrong passwords the right one is refused too, for that address and e-mail', async () => {
    const reply = async (password: string) => refusal(await signIn('ada@example.com', password));
    // Those of the test above count.
    await s.halt();
    await s.stop();
    s = await startTestService();
    ada = await setUp(s);
    for (let i = 0; i < 10; i++) expect(await reply('wrong')).toEqual([401, 'unauthenticated']);
    hashes.begun = 0;
    const locked = await signIn('ada@example.com', PASSWORD);
    expect([...refusal(locked), hashes.begun]).toEqual([429, 'rate_limited', 0]);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(await reply(PASSWORD)).toEqual([429, 'rate_limited']);
    expect(refusal(await signIn('other@example.com'))).toEqual([401, 'unauthenticated']);
    const { body } = await ada.call('GET', '/v1/sign-ins');
    const kinds = body.data.map((each: { kind: string }) => each.kind);
    expect(kinds.filter((kind: string) => kind === 'locked')).toHaveLength(1);
    expect(Number(locked.headers.get('retry-after'))).toBeLessThanOrEqual(900);
    // Her open session and her browser are counted apart.
    const proof = await ada.call('POST', '/v1/auth/reauthenticate', { body: { password: PASSWORD } });
    expect(proof.status).toBe(204);
    const right = { email: 'ada@example.com', password: PASSWORD };
    expect((await ada.call('POST', '/v1/auth/sign-in', { body: right })).status).toBe(200);
  });
  test('a session’s wrong passwords count as a proof and before a new one, and the door’s do not count with them', async () => {
    const email = somebody();
    const invited = await ada.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } });
    const body = { token: invited.body.url.split('#')[1], name: 'x', password: PASSWORD };
    const bob = openBrowser(s);
    await bob.call('POST', '/v1/auth/invitations/accept', { body });
    const proof = () => bob.call('POST', '/v1/auth/reauthenticate', { body: { password: 'wrong' } });
    const change = { current_password: 'wrong', new_password: 'another long password' };
    for (let i = 0; i < 10; i++) expect((await signIn(email)).status).toBe(401);
    for (let i = 0; i < 5; i++) expect((await proof()).status).toBe(401);
    for (let i = 0; i < 5; i++)
      expect((await bob.call('POST', '/v1/auth/password', { body: change })).status).toBe(401);
    expect(refusal(await proof())).toEqual([429, 'rate_limited']);
    expect(refusal(await bob.call('POST', '/v1/auth/password', { body: change }))).toEqual([
      429,
      'rate_limited',
    ]);
    expect((await bob.call('GET', '/v1/me')).status, 'who is signed in stays so').toBe(200);
  });
  test('wrong passwords that are sent at once are all counted before any is judged', async () => {
    const email = somebody();
    // What waits longer than two seconds for its turn would not be judged: here a comparison takes no time.
    vi.spyOn(ARGON2, 'verify').mockImplementation(async () => false);
    const replies = await Promise.all(Array.from({ length: 30 }, () => signIn(email)));
    expect(replies.filter((reply) => reply.status === 401)).toHaveLength(10);
    expect(replies.filter((reply) => reply.status === 429)).toHaveLength(20);
  });
  test('each client address has its own count of wrong passwords, an IPv6 /64 one for all its addresses', async () => {
    const behind = await startTestService({ env: { TRUSTED_PROXIES: '127.0.0.1' }, beside: s });
    const email = somebody();
    const from = (address: string) =>
      openBrowser(behind).call('POST', '/v1/auth/sign-in', {
        body: { email, password: 'wrong' },
        headers: { 'x-forwarded-for': address },
      });
    for (let i = 0; i < 10; i++) expect((await from(`2001:db8::${i}`)).status).toBe(401);
    expect((await from('2001:db8::ffff')).status).toBe(429);
    expect((await from('2001:db8:0:1::1')).status).toBe(401);
    expect((await from('192.0.2.1')).status).toBe(401);
    await behind.stop();
  });
  test('after fifty wrong passwords in a day from everywhere, an e-mail signs in only in a browser where it did before', async () => {
    const behind = await startTestService({ env: { TRUSTED_PROXIES: '127.0.0.1' }, beside: s });
    const email = somebody();
    const owner = openBrowser(behind);
    const from = (address: string, path: string, body: object, browser = openBrowser(behind)) =>
      browser.call('POST', path, { body, headers: { 'x-forwarded-for': address } });
    const invited = await ada.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } });
    const token = invited.body.url.split('#')[1];
    const joining = { token, name: 'x', password: PASSWORD };
    await from('192.0.2.7', '/v1/auth/invitations/accept', joining, owner);
    const attempt = async (address: string, password: string, browser?: Browser) =>
      (await from(address, '/v1/auth/sign-in', { email, password }, browser)).status;
    for (let n = 0; n < 5; n++) {
      for (let i = 0; i < 10; i++) expect(await attempt(`198.51.100.${n}`, 'wrong')).toBe(401);
    }
    expect(await attempt('203.0.113.9', PASSWORD)).toBe(429);
    expect(await attempt('192.0.2.7', PASSWORD), 'an address is no proof').toBe(429);
    expect(await attempt('203.0.113.9', PASSWORD, owner)).toBe(200);
    await behind.stop();
  });
  test('right passwords at once, more than the wrong ones that are allowed, all sign in', async () => {
    const email = somebody();
    const invited = await ada.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } });
    const body = { token: invited.body.url.split('#')[1], name: 'x', password: PASSWORD };
    await openBrowser(s).call('POST', '/v1/auth/invitations/accept', { body });
    const replies = await Promise.all(Array.from({ length: 16 }, () => signIn(email, PASSWORD)));
    // A busy machine may have no time to compare one; that counts for nothing either.
    for (const { status } of replies) expect([200, 503]).toContain(status);
    expect((await signIn(email, PASSWORD)).status).toBe(200);
  });
  test('a right password sets the count of wrong ones back', async () => {
    const email = somebody();
    const invited = await ada.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } });
    const body = { token: invited.body.url.split('#')[1], name: 'x', password: PASSWORD };
    await openBrowser(s).call('POST', '/v1/auth/invitations/accept', { body });
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 9; i++) expect((await signIn(email)).status).toBe(401);
      expect((await signIn(email, PASSWORD)).status).toBe(200);
    }
  });
});

test('a sign-in and a change of password that were under way while the password was changed come to nothing', async () => {
  const email = somebody();
  const invited = await ada.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } });
  const body = { token: invited.body.url.split('#')[1], name: 'x', password: PASSWORD };
  const owner = openBrowser(s);
  await owner.call('POST', '/v1/auth/invitations/accept', { body });
  const change = (browser: Browser, new_password: string) =>
    browser.call('POST', '/v1/auth/password', { body: { current_password: PASSWORD, new_password } });
  const thief = openBrowser(s, new Map(owner.cookies));
  let open = () => {};
  hashes.gate = new Promise((resolve) => {
    open = resolve;
  });
  hashes.begun = 0;
  const late = [signIn(email, PASSWORD), change(thief, 'the password of a thief')];
  await until(() => hashes.begun === 2);
  // What waits is held by the gate of its time; this change is not. It is stored as the service stores one.
  await s.sql(
    'update users set password_hash = $2, credential_epoch = credential_epoch + 1 where email = $1',
    [email, await hash('another long password')],
  );
  hashes.gate = Promise.resolve();
  open();
  for (const reply of await Promise.all(late)) expect(refusal(reply)).toEqual([401, 'unauthenticated']);
  const { rowCount } = await s.sql(
    'select 1 from sessions s join users u on u.user_id = s.user_id where u.email = $1',
    [email],
  );
  expect(rowCount, 'the owner’s session alone').toBe(1);
  expect((await signIn(email, 'another long password')).status).toBe(200);
});

test('hash flood: many sign-ins take two hashes at a time, are refused beyond what may wait, and hold up nothing else', async () => {
  let open = () => {};
  hashes.gate = new Promise((resolve) => {
    open = resolve;
  });
  hashes.begun = 0;
  const answered: number[] = [];
  const flood = Array.from({ length: 80 }, async () => {
    const reply = await signIn(somebody());
    answered.push(reply.status);
    return reply;
  });
  await until(() => answered.length > 0);
  expect(hashes.begun).toBeLessThanOrEqual(2);
  expect((await s.call('GET', '/v1/workspace')).status).toBe(200);
  expect((await ada.call('GET', '/v1/me')).status).toBe(200);
  open();
  const replies = await Promise.all(flood);
  hashes.gate = Promise.resolve();
  const refused = replies.filter((reply) => reply.status === 503);
  expect(refused.length).toBeGreaterThan(0);
  for (const reply of refused) {
    expect([...refusal(reply), reply.body.error.message, reply.headers.get('retry-after')]).toEqual([
      503,
      'auth_unavailable',
      'Sign-in could not be verified right now; retry.',
      '1',
    ]);
  }
  for (const reply of replies) expect([401, 503]).toContain(reply.status);
  expect(hashes.most).toBe(2);
});

describe('a browser in which somebody signed in', () => {
  const deviceOf = (browser: Browser) => [...browser.cookies].find(([name]) => name.includes('device'));
  const attempt = async (browser: Browser, email: string, password: string) =>
    (await browser.call('POST', '/v1/auth/sign-in', { body: { email, password } })).status;
  /** Somebody who joined in a browser, which then has their device cookie alone. */
  const join = async () => {
    const email = somebody();
    const invited = await ada.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } });
    const body = { token: invited.body.url.split('#')[1], name: email, password: PASSWORD };
    const browser = openBrowser(s);
    const joined = await browser.call('POST', '/v1/auth/invitations/accept', { body });
    expect(joined.status).toBe(201);
    await browser.call('POST', '/v1/auth/sign-out');
    return { email, browser, joined };
  };
  test('is known by a cookie as strict as the session’s, which lets nobody in and stays after signing out', async () => {
    const { browser, joined } = await join();
    const [session, device] = joined.headers.getSetCookie() as [string, string];
    expect(device).toMatch(
      /^purser_device_[0-9a-f]{6}=usr_[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=15552000$/,
    );
    expect(session).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; /);
    expect(browser.cookies.size).toBe(1);
    expect(refusal(await browser.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
  });
  test('is not locked out by strangers at its address, and its own wrong guesses count', async () => {
    const { email, browser } = await join();
    for (let i = 0; i < 10; i++) expect(await attempt(openBrowser(s), email, 'wrong')).toBe(401);
    expect(await attempt(openBrowser(s), email, PASSWORD)).toBe(429);
    const stolen = openBrowser(s, new Map(browser.cookies));
    expect(await attempt(browser, email, PASSWORD)).toBe(200);
    for (let i = 0; i < 10; i++) expect(await attempt(stolen, email, 'wrong')).toBe(401);
    expect(await attempt(stolen, email, PASSWORD), 'a stolen cookie guesses no more often').toBe(429);
  });
  test('is a stranger’s once the person set another password elsewhere', async () => {
    const { email, browser } = await join();
    const elsewhere = openBrowser(s);
    expect(await attempt(elsewhere, email, PASSWORD)).toBe(200);
    const body = { current_password: PASSWORD, new_password: 'another long password' };
    expect((await elsewhere.call('POST', '/v1/auth/password', { body })).status).toBe(204);
    for (let i = 0; i < 10; i++) expect(await attempt(openBrowser(s), email, 'wrong')).toBe(401);
    expect(await attempt(browser, email, body.new_password)).toBe(429);
  });
  test('is a stranger’s for everybody else, and with a cookie that was altered', async () => {
    const { email, browser } = await join();
    const other = await join();
    const [name, value] = deviceOf(browser) as [string, string];
    const id = email === other.email ? '' : (deviceOf(other.browser) as [string, string])[1].split('.')[0];
    const forged = [
      `${id}${value.slice(30)}`,
      `${value.slice(0, -1)}${value.endsWith('A') ? 'B' : 'A'}`,
      'x',
    ];
    for (let i = 0; i < 10; i++) expect(await attempt(openBrowser(s), email, 'wrong')).toBe(401);
    for (const cookies of [...forged.map((each) => [[name, each]]), [...other.browser.cookies]])
      expect(await attempt(openBrowser(s, new Map(cookies as [string, string][])), email, PASSWORD)).toBe(
        429,
      );
  });
  test('and an open session find their places though strangers from many addresses wait for theirs', async () => {
    const { email, browser } = await join();
    const behind = await startTestService({ env: { TRUSTED_PROXIES: '127.0.0.1' }, beside: s });
    let open = () => {};
    hashes.gate = new Promise((resolve) => {
      open = resolve;
    });
    hashes.begun = 0;
    const answered: number[] = [];
    const flood = Array.from({ length: 60 }, async (_, i) => {
      const headers = { 'x-forwarded-for': `198.51.100.${i}` };
      const body = { email: `flood-${i}@example.com`, password: 'wrong' };
      const { status } = await openBrowser(behind).call('POST', '/v1/auth/sign-in', { body, headers });
      answered.push(status);
      return status;
    });
    await until(() => answered.length > 0);
    expect(await attempt(openBrowser(behind), email, PASSWORD), 'a stranger finds none').toBe(503);
    const mine = [
      attempt(openBrowser(behind, browser.cookies), email, PASSWORD),
      openBrowser(behind, ada.cookies)
        .call('POST', '/v1/auth/reauthenticate', { body: { password: PASSWORD } })
        .then(({ status }) => status),
    ];
    hashes.gate = Promise.resolve();
    open();
    expect(await Promise.all(mine)).toEqual([200, 204]);
    expect(await Promise.all(flood)).toContain(503);
    await behind.stop();
  });
  test('has a count of its own requests, so that nobody at its address uses up what public routes answer', async () => {
    const small = await startTestService({ env: { RATE_LIMIT_PER_MINUTE: '20' }, beside: s });
    const { email, browser } = await join();
    const stranger = openBrowser(small);
    for (let i = 0; i < 20; i++) await stranger.call('GET', '/v1/auth/options');
    expect(await attempt(stranger, email, PASSWORD)).toBe(429);
    expect(await attempt(openBrowser(small, browser.cookies), email, PASSWORD)).toBe(200);
    await small.stop();
  });
});

describe('what an attempt leaves behind', () => {
  const rows = async () =>
    (
      await s.sql(
        "select email, attempts, client_address from sign_ins where user_id is null and kind = 'wrong'",
      )
    ).rows;
  test('with an e-mail that nobody has is counted: one row for an hour and an address, which hides no member', async () => {
    await s.sql('delete from sign_ins where user_id is null');
    const behind = await startTestService({ env: { TRUSTED_PROXIES: '127.0.0.1' }, beside: s });
    const fail = (email: string, address: string) =>
      openBrowser(behind).call('POST', '/v1/auth/sign-in', {
        body: { email, password: 'wrong' },
        headers: { 'x-forwarded-for': address },
      });
    for (let i = 0; i < 12; i++) await fail(`${'x'.repeat(400)}-${i}@example.com`, '192.0.2.1');
    for (let i = 0; i < 40; i++) await fail(`invented-${i}@example.com`, `198.51.100.${i}`);
    await behind.call('GET', '/v1/sign-ins');
    const found = await rows();
    // Twice as many where the hour turned meanwhile.
    expect([21, 22, 41, 42]).toContain(found.length);
    expect(found.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(52);
    expect(found.find(({ client_address }) => client_address === '192.0.2.1')).toMatchObject({
      attempts: 12,
    });
    expect(found.find(({ client_address }) => client_address === 'other addresses').attempts).toBeGreaterThan(
      1,
    );
    const { body: of_members } = await ada.call('GET', '/v1/sign-ins?member=true');
    expect(of_members.data.every((each: { user_id: string | null }) => each.user_id !== null)).toBe(true);
    const { body: of_nobody } = await ada.call('GET', '/v1/sign-ins?member=false&limit=200');
    expect(of_nobody.data).toHaveLength(found.length);
    await behind.stop();
  });
  test('is written behind the answer, which does not wait for it', async () => {
    const email = somebody();
    const invited = await ada.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } });
    const body = { token: invited.body.url.split('#')[1], name: email, password: PASSWORD };
    await openBrowser(s).call('POST', '/v1/auth/invitations/accept', { body });
    const holder = new pg.Client({ ...s.database.connection, user: SUPERUSER.user });
    await holder.connect();
    await holder.query('begin; lock table sign_ins in access exclusive mode');
    for (const each of [email, 'nobody@example.com']) expect((await signIn(each)).status).toBe(401);
    await holder.query('rollback');
    await holder.end();
    const { body: listed } = await ada.call('GET', '/v1/sign-ins?member=true&limit=1');
    expect(listed.data).toMatchObject([{ email, kind: 'wrong' }]);
  });
  test('and what is looked up before the answer is the same whether or not somebody has the e-mail', async () => {
    const lookUps = async (email: string) => {
      const asked: string[] = [];
      const { query } = pg.Client.prototype;
      const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
        this: pg.Client,
        ...given
      ) {
        const { name } = given[0] as { name?: string };
        if (name !== undefined) asked.push(name);
        return (query as (...all: unknown[]) => never).apply(this, given);
      });
      vi.spyOn(ARGON2, 'verify').mockImplementation(async () => {
        asked.push('compared');
        return false;
      });
      expect((await signIn(email)).status).toBe(401);
      await ada.call('GET', '/v1/sign-ins');
      spy.mockRestore();
      const ours = /^(find_user_by_email|list_memberships|compared|workspaces_of_sign_in|.*_sign_in)$/;
      return asked.filter((name) => ours.test(name));
    };
    const expected = ['find_user_by_email', 'list_memberships', 'compared', 'workspaces_of_sign_in'];
    const known = somebody();
    const invited = await ada.call('POST', '/v1/invitations', { body: { email: known, role: 'viewer' } });
    const body = { token: invited.body.url.split('#')[1], name: known, password: PASSWORD };
    await openBrowser(s).call('POST', '/v1/auth/invitations/accept', { body });
    const firstFour = async (email: string) => (await lookUps(email)).slice(0, 4);
    expect([await firstFour(known), await firstFour(somebody())]).toEqual([expected, expected]);
    const { workspace_id } = await s.addWorkspace({ plan: 'team' });
    expect(workspace_id).toMatch(/^ws_/);
    expect([await firstFour(known), await firstFour(somebody())]).toEqual([expected, expected]);
  });
});
