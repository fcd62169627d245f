import type { Page } from '@playwright/test';
import { expectAccessible, expectNoSidewaysScroll, expectSettled } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'This agent' }).getByRole('link', { name, exact: true });

test('an agent’s screens show only that agent', async ({ page, workspace }) => {
  for (const [slug, amount_minor] of [
    ['infra-bot', 3_100],
    ['travel', 4_200],
  ] as const) {
    await workspace.agent({ slug, name: slug });
    await workspace.spend({ agent: slug, amount_minor });
    await workspace.spend({ agent: slug, amount_minor: amount_minor * 20 });
    await workspace.call('POST', '/v1/api-keys', { name: `Key of ${slug}`, agent_id: slug });
  }
  await page.goto('/console/agents/travel');
  await tab(page, 'Decisions of travel').click();
  await expect(page).toHaveURL(/\/console\/agents\/travel\/decisions$/);
  await expectSettled(page, 'Decisions');
  await expect(tab(page, 'Decisions of travel')).toHaveAttribute('aria-current', 'page');
  const rows = page.getByRole('region', { name: 'Decisions' }).locator('tbody tr');
  await expect(rows).toHaveCount(2);
  await expect(page.getByRole('main')).not.toContainText('infra-bot');
  await expect(page.getByLabel('Agent', { exact: true })).toHaveCount(0);
  await expectAccessible(page, 'decisions of an agent');
  await expectNoSidewaysScroll(page, 'decisions of an agent');
  // A filter, a count and a view stay on the agent's screen.
  await page.getByLabel('Decision', { exact: true }).selectOption('DENY');
  await expect(page).toHaveURL(/\/agents\/travel\/decisions\?decision=DENY$/);
  await expect(rows).toHaveCount(1);
  await page.getByRole('navigation', { name: 'Counts' }).getByRole('link', { name: /Deny/ }).click();
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Unlabelled' }).click();
  await expect(page).toHaveURL(/\/agents\/travel\/decisions\?labeled=false$/);
  await expect(rows).toHaveCount(2);
  await page.getByRole('button', { name: 'Bars' }).click();
  await page.getByRole('link', { name: /1 deny/ }).click();
  await expect(page).toHaveURL(/\/agents\/travel\/decisions\?/);

  await tab(page, 'Keys of travel').click();
  await expect(page).toHaveURL(/\/console\/agents\/travel\/keys$/);
  await expectSettled(page, 'Keys');
  await expect(page.getByRole('row', { name: /Key of travel/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /Key of infra-bot/ })).toHaveCount(0);
  await expectAccessible(page, 'keys of an agent');
  await expectNoSidewaysScroll(page, 'keys of an agent');
  await page.getByRole('button', { name: 'New key' }).click();
  await expect(page.getByRole('dialog').getByLabel('Agent', { exact: true })).toHaveValue('travel');
  await page.keyboard.press('Escape');

  await tab(page, 'Report of travel').click();
  await expect(page).toHaveURL(/\/console\/agents\/travel\/report$/);
  await expectSettled(page, 'Shadow report');
  await expect(page.getByRole('link', { name: /2 Shadow decisions/ })).toBeVisible();
  await expectAccessible(page, 'the report of an agent');
  await expectNoSidewaysScroll(page, 'the report of an agent');
  await page.getByLabel('From').fill('2026-01-01');
  await expect(page).toHaveURL(/\/agents\/travel\/report\?from=2026-01-01$/);
  await tab(page, 'Summary of travel').click();
  await expect(page.getByRole('heading', { level: 1, name: 'travel' })).toBeVisible();
});

test('an agent’s screens have empty states', async ({ page, workspace }) => {
  await workspace.agent();
  await workspace.agent({ slug: 'travel', name: 'Travel desk' });
  await workspace.spend();
  for (const [path, heading, said] of [
    ['decisions', 'Decisions', 'Travel desk'],
    ['keys', 'Keys', 'No keys yet'],
    ['report', 'Shadow report', 'No Shadow decisions in this period'],
  ] as const) {
    await page.goto(`/console/agents/travel/${path}`);
    await expectSettled(page, heading);
    await expect(page.getByRole('main')).toContainText(said);
    await expectAccessible(page, `${path} of an agent that did nothing yet`);
    await expectNoSidewaysScroll(page, `${path} of an agent that did nothing yet`);
  }
});
