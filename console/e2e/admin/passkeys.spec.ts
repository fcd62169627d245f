import { expectSettled } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

test('a passkey that was added signs its person in, and one that was removed does not', async ({
  page,
  expected,
  workspace,
}) => {
  expected.answer(401, /^\/v1\/(me|auth\/passkey\/verify)$/);
  await workspace.agent();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  await page.goto('/console/me');
  await page.getByLabel('What you call it').fill('Laptop');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await expect(page.getByRole('row', { name: /^Laptop/ })).toBeVisible();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expectSettled(page, 'Overview');
  await page.goto('/console/me');
  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  await expect(page.getByRole('row', { name: /^Laptop/ })).toHaveCount(0);

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page.getByRole('alert')).toContainText('begin anew');
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
});
