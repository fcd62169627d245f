import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Browser, openBrowser, PASSWORD, setUp } from '../support/browser.ts';
import {
  signInByProvider,
  startProvider,
  type TestProvider,
  visitProvider,
} from '../support/oidc-provider.ts';
import { type RunningService, refusal, startTestService } from '../support/running-service.ts';

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
  test('nobody is, where user_identities cannot be read: the page says so', async () => {
    newcomer();
    await s.sql('alter table user_identities rename to hidden');
    try {
      await isOut(await signInByProvider(s), 'auth_unavailable');
    } finally {
      await s.sql('alter table hidden rename to user_identities');
    }
  });
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

test('whoever made an account with another’s e-mail is out once its owner joins by the provider’s word', async () => {
  const email = newcomer();
  const tenant = await s.addWorkspace({ plan: 'team' });
  const link = await s.call('POST', '/v1/invitations', {
    key: tenant.admin_key,
    body: { email, role: 'viewer' },
  });
  const thief = openBrowser(s);
  const token = link.body.url.split('#')[1];
  const body = { token, name: 'Bob', password: PASSWORD };
  expect((await thief.call('POST', '/v1/auth/invitations/accept', { body })).status).toBe(201);
  const typed = () =>
    openBrowser(s).call('POST', '/v1/auth/sign-in', { body: { email, password: PASSWORD } });
  // To sign in by the provider opens nothing new, and leaves the password as it is.
  expect((await signInByProvider(s)).code).toBe(null);
  expect((await typed()).status).toBe(200);
  await invite(email, 'admin');
  const { browser, code } = await signInByProvider(s);
  expect(code).toBe(null);
  const { body: me } = await browser.call('GET', '/v1/me');
  expect(me.workspaces.map((each: { id: string }) => each.id).sort()).toEqual(
    [s.workspace_id, tenant.workspace_id].sort(),
  );
  expect(refusal(await thief.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
  expect(refusal(await typed())).toEqual([401, 'unauthenticated']);
  // Nothing is left to take away when the person joins again.
  expect((await signInByProvider(s)).code).toBe(null);
  expect((await browser.call('GET', '/v1/me')).status).toBe(200);
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
  test('beside a page that waits it leads to the page that tells it so, with a session that is a fresh proof', async () => {
    await invite(newcomer(), 'admin');
    for (const again of ['session', 'proof'] as const) {
      const { browser, reply } = await signInByProvider(s, { again });
      expect(reply.headers.get('location')).toMatch(/\/console\/signed-in$/);
      const body = { name: again, scopes: ['admin'] };
      expect((await browser.call('POST', '/v1/api-keys', { body })).status).toBe(201);
    }
    const other = await openBrowser(s).call('GET', '/v1/auth/oidc/start?again=evil.example');
    expect(refusal(other)).toEqual([400, 'invalid_request']);
  });
  test('a proof is refused where the provider says that the person signed in there long ago', async () => {
    await invite(newcomer());
    provider.alterClaims = (claims) => ({ ...claims, auth_time: 1_700_000_000 });
    await isOut(await signInByProvider(s, { again: 'proof' }), 'sign_in_failed');
    expect((await signInByProvider(s, { again: 'session' })).code, 'a sign-in asks for no more').toBe(null);
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
  const { browser: boss } = await signInByProvider(only);
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
