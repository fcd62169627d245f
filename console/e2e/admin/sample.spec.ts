import { expectAccessible } from '../support/axe.ts';
import { expectStill, watchShifts } from '../support/layout-shift.ts';
import { expect, test } from '../support/test.ts';

test('one button shows a month of sample data, marked on every screen, and one button removes it', async ({
  page,
  workspace,
}) => {
  // A month is made by the real engine, request by request.
  test.slow();
  await watchShifts(page);
  await page.goto('/console/');
  await page.getByRole('button', { name: 'Explore with sample data' }).click();
  const banner = page.getByRole('region', { name: 'Sample data' });
  await expect(banner).toContainText('Sample data. These agents, requests and people are invented', {
    timeout: 90_000,
  });
  await expect(page.getByLabel('Workspace')).toHaveValue(/^ws_/);
  const pending = page.getByRole('region', { name: 'Pending review' });
  await expect(pending.getByRole('link', { name: 'Review' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'First steps' })).toHaveCount(0);
  for (const [path, heading] of [
    ['/', 'Overview'],
    ['/reviews', 'Inbox'],
    ['/decisions', 'Decisions'],
    ['/report', 'Shadow report'],
    ['/agents/infra-bot', 'Infrastructure bot'],
  ] as const) {
    await page.goto(`/console${path}`);
    await expect(page.getByRole('heading', { level: 1, name: heading })).toBeVisible();
    await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0);
    await expect(banner).toBeVisible();
    await expectStill(page, path);
    await expectAccessible(page, path);
  }
  const paper = await page.request.get('/v1/decisions?limit=1').then((answer) => answer.json());
  await page.goto(`/v1/decisions/${paper.data[0].decision_id}/page`);
  await expect(
    page.getByText('Sample data. This agent, this request and these people are invented'),
  ).toBeVisible();

  await page.goto('/console/ledger');
  await page.getByRole('button', { name: 'Verify' }).click();
  await expect(page.getByText(/all hashes match/)).toBeVisible();

  await banner.getByRole('button', { name: 'Remove sample data' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByRole('button', { name: 'Explore with sample data' })).toBeVisible();
  await expect(banner).toHaveCount(0);
  expect((await workspace.call('GET', '/v1/workspace')).sample).toBe(false);
});
