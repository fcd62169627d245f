import { readFile } from 'node:fs/promises';
import { expect, test } from '../support/test.ts';
import { endSession, sessionCookie } from '../support/workspace.ts';

const NEW_PASSWORD = 'seven grey herons at dawn';

test('a new password ends the other sessions, and signs in', async ({ page, me, openAs, expected }) => {
  const elsewhere = await openAs(null);
  expected.answer(401, /^\/v1\//);
  await elsewhere.goto('/console/sign-in');
  await elsewhere.getByLabel('E-mail').fill(me.email);
  await elsewhere.getByLabel('Password').fill(me.password);
  await elsewhere.getByRole('button', { name: 'Sign in' }).click();
  await expect(elsewhere.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();

  await page.goto('/console/me');
  await expect(page.getByRole('table').getByRole('row')).toHaveCount(3);
  await page.getByLabel('Current password').fill('this is not the password');
  await page.getByLabel('New password').fill(NEW_PASSWORD);
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByLabel('Current password')).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByLabel('New password')).toHaveValue(NEW_PASSWORD);
  await page.getByLabel('Current password').fill(me.password);
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByRole('status')).toContainText(['Password changed.']);
  await expect(page.getByRole('table').getByRole('row')).toHaveCount(2);

  await elsewhere.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Agents' }).click();
  const dialog = elsewhere.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password').fill(NEW_PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(elsewhere.getByRole('heading', { level: 1, name: 'Agents' })).toBeVisible();
});

