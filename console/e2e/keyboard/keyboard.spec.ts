import type { Locator, Page } from '@playwright/test';
import { expectSettled } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

/** Presses Tab until the element has the focus. Fails if it never does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let i = 0; i < 120; i++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard never came to ${target}`);
}

test('sign-in, creating a key and revoking it work without a mouse', async ({
  page,
  workspace,
  me,
  expected,
}) => {
  expected.answer(401, /^\/v1\/me$/);
  await workspace.agent();
  await page.context().clearCookies();
  await page.goto('/console/keys');
  // The first field has the focus.
  await expect(page.getByLabel('E-mail')).toBeFocused();
  await page.keyboard.type(me.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(me.password);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Keys' })).toBeVisible();

  await tabTo(page, page.getByRole('button', { name: 'New key' }));
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Name')).toBeFocused();
  await page.keyboard.type('Made by keyboard');
  await tabTo(page, page.getByRole('combobox', { name: 'Kind' }));
  await page.keyboard.type('Read');
  await tabTo(page, page.getByRole('button', { name: 'Create key' }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toContainText('sk_');
  await tabTo(page, page.getByRole('button', { name: 'Done' }));
  await page.keyboard.press('Enter');
  const row = page.getByRole('row', { name: /Made by keyboard/ });
  await expect(row).toContainText('Read-only');
  await tabTo(page, row.getByRole('button', { name: 'Revoke' }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Revoke' }));
  await page.keyboard.press('Enter');
  await expect(row).toHaveCount(0);
});

test('the inbox offers to skip its list: to the request, and to the decision', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await workspace.spend({ amount_minor: 30_000 });
  await page.goto('/console/reviews');
  await expect(page.getByRole('button', { name: 'Allow', exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Skip to content' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to the request' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to the decision' })).toBeFocused();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Allow', exact: true })).toBeFocused();
});

test('the first Tab offers to skip the navigation', async ({ page }) => {
  await page.goto('/console/keys');
  await expectSettled(page, 'Keys');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Guide' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'New key' })).toBeFocused();
});

test('the focused element is visible', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/team');
  await expect(page.getByRole('row', { name: /Grace Hopper/ })).toBeVisible();
  for (let i = 0; i < 25; i++) {
    await page.keyboard.press('Tab');
    const hidden = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      const is_seen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1 && box.width > 0;
      return is_seen ? null : element.outerHTML.slice(0, 120);
    });
    expect(hidden).toBeNull();
  }
});

test('the palette goes anywhere', async ({ page }) => {
  await page.goto('/console/');
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.type('Audit');
  await expect(page.getByRole('option', { name: /Audit/ }).first()).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Audit' })).toBeVisible();
});
