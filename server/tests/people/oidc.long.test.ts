import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import {
  signInByProvider,
  startProvider,
  type TestProvider,
  visitProvider,
} from '../support/oidc-provider.ts';
import { fieldOf, type RunningService, refusal, startTestService } from '../support/running-service.ts';

let provider: TestProvider;
let s: RunningService;
let ada: Browser;
const env = () => ({
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: 'purser',
  OIDC_CLIENT_SECRET: 'a-client-secret',
  OIDC_NAME: 'Okta',
});

beforeAll(async () => {
  provider = await startProvider();
  s = await startTestService({ env: env() });
  const { port } = new URL(s.url);
  await provider.begin(`http://localhost:${port}/v1/auth/oidc/callback`);
  ada = await setUp(s);
});
afterAll(async () => {
  await s.stop();
  await provider.stop();
});
beforeEach(() => {
  provider.alterClaims = null;
  provider.alterToken = null;
  provider.broken = null;
});

let count = 0;
/** Somebody new stands before the provider. */
function newcomer(claims: Record<string, unknown> = {}): string {
  const email = `person-${++count}@example.com`;
  provider.person = { sub: `sub-${count}`, claims: { email, email_verified: true, name: 'Bob', ...claims } };
  return email;
}
const invite = async (email: string, role = 'reviewer') => {
  const reply = await ada.call('POST', '/v1/invitations', { body: { email, role } });
  expect(reply.status).toBe(201);
  return reply.body;
};
const isOut = async ({ browser, code }: Awaited<ReturnType<typeof signInByProvider>>, expected: string) => {
  expect(code).toBe(expected);
  expect(refusal(await browser.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
};

test('a person is known by issuer and subject: the same subject at another issuer is somebody else', async () => {
  const email = newcomer();
  await invite(email);
  await signInByProvider(s);
  await s.sql("update user_identities set issuer = 'https://other.example' where subject = $1", [
    provider.person.sub,
  ]);
  provider.person.claims = { email: 'another@example.com', email_verified: true };
  await isOut(await signInByProvider(s), 'not_invited');
});

test('the provider leads back to PUBLIC_URL, wherever it was asked', async () => {
  const far = await startTestService({ env: { ...env(), PUBLIC_URL: 'https://purser.example' } });
  const reply = await openBrowser(far).call('GET', '/v1/auth/oidc/start');
  const asked = new URL(reply.headers.get('location') as string).searchParams;
  expect(asked.get('redirect_uri')).toBe('https://purser.example/v1/auth/oidc/callback');
  expect([asked.get('code_challenge_method'), asked.get('response_type')]).toEqual(['S256', 'code']);
  for (const name of ['code_challenge', 'state', 'nonce']) expect(asked.get(name)).toMatch(/^[\w-]{43}$/);
  expect(reply.headers.getSetCookie()[0]).toMatch(
    /^__Host-purser-oidc=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax; Max-Age=600$/,
  );
  await far.stop();
});

test('the page of the sign-in knows the provider’s name', async () => {
  expect((await openBrowser(s).call('GET', '/v1/auth/options')).body.oidc).toEqual({ name: 'Okta' });
});

test('an invited person with a verified e-mail joins, which uses the invitation up, and is known afterwards', async () => {
  const email = newcomer();
  await invite(email.toUpperCase());
  const { browser, reply } = await signInByProvider(s);
  expect([reply.status, new URL(reply.headers.get('location') as string).pathname]).toEqual([
    302,
    '/console/',
  ]);
  const { body: me } = await browser.call('GET', '/v1/me');
  // The person of the test before is called Bob too.
  expect([me.user.email, me.user.name, me.role]).toEqual([email, `Bob (${email})`, 'reviewer']);
  const { body } = await ada.call('GET', '/v1/invitations?limit=1');
  expect(body.data[0].status).toBe('accepted');
  // The e-mail is not asked again once subject and person are linked.
  provider.person.claims = { email: 'another@example.com', email_verified: false };
  const again = await signInByProvider(s);
  expect((await again.browser.call('GET', '/v1/me')).body.user.id).toBe(me.user.id);
});

describe('who may not sign in by the provider', () => {
  test('a person without an invitation is refused', async () => {
    newcomer();
    await isOut(await signInByProvider(s), 'not_invited');
  });
  test.each(['user_identities', 'sign_ins', 'used_oidc_states'])(
    'nobody is, where %s cannot be read: the page says so',
    async (table) => {
      await invite(newcomer());
      await s.sql(`alter table ${table} rename to hidden`);
      try {
        await isOut(await signInByProvider(s), 'auth_unavailable');
      } finally {
        await s.sql(`alter table hidden rename to ${table}`);
      }
    },
  );
  test.each([{ email_verified: false }, { email_verified: 'true' }, { email_verified: undefined }])(
    'unverified e-mail: whose e-mail the provider does not vouch for, %o',
    async (claims) => {
      await invite(newcomer(claims));
      await isOut(await signInByProvider(s), 'email_unverified');
    },
  );
  test('another subject with the e-mail of a linked person is refused', async () => {
    const email = newcomer();
    await invite(email);
    await signInByProvider(s);
    provider.person = { sub: 'somebody-else', claims: { email, email_verified: true } };
    await isOut(await signInByProvider(s), 'email_taken');
    const { body: tried } = await ada.call('GET', '/v1/sign-ins?limit=1');
    expect(tried.data[0]).toMatchObject({ kind: 'oidc_failed', method: 'oidc', email });
    expect(tried.data[0].user_id, 'it is told of the member whose e-mail it was').toMatch(/^usr_/);
  });
  test('a removed person is refused until invited again', async () => {
    await invite(newcomer());
    const { browser } = await signInByProvider(s);
    const { body: me } = await browser.call('GET', '/v1/me');
    await ada.call('DELETE', `/v1/members/${me.user.id}`);
    await isOut(await signInByProvider(s), 'not_invited');
  });
});

describe('forged id_tokens', () => {
  const invited = async () => invite(newcomer());
  test('an id_token with a signature that is not the provider’s is refused, though the token endpoint sent it', async () => {
    const { email } = await invited();
    // With all that is needed in the token, nothing else is asked that could show the forgery.
    provider.alterToken = (token) => {
      const [head, , proof] = token.split('.');
      const claims = JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
      const forged = Buffer.from(JSON.stringify({ ...claims, email, email_verified: true })).toString(
        'base64url',
      );
      return `${head}.${forged}.${proof}`;
    };
    await isOut(await signInByProvider(s), 'sign_in_failed');
  });
  test('an unsigned id_token is refused', async () => {
    await invited();
    provider.alterToken = (token) => {
      const head = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
      return `${head}.${token.split('.')[1]}.`;
    };
    await isOut(await signInByProvider(s), 'sign_in_failed');
  });
  test.each([
    ['of another issuer', { iss: 'https://evil.example' }],
    ['for another client', { aud: 'another-client' }],
    ['for another sign-in', { nonce: 'another nonce' }],
    ['that has expired', { exp: 1 }],
  ])('an id_token %s is refused', async (_what, claims) => {
    await invited();
    provider.alterClaims = (given) => ({ ...given, ...claims });
    await isOut(await signInByProvider(s), 'sign_in_failed');
  });
  test('the same person with a sound id_token is let in', async () => {
    await invited();
    expect((await signInByProvider(s)).code).toBe(null);
  });
});

describe('the callback', () => {
  const page = { headers: { 'sec-fetch-site': '', accept: 'text/html' } };
  test('mixed-up issuers: a callback with another issuer, another state or no code is refused', async () => {
    await invite(newcomer());
    for (const alter of [
      (url: URL) => url.searchParams.set('state', 'forged'),
      (url: URL) => url.searchParams.delete('state'),
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
      (url: URL) => url.searchParams.set('code', 'forged'),
      (url: URL) => url.searchParams.delete('code'),
    ]) {
      await isOut(await signInByProvider(s, { alterCallback: alter }), 'sign_in_failed');
    }
  });
  test('a callback works only in the browser that began the sign-in', async () => {
    await invite(newcomer());
    const started = await openBrowser(s).call('GET', '/v1/auth/oidc/start', page);
    expect(started.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    const { callback } = await signInByProvider(s, {
      alterCallback: (url) => url.searchParams.set('state', 'kept back'),
    });
    const victim = openBrowser(s);
    const reply = await victim.call('GET', callback, page);
    expect(reply.headers.get('location')).toContain('/console/sign-in?error=sign_in_failed');
  });
  test('replayed code: a callback works once', async () => {
    await invite(newcomer());
    const { browser, callback, code } = await signInByProvider(s);
    expect(code).toBe(null);
    const again = openBrowser(s, new Map(browser.cookies));
    const reply = await again.call('GET', callback, page);
    expect(reply.headers.get('location')).toContain('error=sign_in_failed');
  });
  test('a callback that failed at the provider is used up all the same', async () => {
    await invite(newcomer());
    const browser = openBrowser(s);
    const started = await browser.call('GET', '/v1/auth/oidc/start', page);
    const back = new URL(await visitProvider(started.headers.get('location') as string));
    const callback = `${back.pathname}${back.search}`;
    const copy = openBrowser(s, new Map(browser.cookies));
    provider.broken = '/token';
    const first = await browser.call('GET', callback, page);
    expect(first.headers.get('location')).toContain('error=auth_unavailable');
    provider.broken = null;
    const second = await copy.call('GET', callback, page);
    expect(second.headers.get('location')).toContain('error=sign_in_failed');
    expect(refusal(await copy.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
  });
  test('a callback with another state uses nothing up: the right one is let in after it', async () => {
    await invite(newcomer());
    const browser = openBrowser(s);
    const started = await browser.call('GET', '/v1/auth/oidc/start', page);
    const back = new URL(await visitProvider(started.headers.get('location') as string));
    const forged = openBrowser(s, new Map(browser.cookies));
    await forged.call('GET', `${back.pathname}?code=forged&state=forged`, page);
    const reply = await browser.call('GET', `${back.pathname}${back.search}`, page);
    expect(reply.headers.get('location')).toMatch(/\/console\/$/);
  });
  test('beside a page that waits it leads to the page that tells it so', async () => {
    await invite(newcomer(), 'admin');
    for (const again of ['session', 'proof'] as const) {
      const { reply } = await signInByProvider(s, { again });
      expect(reply.headers.get('location')).toMatch(/\/console\/signed-in$/);
    }
    const other = await openBrowser(s).call('GET', '/v1/auth/oidc/start?again=evil.example');
    expect(refusal(other)).toEqual([400, 'invalid_request']);
  });
  test('it ends the session that the browser had when it went to the provider', async () => {
    await invite(newcomer());
    const { browser } = await signInByProvider(s);
    const copy = openBrowser(s, new Map(browser.cookies));
    expect((await copy.call('GET', '/v1/me')).status).toBe(200);
    const started = await browser.call('GET', '/v1/auth/oidc/start', page);
    const back = new URL(await visitProvider(started.headers.get('location') as string));
    // A browser does not send the session's cookie on the way back from another site.
    const [transaction] = started.headers.getSetCookie().map((cookie) => cookie.split(';')[0] as string);
    const [name, value] = (transaction as string).split(/=(.*)/) as [string, string];
    const returning = openBrowser(s, new Map([[name, value]]));
    await returning.call('GET', `${back.pathname}${back.search}`, page);
    expect((await returning.call('GET', '/v1/me')).status).toBe(200);
    expect(refusal(await copy.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
  });
  test('open redirect: after sign-in the browser is sent to the console alone, whatever address was asked for', async () => {
    newcomer();
    const alterCallback = (url: URL) => {
      for (const name of ['return_to', 'redirect_uri', 'next'])
        url.searchParams.set(name, 'https://evil.example');
    };
    const { reply } = await signInByProvider(s, { alterCallback });
    expect(new URL(reply.headers.get('location') as string).host).toBe(`localhost:${new URL(s.url).port}`);
    const started = await openBrowser(s).call('GET', '/v1/auth/oidc/start?return_to=https://evil.example');
    expect(refusal(started)).toEqual([400, 'invalid_request']);
  });
});

describe('a sign-in through the provider is as fresh a proof as its auth_time', () => {
  const makesAdminKey = async (again?: 'session' | 'proof') => {
    const { browser, code } = await signInByProvider(s, again === undefined ? {} : { again });
    expect(code).toBe(null);
    const reply = await browser.call('POST', '/v1/api-keys', { body: { name: 'k', scopes: ['admin'] } });
    return reply.status === 201 || refusal(reply);
  };
  const stale = [403, 'reauthentication_required'];
  const now_s = () => Math.floor(Date.now() / 1_000);
  test.each<['session' | 'proof' | undefined]>([[undefined], ['session'], ['proof']])(
    'without one it is none, and an old one is an old proof (again=%s)',
    async (again) => {
      await invite(newcomer(), 'admin');
      provider.alterClaims = ({ auth_time, ...claims }) => claims;
      expect(await makesAdminKey(again)).toEqual(stale);
      provider.alterClaims = (claims) => ({ ...claims, auth_time: now_s() - 8 * 3_600 });
      expect(await makesAdminKey(again)).toEqual(stale);
      provider.alterClaims = (claims) => ({ ...claims, auth_time: now_s() - 60 });
      expect(await makesAdminKey(again)).toBe(true);
    },
  );
  test('for a proof the provider is asked to have the person sign in there once more, and says when they did', async () => {
    const started = await openBrowser(s).call('GET', '/v1/auth/oidc/start?again=proof');
    expect(new URL(started.headers.get('location') as string).searchParams.get('max_age')).toBe('0');
    await invite(newcomer(), 'admin');
    expect(await makesAdminKey('proof')).toBe(true);
  });
  test('one that lies ahead is now, so that it is not fresh for longer', async () => {
    const email = newcomer();
    await invite(email, 'admin');
    provider.alterClaims = (claims) => ({ ...claims, auth_time: 1e15 });
    expect(await makesAdminKey()).toBe(true);
    const { rows } = await s.sql(
      `select s.proved_at <= s.created_at as is_past from sessions s
        join users u on u.user_id = s.user_id where u.email = $1`,
      [email],
    );
    expect(rows).toEqual([{ is_past: true }]);
  });
});

test('an e-mail of one document is not verified by another', async () => {
  await invite(newcomer({ email_verified: false }));
  provider.alterClaims = (claims) => ({ ...claims, email_verified: true });
  await isOut(await signInByProvider(s), 'email_unverified');
});

describe('a provider that does not answer is no way in: 503, or the page that says so', () => {
  test('a provider that cannot be reached at the start of a sign-in', async () => {
    const silent = await startTestService({
      env: { ...env(), OIDC_ISSUER: 'http://127.0.0.1:9' },
    });
    const asked = await openBrowser(silent).call('GET', '/v1/auth/oidc/start');
    expect([...refusal(asked), asked.headers.get('retry-after')]).toEqual([503, 'auth_unavailable', '1']);
    const shown = await openBrowser(silent).call('GET', '/v1/auth/oidc/start', {
      headers: { accept: 'text/html' },
    });
    expect(shown.headers.get('location')).toContain('/console/sign-in?error=auth_unavailable');
    await silent.stop();
  });
  test.each(['/token', '/me', '/jwks'])('a provider that fails at %s afterwards', async (path) => {
    // The keys are kept once they were fetched, so a service that has none yet asks.
    const fresh = await startTestService({
      env: { ...env(), PUBLIC_URL: `http://localhost:${new URL(s.url).port}` },
      beside: s,
    });
    const page = { headers: { accept: 'text/html' } };
    newcomer();
    const browser = openBrowser(fresh);
    const started = await browser.call('GET', '/v1/auth/oidc/start', page);
    const back = new URL(await visitProvider(started.headers.get('location') as string));
    provider.broken = path;
    const reply = await browser.call('GET', `${back.pathname}${back.search}`);
    expect(refusal(reply)).toEqual([503, 'auth_unavailable']);
    await fresh.stop();
  });
});

test('roles follow the claim, domains bound who may come, and passwords can be switched off', async () => {
  const only = await startTestService({
    env: {
      ...env(),
      PASSWORD_SIGN_IN: 'off',
      OIDC_ALLOWED_DOMAINS: 'example.com',
      OIDC_DEFAULT_ROLE: 'viewer',
      OIDC_ROLE_CLAIM: 'groups',
      OIDC_ROLE_ADMIN: 'treasury',
      OIDC_ROLE_REVIEWER: 'desk',
      OIDC_ROLE_VIEWER: 'audit',
      PUBLIC_URL: `http://localhost:${new URL(s.url).port}`,
    },
  });
  const roleOf = async (claims: object) => {
    provider.person.claims = { ...provider.person.claims, ...claims };
    const { browser, code } = await signInByProvider(only);
    return code ?? (await browser.call('GET', '/v1/me')).body.role;
  };
  newcomer({ groups: ['staff', 'treasury'] });
  expect(await roleOf({})).toBe('admin');
  const { browser: boss } = await signInByProvider(only, { again: 'proof' });
  // The last administrator stays one, and a claim that names no role changes none.
  expect(await roleOf({ groups: ['staff'] })).toBe('admin');
  newcomer();
  expect(await roleOf({})).toBe('viewer');
  expect(await roleOf({ groups: 'treasury' })).toBe('admin');
  newcomer({ groups: ['audit', 'desk'] });
  expect(await roleOf({}), 'the highest of several').toBe('reviewer');
  expect(await roleOf({ groups: 'audit' })).toBe('viewer');
  newcomer({ email: 'eve@evil.example' });
  expect(await roleOf({})).toBe('domain_not_allowed');
  const { body: me } = await boss.call('GET', '/v1/me');
  // A password from before opens nothing, is no fresh proof, and is not changed.
  const { rows } = await s.sql("select password_hash from users where email = 'ada@example.com'");
  await only.sql('update users set password_hash = $1', [rows[0].password_hash]);
  const prove = await boss.call('POST', '/v1/auth/reauthenticate', { body: { password: PASSWORD } });
  expect([...refusal(prove), fieldOf(prove)]).toEqual([400, 'invalid_request', 'password']);
  const change = { current_password: PASSWORD, new_password: 'another long password' };
  const changed = await boss.call('POST', '/v1/auth/password', { body: change });
  expect([...refusal(changed), fieldOf(changed)]).toEqual([400, 'invalid_request', 'current_password']);
  const typed = await openBrowser(only).call('POST', '/v1/auth/sign-in', {
    body: { email: me.user.email, password: PASSWORD },
  });
  expect(refusal(typed)).toEqual([401, 'unauthenticated']);
  const invited = await boss.call('POST', '/v1/invitations', {
    body: { email: 'new@example.com', role: 'viewer' },
  });
  const token = new URL(invited.body.url).hash.slice(1);
  const accepted = await openBrowser(only).call('POST', '/v1/auth/invitations/accept', {
    body: { token, name: 'New', password: PASSWORD },
  });
  expect(refusal(accepted)).toEqual([401, 'unauthenticated']);
  expect(accepted.body.error.message).toContain('identity provider');
  await only.stop();
});
