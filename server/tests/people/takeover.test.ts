import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../src/engine/storage/transactions.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { makeLinkTokens } from '../../src/service/people/links.ts';
import { insertPasskey } from '../../src/service/people/passkey-rows.ts';
import { insertSession } from '../../src/service/people/session-rows.ts';
import { findUserByEmail, raiseEpoch } from '../../src/service/people/user-rows.ts';
import { makeAuthenticator } from '../support/authenticator.ts';
import { type Browser, openBrowser, setUp } from '../support/browser.ts';
import { signInByProvider, startProvider, type TestProvider } from '../support/oidc-provider.ts';
import { makeTestCore, type RunningService, refusal, startTestService } from '../support/running-service.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(5);

/**
 * An administrator of another workspace is shown the link of an invitation, so they can make the account of anybody's e-mail.
 * Nothing of what they left there outlives the moment in which its owner proves the e-mail.
 */

/** How many rounds of each race. */
const ROUNDS = Number(process.env.TAKEOVER_RUNS);
const HIJACKER = 'the password of a thief';
const OWNER = 'the password of the owner';
const out = [401, 'unauthenticated'];

let provider: TestProvider;
let s: RunningService;
let core: Core;
let ada: Browser;
let tenant: { workspace_id: string; admin_key: string };
beforeAll(async () => {
  provider = await startProvider();
  s = await startTestService({
    env: {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'purser',
      OIDC_CLIENT_SECRET: 'a-client-secret',
      OIDC_ROLE_CLAIM: 'groups',
      OIDC_ROLE_VIEWER: 'staff',
      RATE_LIMIT_PER_MINUTE: '1000000',
    },
  });
  await provider.begin(`http://localhost:${new URL(s.url).port}/v1/auth/oidc/callback`);
  ada = await setUp(s);
  tenant = await s.addWorkspace({ plan: 'team' });
  core = makeTestCore(s.database.connection);
});
afterAll(async () => {
  await core.close();
  await s.stop();
  await provider.stop();
});

let count = 0;
let email: string;
beforeEach(() => {
  email = newcomer();
});
/** Makes the provider sign in a new person. Returns their e-mail. */
function newcomer(claims: Record<string, unknown> = {}): string {
  const fresh = `owner-${++count}@example.com`;
  provider.person = {
    sub: `owner-${count}`,
    claims: { email: fresh, email_verified: true, name: 'The owner', ...claims },
  };
  return fresh;
}

const origin = () => `http://localhost:${new URL(s.url).port}`;
const tokenOf = (reply: { body: { url: string } }) => reply.body.url.split('#')[1] as string;
const accept = (token: string, password: string, browser = openBrowser(s)) =>
  browser.call('POST', '/v1/auth/invitations/accept', { body: { token, name: 'x', password } });
const invite = (role: string, key?: string) =>
  (key === undefined ? ada : openBrowser(s)).call('POST', '/v1/invitations', {
    body: { email, role },
    ...(key === undefined ? {} : { key }),
  });
/** Makes the account of somebody's e-mail by an invitation to another workspace, as its administrator can. */
async function hijack(role = 'viewer'): Promise<Browser> {
  const thief = openBrowser(s);
  const reply = await accept(tokenOf(await invite(role, tenant.admin_key)), HIJACKER, thief);
  expect(reply.status).toBe(201);
  return thief;
}
async function addPasskey(browser: Browser): Promise<ReturnType<typeof makeAuthenticator> | null> {
  const options = await browser.call('POST', '/v1/auth/passkey/register/options');
  if (options.status !== 200) return null;
  const made = makeAuthenticator(origin());
  await browser.call('POST', '/v1/auth/passkey/register/verify', { body: made.create(options.body) });
  return made;
}
async function enter(passkey: ReturnType<typeof makeAuthenticator>) {
  const browser = openBrowser(s);
  const { body } = await browser.call('POST', '/v1/auth/passkey/options');
  return browser.call('POST', '/v1/auth/passkey/verify', { body: passkey.get(body) });
}
const type = (password: string, browser = openBrowser(s)) =>
  browser.call('POST', '/v1/auth/sign-in', { body: { email, password } });
