import { expectAccessible, expectNoSidewaysScroll, expectSettled } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

/** Any merchant is allowed. */
const ANY_MERCHANT = { ...AUTHORITY, on_purpose_unclear: 'ALLOW' };
const REASON = 'A key of infra-bot was posted in a public channel.';

test('an administrator stops all agents with a reason, every screen shows it, and requests work again after resuming', async ({
  page,
  workspace,
  me,
}) => {
  await workspace.agent({ mode: 'ENFORCE', authority: ANY_MERCHANT });
  await workspace.spend();
  await page.goto('/console/');
  await page.getByRole('button', { name: 'Stop all agents' }).click();
  const dialog = page.getByRole('dialog', { name: 'Stop all agents?' });
  await expect(dialog).toContainText('unused capability');
  await expectAccessible(page, 'the dialog');
  const stop = dialog.getByRole('button', { name: 'Stop all agents' });
  await stop.click();
  await expect(dialog.getByRole('alert')).toContainText('Must say why');
  expect((await workspace.call('GET', '/v1/workspace')).stopped, 'nothing is stopped without a reason').toBe(
    null,
  );
  await dialog.getByLabel('Reason').fill(REASON);
  await stop.click();
  const banner = page.getByRole('region', { name: 'All agents are stopped' });
  await expect(banner).toContainText(`By ${me.name} (you)`);
  await expect(workspace.spend({ amount_minor: 777 })).rejects.toThrow(REASON);
  for (const [path, heading] of [
    ['/reviews', 'Inbox'],
    ['/decisions', 'Decisions'],
    ['/agents/infra-bot/authority', 'Policy'],
    ['/settings', 'Settings'],
  ] as const) {
    await page.goto(`/console${path}`);
    await expectSettled(page, heading);
    await expect(banner, path).toContainText(REASON);
    await expectAccessible(page, `${path} while all agents are stopped`);
    await expectNoSidewaysScroll(page, path);
  }
  await banner.getByRole('button', { name: 'Resume all agents' }).click();
  await page
    .getByRole('dialog', { name: 'Resume all agents?' })
    .getByRole('button', { name: 'Resume all agents' })
    .click();
  await expect(banner).toHaveCount(0);
  expect((await workspace.spend({ amount_minor: 777 })).decision).toBe('ALLOW');
});

test('the inbox fits below the banner of a stop, and reviews continue', async ({ page, workspace }) => {
  await workspace.agent();
  await workspace.spend({ amount_minor: 30_000 });
  await workspace.call('POST', '/v1/workspace/stop', { reason: `${REASON} `.repeat(20).trim() });
  await page.goto('/console/reviews');
  await expect(page.getByRole('region', { name: 'All agents are stopped' })).toBeVisible();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByLabel('Reason').selectOption('WITHIN_PURPOSE');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Allowed' })).toBeVisible();
  const excess = await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);
  expect(excess, 'the window itself does not scroll').toBeLessThanOrEqual(0);
});
