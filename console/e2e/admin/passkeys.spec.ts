import { expectSettled } from '../support/axe.ts';
import { operate } from '../support/service.ts';
import { expect, test } from '../support/test.ts';

test('a passkey that was added signs its person in, and one that was removed does not', async ({
  page,
  me,
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
  // Whoever comes in with a passkey can do without a password; then the passkey stays.
  expected.answer(409, /^\/v1\/me\/passkeys\//);
  await page.getByRole('button', { name: 'Remove password' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click();
  await expect(page.getByText('You have none: you come in with a passkey')).toBeVisible();
  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  await expect(page.getByRole('alert')).toContainText('It is your only way in');
  const { url } = await operate<{ url: string }>(
    process.env.E2E_DATA_DIR as string,
    ...['user', 'reset-link', '--email', me.email],
  );
  await page.goto(`/console/reset${new URL(url).hash}`);
  await page.getByLabel('Password').fill('a new password after all');
  await page.getByRole('button', { name: 'Set password' }).click();
  await expectSettled(page, 'Overview');
  await page.goto('/console/me');
  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  await expect(page.getByRole('row', { name: /^Laptop/ })).toHaveCount(0);

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page.getByRole('alert')).toContainText('begin anew');
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
});