/** The link that the operator's command prints. */
async function resetToken(): Promise<string> {
  const user = await findUserByEmail(core.db, email);
  return makeLinkTokens(core.secrets.macs('link')).reset(user as NonNullable<typeof user>, Date.now());
}
const reset = (token: string, password = OWNER, browser = openBrowser(s)) =>
  browser.call('POST', '/v1/auth/password/reset', { body: { token, password } });
const workspacesOf = async (browser: Browser) => {
  const { body } = await browser.call('GET', '/v1/me');
  return Object.fromEntries(
    body.workspaces.map((each: { id: string; role: string; status: string }) => [
      each.id === s.workspace_id ? 'own' : each.id === tenant.workspace_id ? 'tenant' : each.id,
      `${each.role} ${each.status}`,
    ]),
  );
};

describe('the thief who made the account of somebody’s e-mail has no way in left', () => {
  test('once its owner used the operator’s link: neither passkey, session, password nor link', async () => {
    const thief = await hijack();
    const passkey = await addPasskey(thief);
    const pending = await thief.call('POST', '/v1/auth/passkey/register/options');
    const other_link = await resetToken();
    const owner = openBrowser(s);
    expect((await reset(await resetToken(), OWNER, owner)).status).toBe(200);
    expect((await accept(tokenOf(await invite('admin')), OWNER, owner)).status).toBe(201);
    expect(await workspacesOf(owner)).toEqual({ own: 'admin active', tenant: 'viewer pending' });
    for (const reply of [
      await thief.call('GET', '/v1/me'),
      await enter(passkey as NonNullable<typeof passkey>),
      await type(HIJACKER),
      await reset(other_link, 'another one of the thief'),
      await owner.call('POST', '/v1/auth/passkey/register/verify', {
        body: makeAuthenticator(origin()).create(pending.body),
      }),
    ]) {
      expect(refusal(reply)).toEqual(out);
    }
    expect((await owner.call('GET', '/v1/me/passkeys')).body.data).toEqual([]);
    expect((await owner.call('GET', '/v1/me/sessions')).body.data).toHaveLength(1);
  });
  test.each([false, true])(
    'once the provider vouched for its owner (password removed before: %s)',
    async (is_removed) => {
      const thief = await hijack();
      const passkey = await addPasskey(thief);
      if (is_removed) expect((await thief.call('DELETE', '/v1/auth/password')).status).toBe(204);
      await invite('admin');
      const { browser: owner, code } = await signInByProvider(s);
      expect(code).toBe(null);
      expect(await workspacesOf(owner)).toEqual({ own: 'admin active', tenant: 'viewer pending' });
      expect(refusal(await thief.call('GET', '/v1/me'))).toEqual(out);
      expect(refusal(await enter(passkey as NonNullable<typeof passkey>))).toEqual(out);
      expect(refusal(await type(HIJACKER))).toEqual(out);
      expect((await owner.call('GET', '/v1/me')).body.has_password).toBe(false);
    },
  );
  test('whose owner has a role by the provider’s claims: they join the installation’s own workspace all the same', async () => {
    email = newcomer({ groups: 'staff' });
    const thief = await hijack();
    const { browser: owner } = await signInByProvider(s);
    expect((await owner.call('GET', '/v1/me')).body.workspace.id).toBe(s.workspace_id);
    expect(await workspacesOf(owner)).toEqual({ own: 'viewer active', tenant: 'viewer pending' });
    expect(refusal(await thief.call('GET', '/v1/me'))).toEqual(out);
  });
  test('who is new, and invited elsewhere too, comes in at the installation’s own workspace', async () => {
    email = newcomer({ groups: 'staff' });
    await invite('viewer', tenant.admin_key);
    const { browser: owner } = await signInByProvider(s);
    expect((await owner.call('GET', '/v1/me')).body.workspace.id).toBe(s.workspace_id);
    expect(await workspacesOf(owner)).toEqual({ own: 'viewer active', tenant: 'viewer active' });
  });
  test('what the owner made after the first proof stays when the provider vouches for them too', async () => {
    await hijack();
    const owner = openBrowser(s);
    await reset(await resetToken(), OWNER, owner);
    const passkey = await addPasskey(owner);
    expect((await signInByProvider(s)).code).toBe(null);
    expect((await owner.call('GET', '/v1/me')).status).toBe(200);
    expect((await enter(passkey as NonNullable<typeof passkey>)).status).toBe(200);
    expect((await type(OWNER)).status).toBe(200);
  });
  test('two first sign-ins of the owner at once are both let in', async () => {
    await hijack();
    const both = await Promise.all([signInByProvider(s), signInByProvider(s)]);
    expect(both.map(({ code }) => code)).toEqual([null, null]);
  });
});

