import type { Page } from '@playwright/test';
import { expectAccessible, expectNoSidewaysScroll, expectSettled } from '../support/axe.ts';
import { fill } from '../support/fill.ts';
import { startReceiver } from '../support/receiver.ts';
import { expect, test } from '../support/test.ts';

/** Screens that are there whatever the workspace holds. */
const SCREENS: readonly (readonly [path: string, heading: string | RegExp])[] = [
  ['/', 'Overview'],
  ['/reviews', 'Inbox'],
  ['/decisions', 'Decisions'],
  ['/agents', 'Agents'],
  ['/budgets', 'Budgets'],
  ['/report', 'Shadow report'],
  ['/keys', 'Keys'],
  ['/webhooks', 'Webhooks'],
  ['/ledger', 'Ledger'],
  ['/ledger/1', 'Entry 1'],
  ['/audit', 'Audit'],
  ['/team', 'Team'],
  ['/settings', 'Settings'],
  ['/me', 'Your account'],
];

async function look(page: Page, [path, heading]: (typeof SCREENS)[number]): Promise<void> {
  await page.goto(`/console${path}`);
  await expectSettled(page, heading);
  await expectAccessible(page, path);
  await expectNoSidewaysScroll(page, path);
}

test('every screen of an empty workspace is accessible and fits its width', async ({ page }) => {
  for (const screen of SCREENS) await test.step(screen[0], () => look(page, screen));
});

test('every screen of a full workspace is accessible and fits its width', async ({ page, workspace }) => {
  const receiver = await startReceiver();
  try {
    const { pending_id, allowed_id, webhook_id } = await fill(workspace, receiver.url);
    const [attempt] = await workspace.attempts(1);
    const of_one: typeof SCREENS = [
      [`/reviews?id=${pending_id}`, 'Inbox'],
      [`/decisions/${pending_id}`, 'Hetzner Online'],
      [`/decisions/${allowed_id}`, 'Hetzner Online'],
      ['/agents/infra-bot', 'Infrastructure bot'],
      ['/agents/infra-bot/authority', 'Authority'],
      ['/agents/infra-bot/merchants', 'Merchants'],
      ['/agents/infra-bot/decisions', 'Decisions'],
      ['/agents/infra-bot/keys', 'Keys'],
      ['/agents/infra-bot/report', 'Shadow report'],
      [`/webhooks/${webhook_id}`, new URL(receiver.url).host],
      [`/webhooks/attempts/${attempt.id}`, /^Attempt/],
      [`/webhooks/events/${attempt.event_id}`, 'Event'],
    ];
    for (const screen of [...SCREENS, ...of_one]) {
      await test.step(screen[0], async () => {
        // Beside an opened review the phone shows no list, and so no heading of it.
        const is_pane = screen[0].startsWith('/reviews?') && (page.viewportSize()?.width ?? 0) < 960;
        if (!is_pane) return look(page, screen);
        await page.goto(`/console${screen[0]}`);
        await expect(page.getByRole('button', { name: 'Allow' })).toBeVisible();
        await expectAccessible(page, screen[0]);
        await expectNoSidewaysScroll(page, screen[0]);
      });
    }
  } finally {
    await receiver.stop();
  }
});

/** Dialogs: where each opens, and the button that opens it. */
const DIALOGS: readonly (readonly [path: string, button: string])[] = [
  ['/keys', 'New key'],
  ['/keys', 'Revoke'],
  ['/webhooks', 'Add endpoint'],
  ['/agents', 'New agent'],
  ['/budgets', 'New budget'],
  ['/budgets', 'Freeze company'],
  ['/team', 'Invite'],
  ['/team', 'Remove'],
  ['/settings', 'Stop all agents'],
];

test('every dialog is accessible, keeps the focus, and gives it back', async ({ page, workspace }) => {
  await fill(workspace);
  for (const [path, name] of DIALOGS) {
    await test.step(`${path}: ${name}`, async () => {
      await page.goto(`/console${path}`);
      const opener = page.getByRole('button', { name, exact: true }).first();
      await opener.click();
      const dialog = page.getByRole('dialog');
      await expect(dialog).toBeVisible();
      await expectAccessible(page, `${path}: ${name}`);
      for (let i = 0; i < 20; i++) {
        await page.keyboard.press('Tab');
        const is_outside = await dialog.evaluate(
          (element) => document.activeElement !== document.body && !element.contains(document.activeElement),
        );
        expect(is_outside, 'the focus stays in the dialog').toBe(false);
      }
      await page.keyboard.press('Escape');
      await expect(dialog).toHaveCount(0);
      await expect(opener).toBeFocused();
    });
  }
});
