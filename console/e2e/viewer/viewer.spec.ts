import { fill } from '../support/fill.ts';
import { expect, test } from '../support/test.ts';

test('a viewer sees pending requests and why they cannot review them', { tag: '@smoke' }, async ({
  page,
  workspace,
}) => {
  await fill(workspace);
  await page.goto('/console/reviews');
  for (const name of ['Allow', 'Deny']) {
    const button = page.getByRole('button', { name });
    await expect(button).toBeDisabled();
    await expect(button).toHaveAttribute('title', /role/);
  }
});

test('controls that a viewer may not use are disabled with the reason', async ({ page, workspace }) => {
  await fill(workspace);
  for (const [path, name] of [
    ['/agents', 'New agent'],
    ['/budgets', 'New budget'],
    ['/allowances', 'New allowance'],
    ['/keys', 'New key'],
    ['/webhooks', 'Add endpoint'],
    ['/team', 'Invite'],
    ['/review-policy', 'Add tier'],
    ['/settings', 'Save'],
  ] as const) {
    await page.goto(`/console${path}`);
    const button = page.getByRole('button', { name });
    await expect(button, path).toBeDisabled();
    await expect(button, path).toHaveAttribute('title', 'Only an administrator can do this.');
  }
});

test('a viewer sees budgets without controls to change them', async ({ page, workspace }) => {
  await fill(workspace);
  await page.goto('/console/budgets');
  const rows = page.getByRole('list', { name: 'Budgets' }).getByRole('listitem');
  await expect(rows.first()).toContainText('of 900,000.000');
  await expect(rows.getByRole('button')).toHaveCount(0);
});

test('a viewer reads decisions, the report, the ledger and the audit', async ({ page, workspace }) => {
  await fill(workspace);
  await page.goto('/console/decisions');
  await page.getByRole('link', { name: 'Office One' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Office One' })).toBeVisible();
  await page.goto('/console/ledger');
  await page.getByRole('button', { name: 'Verify' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'The history is valid.' })).toBeVisible();
  await page.goto('/console/audit');
  await expect(page.getByRole('row', { name: /Agent created/ }).first()).toBeVisible();
  await page.goto('/console/report');
  await expect(page.getByRole('heading', { level: 1, name: 'Shadow report' })).toBeVisible();
});
