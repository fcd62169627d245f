import { expect, test } from '../support/test.ts';

test('a key is shown once, works, and is not in the page after leaving', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Production of infra-bot');
  await dialog.getByLabel('Agent', { exact: true }).selectOption('infra-bot');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await expect(dialog).toContainText('Copy this key now.');
  const shown = (await dialog.getByRole('region', { name: 'the key', exact: true }).textContent()) ?? '';
  const key = /sk_\S+/.exec(shown)?.[0] as string;
  expect(key).toMatch(/^sk_\S{24,}$/);
  await expect(dialog).toContainText(`PURSER_API_KEY=${key}`);
  const decision = await workspace.spend({ key });
  expect(decision.requested_by.key_id).not.toBeNull();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: /Production of infra-bot/ });
  await expect(row, 'who made it').toContainText('Grace Hopper (you)');
  await expect(row).toContainText(`sk_…${key.slice(-4)}`);
  expect(await page.content()).not.toContain(key);
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
  );
  expect(kept, 'nothing of it stays in the browser').not.toContain(key);
});

test('a new key carries its creator’s principal unless another is given', async ({ page, workspace, me }) => {
  await page.goto('/console/keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Review bot');
  await dialog.getByLabel('Kind').selectOption({ label: 'Reviewer' });
  await expect(dialog.getByLabel('Attributed to')).toHaveValue(me.principal_id);
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await expect(dialog).toContainText('Copy this key now.');
  const { data } = await workspace.call('GET', '/v1/api-keys');
  expect(data.find((each: { name: string }) => each.name === 'Review bot')).toMatchObject({
    kind: 'reviewer',
    principal_id: me.principal_id,
  });
});

test('a revoked key is hidden and refused, and can be shown again', async ({ page, workspace }) => {
  const { key } = await workspace.call('POST', '/v1/api-keys', { name: 'Dashboards', scopes: ['read'] });
  await page.goto('/console/keys');
  const row = page.getByRole('row', { name: /Dashboards/ });
  await row.getByRole('button', { name: 'Revoke' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('never been used');
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await expect(row).toHaveCount(0);
  const refused = await fetch(`${workspace.base_url}/v1/workspace`, { headers: { 'x-api-key': key } });
  expect(refused.status).toBe(401);
  await page.getByRole('link', { name: 'Show revoked and expired (1)' }).click();
  await expect(row).toContainText('Revoked');
});

test('errors of a new key appear beside their fields, and input is kept', async ({ page, expected }) => {
  expected.answer(400, /^\/v1\/api-keys$/);
  await page.goto('/console/keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await expect(dialog.getByRole('alert').first()).toContainText('Must say what the key is for.');
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await dialog.getByLabel('Name').fill('Review bot');
  await dialog.getByLabel('Kind').selectOption({ label: 'Reviewer' });
  await dialog.getByLabel('Attributed to').fill('not a principal');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await expect(dialog.getByLabel('Attributed to')).toHaveAttribute('aria-invalid', 'true');
  await expect(dialog.getByLabel('Attributed to')).toHaveValue('not a principal');
  await expect(dialog.getByLabel('Name')).toHaveValue('Review bot');
});

test('the number of hidden revoked agents is shown if there are any', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/agents');
  await expect(page.getByRole('row', { name: /Infrastructure bot/ })).toBeVisible();
  await expect(page.getByRole('button', { name: /Show revoked/ })).toHaveCount(0);
  await workspace.agent({ slug: 'gone', name: 'Gone by now' });
  await workspace.call('PATCH', '/v1/agents/gone', { status: 'revoked' });
  await page.getByRole('button', { name: 'Show revoked (1)' }).click();
  await expect(page.getByRole('row', { name: /Gone by now/ })).toBeVisible();
});
