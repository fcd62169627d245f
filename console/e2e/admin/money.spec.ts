import { expectAccessible } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

test('charts show amounts, say their values by keyboard, and have a table behind them', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await workspace.spend({ merchant: 'Hetzner Online', amount_minor: 4_000 });
  await workspace.spend({ merchant: 'Hetzner Online', amount_minor: 1_250 });
  await page.goto('/console/');
  const chart = page.getByRole('region', { name: 'Decisions by day' });
  await expect(chart.getByRole('link', { name: /: 2 allow/ })).toBeVisible();
  await chart.getByRole('button', { name: 'EUR' }).click();
  const bar = chart.getByRole('link', { name: /allow EUR 52\.50/ });
  // Away from the bars, which say their values to the pointer, too.
  await page.mouse.move(0, 0);
  await bar.focus();
  await expect(chart.locator('p')).toContainText('allow EUR 52.50');
  await chart.getByText('As a table').click();
  await expect(chart.getByRole('table')).toContainText('EUR 52.50');
  const largest = page.getByRole('region', { name: 'Largest amounts' });
  const row = largest.getByRole('row', { name: /Hetzner Online/ });
  await expect(row).toContainText('EUR 52.50');
  await expect(row).toContainText('new');
  await largest.getByRole('button', { name: 'Agent' }).click();
  await expect(largest.getByRole('row', { name: /Infrastructure bot/ })).toContainText('EUR 52.50');
  await expectAccessible(page, 'overview with amounts');
});

test('the shadow report shows amounts, and the largest amounts are divided by shared budgets, too', async ({
  page,
  workspace,
}) => {
  const budget = { slug: 'team', name: 'Team', currency: 'EUR', period: 'MONTH', limit_minor: 90_000 };
  await workspace.call('POST', '/v1/budgets', budget);
  await workspace.agent();
  await workspace.spend({ merchant: 'Hetzner Online', amount_minor: 4_000 });
  await page.goto('/console/report');
  const chart = page.getByRole('region', { name: 'By day' });
  await chart.getByRole('button', { name: 'EUR' }).click();
  await expect(chart.getByRole('link', { name: /allow EUR 40\.00/ })).toBeVisible();
  await expectAccessible(page, 'shadow report with amounts');
  await page.goto('/console/');
  const largest = page.getByRole('region', { name: 'Largest amounts' });
  await largest.getByRole('button', { name: 'Budget' }).click();
  await expect(largest).toContainText('No agent with these requests names a shared budget.');
  const { authority } = await workspace.call('GET', '/v1/agents/infra-bot/authority');
  await workspace.call('POST', '/v1/agents/infra-bot/authority', { ...authority, budgets: ['team'] });
  await page.reload();
  await largest.getByRole('button', { name: 'Budget' }).click();
  await expect(largest.getByRole('row', { name: /Team/ })).toContainText('EUR 40.00');
  await expectAccessible(page, 'amounts by budget');
});

test('a shared budget shows what remained day by day, and the day on which it is used up', async ({
  page,
  workspace,
}) => {
  const budget = { slug: 'team', name: 'Team', currency: 'EUR', period: 'MONTH', limit_minor: 5_000 };
  await workspace.call('POST', '/v1/budgets', budget);
  await workspace.agent();
  const { authority } = await workspace.call('GET', '/v1/agents/infra-bot/authority');
  await workspace.call('POST', '/v1/agents/infra-bot/authority', { ...authority, budgets: ['team'] });
  await workspace.spend({ merchant: 'Hetzner Online', amount_minor: 5_000 });
  await page.goto('/console/budgets');
  await page.getByText('Day by day').click();
  await expect(page.getByText('EUR 50.00 of 50.00 used now. Nothing remains.')).toBeVisible();
  await expect(page.getByRole('button', { name: /EUR 0\.00 remained/ }).last()).toBeAttached();
  await page.getByText('As a table').click();
  await expectAccessible(page, 'budget day by day');
});

test('the palette finds a request by its description, and acts', async ({ page, workspace }) => {
  await workspace.agent();
  await workspace.spend({ merchant: 'Hetzner Online', description: 'Server for staging OPS-859' });
  const found = async () => (await workspace.call('GET', '/v1/search?q=ops-859')).data.length;
  await expect.poll(found).toBe(1);
  await page.goto('/console/');
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.type('ops-859');
  await page.getByRole('option', { name: /Hetzner Online/ }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Hetzner Online' })).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.type('dark');
  await page.getByRole('option', { name: /Dark theme/ }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.type('stop all');
  await page.getByRole('option', { name: /Stop all agents/ }).click();
  await expect(page.getByRole('dialog').getByLabel('Reason')).toBeVisible();
});

test('what does not exist is not tried again, and times are in the workspace’s zone', async ({
  page,
  workspace,
  expected,
}) => {
  expected.answer(404, /decisions/);
  await page.goto('/console/decisions/dec_01M81RDG1Z4EM2G6EQ2F72K3NH');
  await expect(page.getByRole('alert')).toContainText('No such decision');
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0);
  await page.goto('/console/settings');
  await page.getByLabel('Time zone of days and times').fill('Asia/Kathmandu');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('GMT+5:45').first()).toBeVisible();
  expect((await workspace.call('GET', '/v1/workspace')).time_zone).toBe('Asia/Kathmandu');
});
