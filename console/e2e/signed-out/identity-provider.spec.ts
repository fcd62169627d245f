import { makeGuard } from '../support/guard.ts';
import { startService } from '../support/service.ts';
import { expect, test } from '../support/test.ts';
import { PASSWORD } from '../support/workspace.ts';

/** What this test needs of the provider that the service's own tests start in their process. */
interface Provider {
  issuer: string;
  person: { sub: string; claims: Record<string, unknown> };
  begin(redirect_uri: string): Promise<void>;
  stop(): Promise<void>;
}

async function startProvider(): Promise<Provider> {
  // By a name that the compiler does not follow: it would check the service's tests with a browser's types.
  const path = new URL('../../../server/tests/support/oidc-provider.ts', import.meta.url).href;
  return ((await import(path)) as { startProvider(): Promise<Provider> }).startProvider();
}

test('an identity provider leads back signed in, and an unverified e-mail does not', async ({ browser }) => {
  const provider = await startProvider();
  // A service of its own, since the provider is one of its settings.
  const service = await startService({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'purser',
    OIDC_CLIENT_SECRET: 'a-client-secret',
    OIDC_NAME: 'Okta',
    OIDC_DEFAULT_ROLE: 'reviewer',
  });
  try {
    await provider.begin(`${service.base_url}/v1/auth/oidc/callback`);
    const guard = makeGuard(service.base_url);
    guard.visit(provider.issuer);
    guard.answer(401, /^\/v1\/me$/);
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

    provider.person = {
      sub: 'sub-of-ada',
      claims: { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' },
    };
    const hers = await openPage();
    await hers.goto(`${service.base_url}/console/sign-in`);
    await hers.getByRole('link', { name: 'Continue with Okta' }).click();
    await expect(hers.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
    await expect(hers.getByRole('link', { name: /Ada Lovelace/ })).toContainText('Reviewer');

    provider.person = {
      sub: 'sub-of-mallory',
      claims: { email: 'first@example.com', email_verified: false, name: 'Mallory' },
    };
    const theirs = await openPage();
    await theirs.goto(`${service.base_url}/console/sign-in`);
    await theirs.getByRole('link', { name: 'Continue with Okta' }).click();
    await expect(theirs.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
    await expect(theirs.getByRole('alert')).toContainText('verified');
    expect(guard.problems).toEqual([]);
  } finally {
    await service.stop();
    await provider.stop();
  }
});
