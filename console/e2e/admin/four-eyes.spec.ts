import type { Page } from '@playwright/test';
import { expect, test } from '../support/test.ts';

/** Creates a key as the person who is signed in on the page. */
const makeKey = (page: Page, body: object): Promise<{ id: string; key: string }> =>
  page.evaluate(async (given) => {
    const response = await fetch('/v1/api-keys', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(given),
    });
    return response.json();
  }, body);

test('a key is shown with its person, and a review by its creator is marked', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/decisions');
  const { key } = await makeKey(page, { name: 'ci', agent_id: 'infra-bot' });
  const { decision_id } = await workspace.spend({ key, amount_minor: 30_000 });
  await page.goto(`/console/decisions/${decision_id}`);
  await expect(page.getByText('Agent key “ci” of Grace Hopper (you)').first()).toBeVisible();
  await page.evaluate(async (id) => {
    await fetch(`/v1/decisions/${id}/reviews`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'DENY', reason_code: 'TEST' }),
    });
  }, decision_id);
  await page.reload();
  await expect(page.getByText('Created the requesting key').first()).toBeVisible();
});

test('Settings changes who may review, after a fresh proof of identity', async ({
  page,
  workspace,
  expected,
  me,
}) => {
  let asked = 0;
  await page.route('**/v1/workspace', async (route) => {
    if (route.request().method() !== 'PATCH' || asked++ > 0) return route.continue();
    await route.fulfill({
      status: 403,
      json: {
        error: { code: 'reauthentication_required', message: 'Prove it.', request_id: 'req_made_here' },
      },
    });
  });
  expected.answer(403, /^\/v1\/workspace$/);
  await page.goto('/console/settings');
  await page.getByLabel('Who may review').selectOption('MAKER');
  await page.getByRole('button', { name: 'Save' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it’s you' });
  await proof.getByLabel('Password').fill(me.password);
  await proof.getByRole('button', { name: 'Confirm', exact: true }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  expect((await workspace.call('GET', '/v1/workspace')).separation_of_duties).toBe('MAKER');
});

test('removing an administrator lists their admin keys and revokes them', async ({
  page,
  workspace,
  openAs,
}) => {
  const other = await workspace.person('admin', { name: 'Ada Lovelace' });
  const theirs = await openAs(other);
  await theirs.goto('/console/keys');
  await makeKey(theirs, { name: 'Terraform', scopes: ['admin', 'read'] });
  await makeKey(theirs, { name: 'Dashboards', scopes: ['read'] });
  await page.goto('/console/team');
  await page
    .getByRole('row', { name: /Ada Lovelace/ })
    .getByRole('button', { name: 'Remove' })
    .click();
  const dialog = page.getByRole('dialog', { name: 'Remove Ada Lovelace?' });
  await expect(dialog).toContainText('“Terraform”');
  await expect(dialog).toContainText('1 of their keys without admin rights keeps working');
  await expect(dialog.getByLabel('Revoke these keys')).toBeChecked();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await expect(dialog).toHaveCount(0);
  const { data } = await workspace.call('GET', '/v1/api-keys');
  const statusOf = (name: string) => data.find((each: { name: string }) => each.name === name).status;
  expect([statusOf('Terraform'), statusOf('Dashboards')]).toEqual(['revoked', 'active']);
});

test('an administrator who changes role keeps their keys only if chosen', async ({
  page,
  workspace,
  openAs,
}) => {
  const other = await workspace.person('admin', { name: 'Ada Lovelace' });
  const theirs = await openAs(other);
  await theirs.goto('/console/keys');
  await makeKey(theirs, { name: 'Terraform', scopes: ['admin', 'read'] });
  await page.goto('/console/team');
  await page.getByLabel('Role of Ada Lovelace').selectOption({ label: 'Viewer' });
  const dialog = page.getByRole('dialog', { name: 'Make Ada Lovelace a viewer?' });
  await dialog.getByLabel('Revoke these keys').uncheck();
  await dialog.getByRole('button', { name: 'Change role' }).click();
  await expect(page.getByLabel('Role of Ada Lovelace')).toHaveValue('viewer');
  const { data } = await workspace.call('GET', '/v1/api-keys');
  expect(data.find((each: { name: string }) => each.name === 'Terraform').status).toBe('active');
});