test('one button ends all other sessions and keeps this one', async ({
  page,
  me,
  workspace,
  openAs,
  expected,
}) => {
  const other = await openAs(null);
  expected.answer(401, /^\/v1\//);
  for (let i = 0; i < 2; i++) {
    await other.context().clearCookies();
    await other.goto('/console/sign-in');
    await other.getByLabel('E-mail').fill(me.email);
    await other.getByLabel('Password').fill(me.password);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await expect(other.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  }
  const cookie = await sessionCookie(other.context(), workspace.base_url);
  await page.goto('/console/me');
  const sessions = page.getByRole('table').getByRole('row');
  await expect(sessions).toHaveCount(4);
  await page.getByRole('button', { name: 'End other sessions' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Your other sessions have ended.' })).toBeVisible();
  await expect(sessions).toHaveCount(2);
  await expect(page.getByRole('button', { name: 'End other sessions' })).toHaveCount(0);
  const copy = await fetch(`${workspace.base_url}/v1/me`, {
    headers: { cookie },
  });
  expect(copy.status).toBe(401);
});

test('signing out ends the session, also for a copy of its cookie', async ({
  page,
  me,
  expected,
  workspace,
}) => {
  expected.answer(401, /^\/v1\//);
  await page.goto('/console/me');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
  const copy = await fetch(`${workspace.base_url}/v1/me`, { headers: { cookie: me.cookie } });
  expect(copy.status).toBe(401);
});

test('no input is lost when the session ends', async ({ page, me, workspace, expected }) => {
  await workspace.agent();
  await page.goto('/console/keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByLabel('Name').fill('Written before the session ended');
  await form.getByLabel('Agent', { exact: true }).selectOption('infra-bot');
  await endSession(workspace.base_url, me);
  expected.answer(401, /^\/v1\//);
  await form.getByRole('button', { name: 'Create key' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByLabel('Password').fill(me.password);
  await again.getByRole('button', { name: 'Sign in', exact: true }).click();
  // The interrupted action continues automatically.
  await expect(page.getByRole('dialog', { name: /Written before the session ended/ })).toContainText('sk_');
  const { data } = await workspace.call('GET', '/v1/api-keys');
  const made = data.filter((each: { name: string }) => each.name === 'Written before the session ended');
  expect(made, 'it was made once').toHaveLength(1);
});

test('an export renews an ended session and continues', async ({ page, me, workspace, expected }) => {
  await workspace.agent();
  await workspace.spend();
  for (const [path, button, name] of [
    ['/console/report', 'Export CSV', 'shadow-report.csv'],
    ['/console/decisions', 'Export CSV', /^decisions-.*csv$/],
    ['/console/ledger', 'Export whole history', /jsonl$/],
    ['/console/audit', 'Export CSV', 'audit.csv'],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole('table').first()).toBeVisible();
    const cookie = await sessionCookie(page.context(), workspace.base_url);
    await endSession(workspace.base_url, { ...me, cookie });
    expected.answer(401, /^\/v1\//);
    await page.getByRole('button', { name: button }).click();
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.getByLabel('Password').fill(me.password);
    const saved = page.waitForEvent('download');
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    expect((await saved).suggestedFilename(), path).toMatch(name);
    const text = await readFile(await (await saved).path(), 'utf8');
    expect(text, path).toContain('infra-bot');
  }
});

test('a declined proof is reported in one sentence, and nothing is changed', async ({
  page,
  workspace,
  expected,
}) => {
  const reviewer = await workspace.person('reviewer', { name: 'Katherine Johnson' });
  let asked = 0;
  await page.route(`**/v1/members/${reviewer.user_id}`, async (route) => {
    asked += 1;
    await route.fulfill({
      status: 403,
      json: {
        error: {
          code: 'reauthentication_required',
          message: 'Prove your identity again.',
          request_id: 'req_made_here',
        },
      },
    });
  });
  expected.answer(403, /^\/v1\/members\//);
  await page.goto('/console/team');
  await page.getByLabel('Role of Katherine Johnson').selectOption({ label: 'Viewer' });
  await page
    .getByRole('dialog', { name: 'Confirm that it’s you' })
    .getByRole('button', { name: 'Cancel' })
    .click();
  await expect(page.getByRole('alert')).toContainText(
    'Nothing was changed: your identity was not confirmed.',
  );
  await expect(page.getByLabel('Role of Katherine Johnson')).toHaveValue('reviewer');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(asked).toBe(1);
});

test('an action that needs a fresh proof asks for the password and continues', async ({
  page,
  me,
  workspace,
  expected,
}) => {
  // A proof stays fresh for at least a minute, so this first refusal is faked. The service gives the rest.
  let refused = 0;
  await page.route('**/v1/api-keys', async (route) => {
    if (route.request().method() !== 'POST' || refused > 0) return route.continue();
    refused += 1;
    await route.fulfill({
      status: 403,
      json: {
        error: {
          code: 'reauthentication_required',
          message: 'Confirm your identity.',
          request_id: 'req_made_here',
        },
      },
    });
  });
  expected.answer(403, /^\/v1\/api-keys$/);
  expected.answer(401, /^\/v1\/auth\/reauthenticate$/);
  await page.goto('/console/keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByLabel('Name').fill('A second administrator');
  await form.getByLabel('Kind').selectOption({ label: 'Admin' });
  await form.getByRole('button', { name: 'Create key' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it’s you' });
  await proof.getByLabel('Password').fill('this is not the password');
  await proof.getByRole('button', { name: 'Confirm' }).click();
  await expect(proof.getByRole('alert')).toContainText('Wrong password.');
  await proof.getByLabel('Password').fill(me.password);
  await proof.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByRole('dialog', { name: /A second administrator/ })).toContainText('sk_');
  const { data } = await workspace.call('GET', '/v1/api-keys');
  expect(data.filter((each: { name: string }) => each.name === 'A second administrator')).toHaveLength(1);
});

test('the chosen theme persists and applies before the first paint', async ({ page }) => {
  await page.goto('/console/me');
  await page.getByLabel('Theme').selectOption({ label: 'Dark' });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.reload();
  await expect(page.getByLabel('Theme')).toHaveValue('dark');
  expect(await ground()).toBe(dark);
  await page.getByLabel('Theme').selectOption({ label: 'Light' });
  expect(await ground()).not.toBe(dark);
});

test('a new name of the workspace is shown everywhere', async ({ page, workspace }) => {
  await page.goto('/console/settings');
  await page.getByLabel('Name').fill('Finance of Europe');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Saved.' })).toBeVisible();
  await expect(page.getByTitle('Finance of Europe')).toBeVisible();
  expect(await workspace.call('GET', '/v1/workspace')).toMatchObject({ name: 'Finance of Europe' });
});
