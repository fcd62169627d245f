import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { operate } from '../support/service.ts';
import { expect, loseSession, test } from '../support/test.ts';
import { PASSWORD } from '../support/workspace.ts';

test('a shared link opens after sign-in', { tag: '@smoke' }, async ({ page, workspace, expected }) => {
  await workspace.agent();
  const { decision_id } = await workspace.spend();
  const ada = await workspace.person('viewer');
  expected.answer(401, /^\/v1\/me$/);
  await page.goto(`/console/decisions/${decision_id}`);
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Hetzner Online' })).toBeVisible();
});

test('an unknown e-mail and a wrong password are answered in the same words', async ({
  page,
  workspace,
  expected,
}) => {
  const ada = await workspace.person('viewer');
  expected.answer(401, /^\/v1\/auth\/sign-in$/);
  const said: (string | null)[] = [];
  for (const email of [ada.email, 'nobody-of-this-name@example.com']) {
    await page.goto('/console/sign-in');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill('this is not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    said.push(await page.getByRole('alert').textContent());
    await expect(page.getByLabel('E-mail'), 'what was typed stays').toHaveValue(email);
  }
  expect(said[0]).toBe('Wrong e-mail or password.');
  expect(said[1]).toBe(said[0]);
});

test('sign-in never redirects outside this console', async ({ page, workspace }) => {
  for (const next of ['//evil.example/', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    const ada = await workspace.person('viewer');
    await page.goto(`/console/sign-in?next=${encodeURIComponent(next)}`);
    await page.getByLabel('E-mail').fill(ada.email);
    await page.getByLabel('Password').fill(ada.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
    expect(new URL(page.url()).origin).toBe(new URL(workspace.base_url).origin);
    await loseSession(page);
  }
});

test('while sign-in cannot be verified, the page says so and retries', async ({
  page,
  workspace,
  expected,
}) => {
  const ada = await workspace.person('viewer');
  let refused = 0;
  // The database is unavailable for one request.
  await page.route('**/v1/auth/sign-in', async (route) => {
    if (refused > 0) return route.continue();
    refused += 1;
    await route.fulfill({
      status: 503,
      headers: { 'retry-after': '1' },
      json: {
        error: {
          code: 'auth_unavailable',
          message: 'Sign-in could not be verified right now; retry.',
          request_id: 'req_made_here',
        },
      },
    });
  });
  expected.answer(503, /^\/v1\/auth\/sign-in$/);
  await page.goto('/console/sign-in');
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByText('Sign-in could not be verified right now.')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
});

test('screens without sign-in are accessible', async ({ page, workspace, expected }) => {
  const { url } = await workspace.call('POST', '/v1/invitations', {
    email: `joins-${process.pid}@example.com`,
    role: 'viewer',
  });
  expected.answer(401, /^\/v1\/auth\/invitations\/read$/);
  await page.goto('/console/invitation#TOKEN');
  await expect(page.getByRole('alert')).toContainText('This invitation doesn’t work.');
  await expectAccessible(page, 'an invitation that does not work');
  for (const path of ['/sign-in', '/setup#CODE', `/invitation${new URL(url).hash}`, '/reset#TOKEN']) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`/console${path}`);
      await expect(page.getByLabel('Password')).toBeVisible();
      await expectAccessible(page, `${path} in ${colorScheme}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoSidewaysScroll(page, path);
    await page.setViewportSize({ width: 1280, height: 800 });
  }
});

test('common passwords are refused beside the field', async ({ page, workspace, expected }) => {
  const { url } = await workspace.call('POST', '/v1/invitations', {
    email: `weak-${process.pid}@example.com`,
    role: 'viewer',
  });
  expected.answer(400, /^\/v1\/auth\/invitations\/accept$/);
  await page.goto(url);
  await page.getByLabel('Name').fill('Katherine Johnson');
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page.getByLabel('Password')).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('Password').fill('passwordpassword');
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page.getByLabel('Password')).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByLabel('Name')).toHaveValue('Katherine Johnson');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
});

test('a reset link sets a new password once, signs in, and ends earlier sessions', async ({
  page,
  workspace,
  expected,
}) => {
  const ada = await workspace.person('viewer');
  const { url } = await operate<{ url: string }>(
    process.env.E2E_DATA_DIR as string,
    ...['user', 'reset-link', '--email', ada.email],
  );
  const path = `/console/reset${new URL(url).hash}`;
  await page.goto(path);
  await page.getByLabel('Password').fill('too short');
  await page.getByRole('button', { name: 'Set password' }).click();
  await expect(page.getByLabel('Password')).toHaveAttribute('aria-invalid', 'true');
  await page.getByLabel('Password').fill('nine quiet lakes in winter');
  await page.getByRole('button', { name: 'Set password' }).click();
  // The link is the first proof of the address, so the earlier membership needs its owner's acceptance.
  await expect(page.getByRole('heading', { level: 1, name: 'Join or leave' })).toBeVisible();
  await expect(page.getByRole('note')).toContainText('before you verified this e-mail');
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  const before = await fetch(`${workspace.base_url}/v1/me`, { headers: { cookie: ada.cookie } });
  expect(before.status).toBe(401);
  await loseSession(page);
  expected.answer(401, /^\/v1\/auth\/password\/reset$/);
  await page.goto('/console/sign-in');
  await page.goto(path);
  await page.getByLabel('Password').fill('another password of mine');
  await page.getByRole('button', { name: 'Set password' }).click();
  await expect(page.getByRole('alert')).toContainText('This link doesn’t work.');
});
