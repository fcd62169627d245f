import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY, type Workspace } from '../support/workspace.ts';

/** These tests are about counting, so any merchant is allowed. */
const ANY_MERCHANT = { ...AUTHORITY, on_purpose_unclear: 'ALLOW' };

const rows = (page: Page) => page.getByRole('region', { name: 'Decisions' }).locator('tbody tr');

async function spendAll(workspace: Workspace, merchants: readonly string[], amount_minor = 5_000) {
  for (const merchant of merchants) await workspace.spend({ merchant, amount_minor });
}

test('the bars match the list, and a bar links to its decisions', async ({ page, workspace }) => {
  await workspace.agent({ authority: ANY_MERCHANT });
  await spendAll(workspace, ['One', 'Two', 'Three']);
  await workspace.spend({ merchant: 'Too dear', amount_minor: 90_000 });
  await page.goto('/console/decisions');
  await page.getByRole('button', { name: 'Bars' }).click();
  await expect(page.getByText('Last 30 days: Allow 3, Review 0, Deny 1.')).toBeVisible();
  await page.getByLabel('Decision', { exact: true }).selectOption('DENY');
  await expect(page.getByText('Last 30 days: Allow 0, Review 0, Deny 1.')).toBeVisible();
  // The service has no counts by part of a name, so the loaded rows are counted.
  await page.getByLabel('Merchant', { exact: true }).fill('o dear');
  await expect(page.getByText('1 loaded decision: Allow 0, Review 0, Deny 1')).toBeVisible();
  await page.getByRole('link', { name: /1 deny$/ }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText('Too dear');
});

test('a count links to that many decisions', async ({ page, workspace }) => {
  await workspace.agent({ authority: ANY_MERCHANT });
  await workspace.agent({ slug: 'travel', name: 'Travel', authority: ANY_MERCHANT });
  await spendAll(workspace, ['One', 'Two']);
  await workspace.spend({ merchant: 'Too dear', amount_minor: 90_000, agent: 'travel' });
  await page.goto('/console/decisions');
  const counts = page.getByRole('navigation', { name: 'Counts' });
  await counts.getByRole('link', { name: 'Infrastructure bot 2' }).click();
  await expect(rows(page)).toHaveCount(2);
  await counts.getByRole('link', { name: 'Allow 2' }).click();
  await expect(page).toHaveURL(/agent=infra-bot&decision=ALLOW|decision=ALLOW&agent=infra-bot/);
  await expect(rows(page)).toHaveCount(2);
  // Without counts of the service, the page counts the loaded rows and says so.
  const { data } = await workspace.call('GET', '/v1/decisions?agent=infra-bot');
  await workspace.call('POST', `/v1/decisions/${data[0].decision_id}/outcomes`, {
    type: 'SPEND_EXECUTED',
    amount_minor: data[0].requested_amount_minor,
  });
  await page.getByLabel('Outcome', { exact: true }).selectOption('EXECUTED');
  await expect(counts.getByRole('link', { name: 'Allow 1' })).toBeVisible();
  await expect(counts).toContainText('Among all matching decisions.');
  await expectAccessible(page, 'counts of what was read');
  await page.getByLabel('Outcome', { exact: true }).selectOption('REFUNDED');
  await expect(page.getByText('No decisions match these filters')).toBeVisible();
  await expect(counts).toHaveCount(0);
});

test('with several filters the counts stay and name the number of loaded decisions', async ({
  page,
  workspace,
}) => {
  await workspace.agent({ authority: ANY_MERCHANT });
  await workspace.agent({ slug: 'travel', name: 'Travel', authority: ANY_MERCHANT });
  for (let i = 0; i < 26; i++) {
    await workspace.spend({ merchant: `Shop ${i}`, amount_minor: 1_000 + i });
    await workspace.spend({ merchant: `Inn ${i}`, amount_minor: 2_000 + i, agent: 'travel' });
  }
  await page.goto('/console/decisions?decision=ALLOW&mode=SHADOW');
  const counts = page.getByRole('navigation', { name: 'Counts' });
  await expect(counts).toContainText('Among 50 loaded decisions.');
  await counts.getByRole('link', { name: 'travel 25' }).click();
  await expect(page).toHaveURL(/agent=travel/);
  await expect(rows(page)).toHaveCount(26);
  await expect(counts).toContainText('Among all matching decisions.');
});

test('rows that arrive while somebody reads further down are counted, and shown on request', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await spendAll(
    workspace,
    Array.from({ length: 55 }, (_, i) => `Merchant ${i}`),
    1_000,
  );
  await page.goto('/console/decisions?live=1');
  await page.getByRole('button', { name: 'Load more' }).click();
  await expect(rows(page)).toHaveCount(55);
  await spendAll(workspace, ['Just now Ltd', 'A moment ago Ltd'], 1_000);
  const bar = page.getByRole('button', { name: '2 new' });
  await expect(bar).toBeVisible();
  await expect(rows(page)).toHaveCount(55);
  await expect(rows(page).first()).toContainText('Merchant 54');
  await bar.click();
  await expect(rows(page).first()).toContainText('A moment ago Ltd');
  await expect(bar).toHaveCount(0);
  // At the top of a single page, new rows appear automatically.
  await spendAll(workspace, ['By itself Ltd'], 1_000);
  await expect(rows(page).first()).toContainText('By itself Ltd');
});