describe('races of the first proof', () => {
  const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
  /** Registers passkeys in all of the thief's sessions, one after another, until they end. */
  async function registerUntilOut(thief: Browser) {
    const made: ReturnType<typeof makeAuthenticator>[] = [];
    for (;;) {
      const passkey = await addPasskey(thief);
      if (passkey === null) return made;
      made.push(passkey);
    }
  }
  test.each(rounds)('no passkey that is registered meanwhile stays (round %i)', async (round) => {
    const first = await hijack();
    const thieves = [first, openBrowser(s), openBrowser(s)];
    for (const thief of thieves.slice(1)) await type(HIJACKER, thief);
    const racing = thieves.map(registerUntilOut);
    await invite('admin');
    if (round % 2 === 0) expect((await signInByProvider(s)).code).toBe(null);
    else expect((await reset(await resetToken())).status).toBe(200);
    const made = (await Promise.all(racing)).flat();
    for (const passkey of made.slice(-8)) expect(refusal(await enter(passkey))).toEqual(out);
    for (const thief of thieves) expect(refusal(await thief.call('GET', '/v1/me'))).toEqual(out);
  });
  test.each(rounds)('no session that begins meanwhile stays (round %i)', async (round) => {
    const thief = await hijack();
    const passkey = (await addPasskey(thief)) as NonNullable<Awaited<ReturnType<typeof addPasskey>>>;
    await invite('admin');
    const browsers = Array.from({ length: 4 }, () => openBrowser(s));
    const racing = browsers.map(async (browser, i) => {
      if (i % 2 === 0) return type(HIJACKER, browser);
      const { body } = await browser.call('POST', '/v1/auth/passkey/options');
      return browser.call('POST', '/v1/auth/passkey/verify', { body: passkey.get(body) });
    });
    if (round % 2 === 0) expect((await signInByProvider(s)).code).toBe(null);
    else expect((await reset(await resetToken())).status).toBe(200);
    await Promise.all(racing);
    for (const browser of browsers) expect(refusal(await browser.call('GET', '/v1/me'))).toEqual(out);
  });
  test.each(rounds)('no password that is changed or removed meanwhile undoes it (round %i)', async () => {
    const thief = await hijack();
    await addPasskey(thief);
    const token = await resetToken();
    const body = { current_password: HIJACKER, new_password: 'another one of the thief' };
    const racing = [
      thief.call('POST', '/v1/auth/password', { body }),
      openBrowser(s, new Map(thief.cookies)).call('DELETE', '/v1/auth/password'),
    ];
    const first = await reset(token);
    await Promise.all(racing);
    // Where the thief was faster the link is worth nothing; another one is.
    if (first.status !== 200) expect((await reset(await resetToken())).status).toBe(200);
    expect((await type(OWNER)).status).toBe(200);
    for (const password of [HIJACKER, body.new_password]) expect(refusal(await type(password))).toEqual(out);
    expect(refusal(await thief.call('GET', '/v1/me'))).toEqual(out);
  });

  /** Runs a write while the raise of the epoch is done and not committed; the write waits for it. */
  async function duringRaise(write: (user_id: string) => Promise<boolean>): Promise<boolean> {
    await hijack();
    const { user_id, credential_epoch } = (await findUserByEmail(core.db, email)) as NonNullable<
      Awaited<ReturnType<typeof findUserByEmail>>
    >;
    let written = Promise.resolve(true);
    await inTransaction(core.db, { reading: false }, async (client) => {
      const all_end = { password_hash: null, is_proof: true, kept_session_id: null };
      await raiseEpoch(client, { user_id, credential_epoch }, all_end);
      written = write(user_id);
      const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await until(async () => (await s.sql(waits)).rowCount === 1);
    });
    return written;
  }
  test('a passkey that is stored while the epoch is raised is not stored', async () => {
    const stored = await duringRaise((user_id) =>
      insertPasskey(core.db, {
        credential_id: `late-${count}`,
        user_id,
        public_key: Buffer.alloc(1),
        counter: 0,
        transports: [],
        name: 'late',
        credential_epoch: 0,
      }),
    );
    expect(stored).toBe(false);
  });
  test('a session that is stored while the epoch is raised is not stored', async () => {
    const stored = await duringRaise((user_id) =>
      insertSession(core.db, {
        digest: Buffer.from(`late-${count}`),
        session_id: `ses_late_${count}`,
        user_id,
        workspace_id: tenant.workspace_id,
        method: 'password',
        hours: 1,
        client_address: '127.0.0.1',
        user_agent: null,
        credential_epoch: 0,
        proved_at_ms: 'now',
        earlier: [],
      }),
    );
    expect(stored).toBe(false);
  });
});

