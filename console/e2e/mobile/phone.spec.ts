import { expectNoSidewaysScroll } from '../support/axe.ts';
import { fill } from '../support/fill.ts';
import { expect, test } from '../support/test.ts';

test('a review works on a phone, from the list to the decision and back', async ({ page, workspace }) => {
  await workspace.agent();
  await workspace.spend({ amount_minor: 30_000, merchant: 'Hetzner Online' });
  await workspace.spend({ amount_minor: 30_100, merchant: 'Datadog' });
  await page.goto('/console/reviews');
  await page.getByRole('link', { name: /Hetzner Online/ }).tap();
  await page.getByRole('button', { name: 'Allow', exact: true }).tap();
  await page.getByLabel('Reason').selectOption('WITHIN_PURPOSE');
  await expectNoSidewaysScroll(page, 'the review');
  await page.getByRole('button', { name: 'Confirm' }).tap();
  await expect
    .poll(async () => (await workspace.call('GET', '/v1/decisions?review_state=ALLOWED')).data.length)
    .toBe(1);
});

test('targets are large enough to tap', async ({ page, workspace }) => {
  await fill(workspace);
  await page.goto('/console/reviews');
  await page.getByRole('link', { name: /Hetzner Online/ }).tap();
  await expect(page.getByRole('button', { name: 'Allow', exact: true })).toBeVisible();
  const small = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, input, summary')]
      .filter((element) => element.checkVisibility())
      .map((element) => ({ box: element.getBoundingClientRect(), html: element.outerHTML.slice(0, 100) }))
      .filter(({ box }) => box.width > 0 && (box.height < 24 || box.width < 24))
      .map(({ html }) => html),
  );
  expect(small).toEqual([]);
});

test('the navigation opens, follows links and closes', async ({ page }) => {
  await page.goto('/console/');
  const menu = page.getByRole('button', { name: 'Menu' });
  await menu.tap();
  await expect(menu).toHaveAttribute('aria-expanded', 'true');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Decisions' }).tap();
  await expect(page.getByRole('heading', { level: 1, name: 'Decisions' })).toBeVisible();
  await expect(menu).toHaveAttribute('aria-expanded', 'false');
});

test('a long unbroken name widens no screen', async ({ page, workspace }) => {
  await workspace.agent();
  const merchant = `Amt für ${'Rechtsschutzversicherung'.repeat(3)}`;
  const { decision_id } = await workspace.spend({ amount_minor: 30_000, merchant });
  await page.goto(`/console/decisions/${decision_id}`);
  await expect(page.getByRole('heading', { level: 1, name: merchant })).toBeVisible();
  await expectNoSidewaysScroll(page, 'the decision');
});

test('the first decision is on the first screen, and all filters are one tap away', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await workspace.spend({ amount_minor: 30_000, merchant: 'Hetzner Online' });
  await page.goto('/console/decisions');
  const row = page.getByRole('link', { name: 'Hetzner Online' });
  await expect(row).toBeInViewport();
  const top = (await row.boundingBox())?.y ?? Number.POSITIVE_INFINITY;
  expect(top, 'the first row begins in the upper half').toBeLessThan(480);
  await expect(page.getByLabel('Mode', { exact: true })).toHaveCount(0);
  await page.getByRole('button', { name: 'More filters' }).tap();
  await page.getByLabel('Mode', { exact: true }).selectOption('SHADOW');
  await expect(page).toHaveURL(/mode=SHADOW/);
  await expect(row).toBeVisible();
});
