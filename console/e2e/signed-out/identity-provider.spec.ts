import type { Browser, Page } from '@playwright/test';
import { makeGuard } from '../support/guard.ts';
import { startService } from '../support/service.ts';
import { expect, test } from '../support/test.ts';
import { endSession, PASSWORD, sessionCookie } from '../support/workspace.ts';

/** The interface of the provider that the service's own tests start in-process. */
interface Provider {
  issuer: string;
  person: { sub: string; claims: Record<string, unknown> };
  begin(redirect_uri: string): Promise<void>;
  stop(): Promise<void>;
}

async function startProvider(): Promise<Provider> {
  // A computed path keeps the compiler from checking the service's tests with browser types.
  const path = new URL('../../../server/tests/support/oidc-provider.ts', import.meta.url).href;
  return ((await import(path)) as { startProvider(): Promise<Provider> }).startProvider();
}

/** Fixtures: a service with a provider, watched pages, and sign-in through the provider. */
interface Set {
  provider: Provider;
  base_url: string;
  openPage(): Promise<Page>;
  comeIn(page: Page): Promise<void>;
}

/** A separate service, since the provider is one of its settings. It has an administrator. */
async function withProvider(browser: Browser, default_role: string, run: (set: Set) => Promise<void>) {
  const provider = await startProvider();
  const service = await startService({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'purser',
    OIDC_CLIENT_SECRET: 'a-client-secret',
    OIDC_NAME: 'Okta',
    OIDC_DEFAULT_ROLE: default_role,
  });
  const { base_url } = service;
  try {
    await provider.begin(`${base_url}/v1/auth/oidc/callback`);
    const guard = makeGuard(base_url);
    guard.visit(provider.issuer);
    guard.answer(401, /^\/v1\//);
    guard.answer(403, /^\/v1\/api-keys$/);
    const openPage = async () => {
      const page = await (await browser.newContext()).newPage();
      await guard.watch(page);
      return page;
    };
    const first = await openPage();
    await first.goto(service.setup_url);
    await first.getByLabel('E-mail').fill('first@example.com');
    await first.getByLabel('Name').fill('Frances Allen');
    await first.getByLabel('Password').fill(PASSWORD);
    await first.getByRole('button', { name: 'Create administrator' }).click();
    await expect(first.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
    const comeIn = async (page: Page) => {
      await page.goto(`${base_url}/console/sign-in`);
      await page.getByRole('link', { name: 'Continue with Okta' }).click();
    };
    await run({ provider, base_url, openPage, comeIn });
    expect(guard.problems).toEqual([]);
  } finally {
    await service.stop();
    await provider.stop();
  }
}

const ADA = {
  sub: 'sub-of-ada',
  claims: { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' },
};

test('an identity provider signs a person in, but not with an unverified e-mail', async ({ browser }) => {
  await withProvider(browser, 'reviewer', async ({ provider, openPage, comeIn }) => {
    provider.person = ADA;
    const hers = await openPage();
    await comeIn(hers);
    await expect(hers.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
    await expect(hers.getByRole('link', { name: /Ada Lovelace/ })).toContainText('Reviewer');

    provider.person = {
      sub: 'sub-of-mallory',
      claims: { email: 'first@example.com', email_verified: false, name: 'Mallory' },
    };
    const theirs = await openPage();
    await comeIn(theirs);
    await expect(theirs.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
    await expect(theirs.getByRole('alert')).toContainText('verified');
  });
});

test('a person with only an identity provider renews the session and the proof there, and input is kept', async ({
  browser,
}) => {
  await withProvider(browser, 'admin', async ({ provider, base_url, openPage, comeIn }) => {
    provider.person = ADA;
    const page = await openPage();
    await comeIn(page);
    await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
    // The provider's own cookies remember its user.
    const comeTo = async (person: Provider['person']) => {
      await page.context().clearCookies({ domain: new URL(provider.issuer).hostname });
      provider.person = person;
    };
    const fillIn = async (name: string) => {
      await page.goto(`${base_url}/console/keys`);
      await page.getByRole('button', { name: 'New key' }).click();
      const form = page.getByRole('dialog', { name: 'New key' });
      await form.getByLabel('Name').fill(name);
      await form.getByLabel('Kind').selectOption({ label: 'Admin' });
      return form.getByRole('button', { name: 'Create key' });
    };
    const isMade = async (name: string) => {
      await expect(page.getByRole('dialog', { name: new RegExp(name) })).toContainText('sk_');
      const made = await page.evaluate(async () => (await (await fetch('/v1/api-keys')).json()).data);
      expect(made.filter((each: { name: string }) => each.name === name)).toHaveLength(1);
    };

    // The session ends midway, and somebody else signs in at the provider first.
    const typed = await fillIn('Typed before the session ended');
    const cookie = await sessionCookie(page.context(), base_url);
    await endSession(base_url, { cookie });
    await typed.click();
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await comeTo({
      sub: 'sub-of-bob',
      claims: { email: 'bob@example.com', email_verified: true, name: 'Bob' },
    });
    await again.getByRole('link', { name: 'Continue with Okta' }).click();
    await expect(again.getByRole('alert')).toContainText('bob@example.com signed in.');
    await comeTo(ADA);
    await again.getByRole('link', { name: 'Continue with Okta' }).click();
    // This provider sends `auth_time` only if a proof was requested, so the new session has none yet.
    const proof = page.getByRole('dialog', { name: 'Confirm that it’s you' });
    await proof.getByRole('link', { name: 'Continue with Okta' }).click();
    await isMade('Typed before the session ended');

    // A proof stays fresh for at least a minute, so this first refusal is faked.
    const sessions = async () =>
      page.evaluate(async () => (await (await fetch('/v1/me/sessions')).json()).data.length);
    const before = await sessions();
    let refused = 0;
    await page.route('**/v1/api-keys', async (route) => {
      if (route.request().method() !== 'POST' || refused > 0) return route.continue();
      refused += 1;
      const error = {
        code: 'reauthentication_required',
        message: 'Prove your identity again.',
        request_id: 'req_made_here',
      };
      await route.fulfill({ status: 403, json: { error } });
    });
    await (await fillIn('Made with a fresh proof')).click();
    await expect(proof.getByLabel('Password'), 'there is none to ask for').toHaveCount(0);
    await proof.getByRole('link', { name: 'Continue with Okta' }).click();
    await isMade('Made with a fresh proof');
    expect(await sessions(), 'the session before the proof is not left behind').toBe(before);
  });
});