describe('a link for a new password', () => {
  test('that was used never works again, also where the password it set was removed', async () => {
    const owner = await hijack();
    await addPasskey(owner);
    expect((await owner.call('DELETE', '/v1/auth/password')).status).toBe(204);
    const token = await resetToken();
    const renewed = openBrowser(s);
    expect((await reset(token, OWNER, renewed)).status).toBe(200);
    expect(refusal(await reset(token))).toEqual(out);
    await addPasskey(renewed);
    expect((await renewed.call('DELETE', '/v1/auth/password')).status).toBe(204);
    expect(refusal(await reset(token, 'chosen by who found the link'))).toEqual(out);
  });
  test('is worth nothing once the password was changed, which leaves passkeys and the session that changed it', async () => {
    const owner = await hijack();
    const passkey = (await addPasskey(owner)) as NonNullable<Awaited<ReturnType<typeof addPasskey>>>;
    const elsewhere = openBrowser(s);
    await type(HIJACKER, elsewhere);
    const token = await resetToken();
    const body = { current_password: HIJACKER, new_password: OWNER };
    expect((await owner.call('POST', '/v1/auth/password', { body })).status).toBe(204);
    expect(refusal(await reset(token))).toEqual(out);
    expect(refusal(await elsewhere.call('GET', '/v1/me'))).toEqual(out);
    expect((await owner.call('GET', '/v1/me')).status).toBe(200);
    expect((await owner.call('GET', '/v1/me/passkeys')).body.data).toHaveLength(1);
    expect((await enter(passkey)).status).toBe(200);
  });
});

