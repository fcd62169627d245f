import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

const heads = (page: Page, list: string) =>
  page.getByRole('region', { name: list, exact: true }).getByRole('rowheader');
const head = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: true });

test('the heads of a list sort it by keyboard and say how it is sorted', async ({ page, workspace }) => {
  for (const slug of ['carrots', 'apples', 'bananas']) await workspace.agent({ slug, name: slug });
  await page.goto('/console/agents');
  await expect(head(page, 'Created')).toHaveAttribute('aria-sort', 'descending');
  await expect(head(page, 'Agent')).toHaveAttribute('aria-sort', 'none');
  await expect(head(page, 'Mode')).not.toHaveAttribute('aria-sort');
  await expect(heads(page, 'Agents')).toContainText(['bananas', 'apples', 'carrots']);
  await head(page, 'Agent').getByRole('button').focus();
  await page.keyboard.press('Enter');
  await expect(head(page, 'Agent')).toHaveAttribute('aria-sort', 'ascending');
  await expect(head(page, 'Created')).toHaveAttribute('aria-sort', 'none');
  await expect(heads(page, 'Agents')).toContainText(['apples', 'bananas', 'carrots']);
  await head(page, 'Agent').getByRole('button').focus();
  await page.keyboard.press('Space');
  await expect(head(page, 'Agent')).toHaveAttribute('aria-sort', 'descending');
  await expect(heads(page, 'Agents')).toContainText(['carrots', 'bananas', 'apples']);
  await expect(page).toHaveURL(/sort=slug&order=desc/);
  await expectAccessible(page, 'a sorted list');
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/agents.png` });
});

test('decisions, keys and listed merchants come in the order that their heads say', async ({
  page,
  workspace,
}) => {
  await workspace.agent({ authority: { ...AUTHORITY, on_purpose_unclear: 'ALLOW' } });
  for (const merchant of ['First', 'Second', 'Third']) await workspace.spend({ merchant, amount_minor: 100 });
  await page.goto('/console/decisions');
  await expect(heads(page, 'Decisions')).toContainText(['Third', 'Second', 'First']);
  await head(page, 'Time').getByRole('button').click();
  await expect(heads(page, 'Decisions')).toContainText(['First', 'Second', 'Third']);
  await expect(head(page, 'Time')).toHaveAttribute('aria-sort', 'ascending');

  await workspace.call('POST', '/v1/agents/infra-bot/merchants', {
    entries: ['beta', 'Alpha', 'gamma'].map((merchant) => ({ merchant, verdict: 'ALLOWED' })),
  });
  await page.goto('/console/agents/infra-bot/merchants');
  await head(page, 'Merchant').getByRole('button').click();
  await expect(heads(page, 'Listed merchants')).toContainText(['Alpha', 'beta', 'gamma']);

  await workspace.call('POST', '/v1/api-keys', { name: 'A later key', scopes: ['read'] });
  await page.goto('/console/keys');
  await expect(heads(page, 'Keys').first()).toContainText('A later key');
  await head(page, 'Created').getByRole('button').click();
  await expect(heads(page, 'Keys').last()).toContainText('A later key');
});

test('a phone, which has no heads, offers the same orders', async ({ page, workspace }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const slug of ['carrots', 'apples']) await workspace.agent({ slug, name: slug });
  await page.goto('/console/agents');
  await expect(heads(page, 'Agents')).toContainText(['apples', 'carrots']);
  await page.getByLabel('Sort').selectOption('Agent: Z to A');
  await expect(heads(page, 'Agents')).toContainText(['carrots', 'apples']);
  await expectAccessible(page, 'a sorted list on a phone');
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/phone.png` });
});

test('budgets come below their parents, by what is used of them, or by name', async ({ page, workspace }) => {
  const budget = { currency: 'EUR', period: 'MONTH', limit_minor: 100_000 };
  await workspace.call('POST', '/v1/budgets', { ...budget, slug: 'zoo', name: 'Zoo' });
  await workspace.call('POST', '/v1/budgets', { ...budget, slug: 'apes', name: 'Apes', parent: 'zoo' });
  await workspace.call('POST', '/v1/budgets', { ...budget, slug: 'cafe', name: 'Cafe' });
  const authority = { ...AUTHORITY, budgets: ['cafe'], on_purpose_unclear: 'ALLOW' };
  await workspace.agent({ authority });
  await workspace.spend({ amount_minor: 5_000 });
  await page.goto('/console/budgets');
  const names = page.getByRole('list', { name: 'Budgets' }).locator('strong');
  await page.getByLabel('Sort').selectOption('A to Z');
  await expect(names).toHaveText(['Apes', 'Cafe', 'Zoo']);
  await page.getByLabel('Sort').selectOption('Most used first');
  await expect(names.first()).toHaveText('Cafe');
  await expectAccessible(page, 'sorted budgets');
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/budgets.png` });
  await page.getByLabel('Sort').selectOption('By parent');
  await expect(names.filter({ hasText: /Zoo|Apes/ })).toHaveText(['Zoo', 'Apes']);
});

test('a view keeps filters and order under a name, survives a reload, and belongs to one person', async ({
  page,
  workspace,
}) => {
  for (const slug of ['carrots', 'apples']) await workspace.agent({ slug, name: slug });
  await page.goto('/console/agents?mode=SHADOW&sort=slug&order=asc');
  await page.getByRole('button', { name: '+ Save view' }).click();
  await page.getByLabel('View name').fill('By name');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const views = page.getByRole('navigation', { name: 'Views' });
  await expect(views.getByRole('link', { name: 'By name' })).toHaveAttribute('aria-current', 'page');
  await page.goto('/console/agents');
  await views.getByRole('link', { name: 'By name' }).click();
  await expect(page).toHaveURL(/mode=SHADOW&sort=slug&order=asc/);
  await expect(heads(page, 'Agents')).toContainText(['apples', 'carrots']);
  // Another person who signs in at this browser has views of their own.
  const me = await page.evaluate(async () => (await (await fetch('/v1/me')).json()).principal_id as string);
  const stored = await page.evaluate(() =>
    Object.keys(localStorage).filter((key) => key.includes('.views.')),
  );
  expect(stored).toEqual([expect.stringContaining(`.${me}.agents`)]);
  await views.getByRole('button', { name: 'Delete view By name' }).click();
  await expect(views.getByRole('link', { name: 'By name' })).toHaveCount(0);
});