test('a decision can be replayed with the current policy, and stays unchanged', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  const { decision_id } = await workspace.spend({ amount_minor: 15_000 });
  await page.goto(`/console/decisions/${decision_id}`);
  await page.getByRole('button', { name: 'Simulate' }).click();
  await expect(page.getByText('Version 1 gives the same decision.')).toBeVisible();
  await workspace.call('POST', '/v1/agents/infra-bot/authority', {
    ...AUTHORITY,
    per_transaction_limit_minor: 10_000,
    review_threshold_minor: 10_000,
  });
  await page.getByRole('button', { name: 'Simulate' }).click();
  const said = page.getByRole('note').filter({ hasText: 'Version 2 gives a different decision.' });
  await expect(said).toContainText('Over the per-transaction limit');
  expect((await workspace.call('GET', `/v1/decisions/${decision_id}`)).decision).toBe('ALLOW');
});

test('the CSV of the audit applies the filters', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/audit?action=agent.created');
  await expect(page.getByRole('row', { name: /Agent created/ })).toBeVisible();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const text = await readFile(await (await saved).path(), 'utf8');
  const [head, ...lines] = text.trim().split(/\r?\n/);
  expect(head).toContain('action');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('agent.created');
});

test('a denial says how to get the request allowed', async ({ page, workspace }) => {
  await workspace.agent({ authority: ANY_MERCHANT });
  const { decision_id } = await workspace.spend({ amount_minor: 90_000 });
  await page.goto(`/console/decisions/${decision_id}`);
  const ways = page.getByRole('region', { name: 'How to get it allowed' });
  await expect(ways).toContainText('Request EUR 500.00 or less. A reviewer would then decide.');
  await expect(ways).toContainText('Over the per-transaction limit');
});

test('an amount filter is typed in major units of its currency', async ({ page, workspace }) => {
  await workspace.agent();
  for (const amount_minor of [5_400, 12_050]) await workspace.spend({ amount_minor });
  await page.goto('/console/decisions');
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByRole('textbox', { name: 'At least' }).fill('120.50');
  await expect(page).toHaveURL(/currency=EUR/);
  await expect(page).toHaveURL(/min_amount=12050/);
  await expect(page.getByText('At least: EUR 120.50')).toBeVisible();
  await page.getByRole('textbox', { name: 'At least' }).fill('120.505');
  await expect(page.getByText('At most 2 digits after the point', { exact: false })).toBeVisible();
  await page.getByRole('textbox', { name: 'At least' }).fill('1');
  await expect(page.getByText('At least: EUR 1.00')).toBeVisible();
  await page.getByRole('textbox', { name: 'Currency' }).fill('JPY');
  await expect(page).toHaveURL(/currency=JPY/);
  await expect(page.getByText('At least: JPY 1')).toBeVisible();
});