describe('a membership from before the first proof', () => {
  /** Signed in by the operator's link, with nothing but a membership that somebody else accepted. */
  async function owner(role = 'admin'): Promise<Browser> {
    await hijack(role);
    const browser = openBrowser(s);
    expect((await reset(await resetToken(), OWNER, browser)).status).toBe(200);
    return browser;
  }
  const decide = (browser: Browser, workspace_id = tenant.workspace_id) => ({
    accept: () => browser.call('POST', `/v1/me/workspaces/${workspace_id}/accept`),
    leave: () => browser.call('DELETE', `/v1/me/workspaces/${workspace_id}`),
  });
  const memberships = async () =>
    (await s.call('GET', '/v1/members?limit=200', { key: tenant.admin_key })).body.data as {
      email: string;
      user_id: string;
    }[];

  test('gives nothing: no scope, no switch into it; the person sees it and nothing else', async () => {
    const browser = await owner();
    const { body: me } = await browser.call('GET', '/v1/me');
    expect([me.workspace, me.role, me.principal_id, me.scopes]).toEqual([null, null, null, []]);
    expect(me.workspaces).toEqual([
      { id: tenant.workspace_id, name: 'Another', role: 'admin', status: 'pending' },
    ]);
    for (const path of ['/v1/workspace', '/v1/members', '/v1/decisions', '/v1/changes', '/v1/audit']) {
      expect([path, ...refusal(await browser.call('GET', path))]).toEqual([path, 403, 'insufficient_scope']);
    }
    const body = { name: 'k', scopes: ['read'] };
    expect(refusal(await browser.call('POST', '/v1/api-keys', { body }))).toEqual([
      403,
      'insufficient_scope',
    ]);
    const there = { workspace_id: tenant.workspace_id };
    expect(refusal(await browser.call('POST', '/v1/me/workspace', { body: there }))).toEqual([
      404,
      'not_found',
    ]);
    expect((await type(OWNER)).status, 'they may sign in to decide').toBe(200);
    const listed = (await memberships()).find((each) => each.email === email);
    expect(listed).toMatchObject({ role: 'admin', status: 'active', pending: true });
    const { body: told } = await s.call('GET', '/v1/sign-ins?limit=1', { key: tenant.admin_key });
    expect(told.data[0], 'their address is not shown').toMatchObject({
      kind: 'ok',
      email,
      client_address: null,
    });
  });
  test('takes the administration of it along where it is replaced by a lesser role', async () => {
    const { admin_key } = await s.addWorkspace({ plan: 'team' });
    const first = openBrowser(s);
    await accept(tokenOf(await invite('admin', admin_key)), HIJACKER, first);
    const made = await first.call('POST', '/v1/api-keys', { body: { name: 'k', scopes: ['admin', 'read'] } });
    const user = await findUserByEmail(core.db, email);
    const proof = { password_hash: user?.password_hash ?? null, is_proof: true, kept_session_id: null };
    await raiseEpoch(core.db, user as NonNullable<typeof user>, proof);
    const again = await accept(tokenOf(await invite('viewer', admin_key)), HIJACKER);
    expect([made.status, again.status, again.body.role]).toEqual([201, 201, 'viewer']);
    const { status } = await s.call('GET', '/v1/api-keys/current', { key: made.body.key });
    expect(status).toBe(401);
  });
  test('is no administrator’s: the only other one can be neither demoted nor removed', async () => {
    const other = await s.addWorkspace({ plan: 'team' });
    const joined = async (of: string) => {
      email = of;
      const browser = openBrowser(s);
      await accept(tokenOf(await invite('admin', other.admin_key)), HIJACKER, browser);
      return (await browser.call('GET', '/v1/me')).body.user.id as string;
    };
    const boss = await joined(newcomer());
    const pending = await joined(newcomer());
    expect((await reset(await resetToken())).status).toBe(200);
    const change = (method: string, user_id: string, body?: object) =>
      s.call(method, `/v1/members/${user_id}`, {
        key: other.admin_key,
        ...(body === undefined ? {} : { body }),
      });
    expect(refusal(await change('PATCH', boss, { role: 'viewer' }))).toEqual([409, 'last_admin']);
    expect(refusal(await change('DELETE', boss))).toEqual([409, 'last_admin']);
    expect((await change('PATCH', pending, { role: 'viewer' })).status).toBe(200);
    expect((await change('DELETE', pending)).status).toBe(204);
  });
  test('is accepted by its owner, recorded as theirs, and then like any other', async () => {
    const browser = await owner();
    const reply = await decide(browser).accept();
    expect([reply.status, reply.body.role, reply.body.workspace.id]).toEqual([
      200,
      'admin',
      tenant.workspace_id,
    ]);
    expect((await decide(browser).accept()).status).toBe(200);
    expect(await workspacesOf(browser)).toEqual({ tenant: 'admin active' });
    expect((await browser.call('GET', '/v1/members')).status).toBe(200);
    const { body: audit } = await browser.call('GET', '/v1/audit?limit=1');
    const { body: me } = await browser.call('GET', '/v1/me');
    expect(audit.data[0]).toMatchObject({
      action: 'member.joined',
      actor: { type: 'user', session_id: me.session.id, principal_id: me.principal_id },
      target: { type: 'member', id: me.user.id },
    });
    expect((await browser.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true, breaks: [] });
  });
  test('is declined by its owner: they are no member any more, and a session without another workspace is over', async () => {
    const browser = await owner();
    expect((await decide(browser).leave()).status).toBe(204);
    expect(refusal(await browser.call('GET', '/v1/me'))).toEqual(out);
    expect((await memberships()).map((each) => each.email)).not.toContain(email);
    const verified = await s.call('GET', '/v1/ledger/verify', { key: tenant.admin_key });
    expect(verified.body.valid).toBe(true);
  });
  test('is declined from another workspace, once; what was joined is not left so', async () => {
    const browser = await owner();
    await accept(tokenOf(await invite('reviewer')), OWNER, browser);
    expect((await decide(browser).leave()).status).toBe(204);
    expect(refusal(await decide(browser).leave())).toEqual([404, 'not_found']);
    expect(refusal(await decide(browser).accept())).toEqual([404, 'not_found']);
    expect(refusal(await decide(browser, s.workspace_id).leave())).toEqual([404, 'not_found']);
    expect((await decide(browser, s.workspace_id).accept()).status, 'nothing to accept').toBe(200);
    expect(await workspacesOf(browser)).toEqual({ own: 'reviewer active' });
  });
  test('is from before the proof whatever the clock said then, and is accepted all the same', async () => {
    await hijack('viewer');
    const { rows } = await s.sql(
      `select m.user_id, m.joined_at + interval '1 day' as later from members m join users u on u.user_id = m.user_id
        where u.email = $1`,
      [email],
    );
    for (const { user_id, later } of rows)
      await s.sql('update members set joined_at = $2 where user_id = $1', [user_id, later]);
    const browser = openBrowser(s);
    expect((await reset(await resetToken(), OWNER, browser)).status).toBe(200);
    expect(await workspacesOf(browser)).toEqual({ tenant: 'viewer pending' });
    expect((await decide(browser).accept()).body.role).toBe('viewer');
    expect((await accept(tokenOf(await invite('viewer')), OWNER, browser)).status).toBe(201);
    expect(await workspacesOf(browser)).toEqual({ own: 'viewer active', tenant: 'viewer active' });
  });
  test('is nobody else’s to accept, nor one by a session that is over', async () => {
    const browser = await owner();
    expect(refusal(await decide(ada).accept())).toEqual([404, 'not_found']);
    expect(refusal(await decide(ada).leave())).toEqual([404, 'not_found']);
    const copy = openBrowser(s, new Map(browser.cookies));
    await browser.call('POST', '/v1/auth/sign-out');
    expect(refusal(await decide(copy).accept())).toEqual(out);
  });
  test('is replaced by another invitation that its owner accepts', async () => {
    const browser = await owner('viewer');
    const again = await invite('reviewer', tenant.admin_key);
    expect(again.status).toBe(201);
    expect((await accept(tokenOf(again), OWNER, browser)).status).toBe(201);
    expect(await workspacesOf(browser)).toEqual({ tenant: 'reviewer active' });
  });
});
