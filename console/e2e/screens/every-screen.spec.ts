import type { Locator, Page } from '@playwright/test';
import { expectAccessible, expectNoSidewaysScroll, expectSettled } from '../support/axe.ts';
import { fill } from '../support/fill.ts';
import { expectStill, watchShifts } from '../support/layout-shift.ts';
import { startReceiver } from '../support/receiver.ts';
import { SCREENS, type ScreenAt, screensOf } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';
import { endSession } from '../support/workspace.ts';

async function look(page: Page, [path, heading]: ScreenAt): Promise<void> {
  await page.goto(`/console${path}`);
  await expectSettled(page, heading);
  await expectStill(page, path);
  await expectAccessible(page, path);
  await expectNoSidewaysScroll(page, path);
}

test.beforeEach(async ({ page }) => watchShifts(page));

test('every screen of an empty workspace is accessible, fits its width and does not move', async ({
  page,
}) => {
  for (const screen of SCREENS) await test.step(screen[0], () => look(page, screen));
});

test('every screen of a full workspace is accessible, fits its width and does not move', async ({
  page,
  workspace,
}) => {
  const receiver = await startReceiver();
  try {
    const filled = await fill(workspace, receiver.url);
    const [attempt] = await workspace.attempts(1);
    for (const screen of [...SCREENS, ...screensOf(filled, attempt, receiver.url)]) {
      await test.step(screen[0], async () => {
        // A phone shows an open review without the list and its heading.
        const is_pane = screen[0].startsWith('/reviews?') && (page.viewportSize()?.width ?? 0) < 960;
        if (!is_pane) return look(page, screen);
        await page.goto(`/console${screen[0]}`);
        await expect(page.getByRole('button', { name: 'Allow', exact: true })).toBeVisible();
        await expectAccessible(page, screen[0]);
        await expectNoSidewaysScroll(page, screen[0]);
      });
    }
  } finally {
    await receiver.stop();
  }
});

/** Waits for a dialog, checks it, and proves that the focus cannot leave it. */
async function lookAt(page: Page, what: string): Promise<Locator> {
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  const hasFocus = () => dialog.evaluate((element) => element.contains(document.activeElement));
  await expect.poll(hasFocus, `the focus goes into ${what}`).toBe(true);
  await expectAccessible(page, what);
  await expectNoSidewaysScroll(page, what);
  for (let i = 0; i < 20; i++) {
    await page.keyboard.press('Tab');
    const is_outside = await dialog.evaluate(
      (element) => document.activeElement !== document.body && !element.contains(document.activeElement),
    );
    expect(is_outside, `the focus stays in ${what}`).toBe(false);
  }
  return dialog;
}

/** Closes the dialog with Escape and expects the focus to return. */
async function leave(page: Page, dialog: Locator, opener: Locator): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(opener).toBeFocused();
}

/** Dialogs by path and opening button. `ENDPOINT` stands for the endpoint's ID, `PENDING` for that of a pending decision. */
const DIALOGS: readonly (readonly [path: string, button: string])[] = [
  ['/keys', 'New key'],
  ['/keys', 'Revoke'],
  ['/webhooks', 'Add endpoint'],
  ['/webhooks/ENDPOINT', 'Rotate secret'],
  ['/webhooks/ENDPOINT', 'Resend a period'],
  ['/webhooks/ENDPOINT', 'Edit'],
  ['/webhooks/ENDPOINT', 'Delete'],
  ['/agents/travel', 'Switch to Enforce'],
  ['/agents/infra-bot', 'Switch to Shadow'],
  ['/agents/infra-bot', 'Revoke'],
  ['/budgets', 'New budget'],
  ['/budgets', 'Freeze company'],
  ['/allowances', 'New allowance'],
  ['/decisions?decision=REVIEW', '+ Save view'],
  ['/team', 'Invite'],
  ['/team', 'Remove'],
  ['/settings', 'Stop all agents'],
  ['/notifications', 'Add channel'],
  ['/decisions/PENDING', 'Assign'],
];

test('every dialog is accessible, traps the focus and returns it', async ({ page, workspace }) => {
  const { webhook_id, pending_id } = await fill(workspace);
  for (const [path, name] of DIALOGS) {
    await test.step(`${path}: ${name}`, async () => {
      await page.goto(`/console${path.replace('ENDPOINT', webhook_id).replace('PENDING', pending_id)}`);
      const opener = page.getByRole('button', { name, exact: true }).first();
      await opener.click();
      await leave(page, await lookAt(page, `${path}: ${name}`), opener);
    });
  }
});

test('palette, shortcut help and bulk review are accessible and return the focus', async ({
  page,
  workspace,
}) => {
  await fill(workspace);
  await page.goto('/console/reviews');
  await expect(page.getByRole('checkbox', { name: 'Select Hetzner Online' })).toBeVisible();
  const main = page.getByRole('main');
  for (const [keys, what] of [
    ['Control+k', 'the palette'],
    ['?', 'the help of the keys'],
  ] as const) {
    await main.focus();
    await page.keyboard.press(keys);
    await leave(page, await lookAt(page, what), main);
  }
  await page.getByRole('checkbox', { name: 'Select Hetzner Online' }).check();
  for (const name of ['Allow selected', 'Deny selected']) {
    const opener = page.getByRole('button', { name });
    await opener.click();
    await leave(page, await lookAt(page, name), opener);
  }
});

test('a secret shown once appears in an accessible dialog', async ({ page, workspace }) => {
  const { webhook_id } = await fill(workspace);
  const acts: readonly (readonly [
    path: string,
    button: string,
    type: Record<string, string>,
    done: string,
  ])[] = [
    ['/keys', 'New key', { Name: 'Shown once', Agent: 'infra-bot' }, 'Create key'],
    ['/webhooks', 'Add endpoint', { URL: 'http://127.0.0.1:9/once' }, 'Add endpoint'],
    [`/webhooks/${webhook_id}`, 'Rotate secret', {}, 'Rotate'],
    ['/team', 'Invite', { 'E-mail': `once-${process.pid}@example.com` }, 'Create invite link'],
  ];
  for (const [path, button, typed, done] of acts) {
    await test.step(`${path}: ${button}`, async () => {
      await page.goto(`/console${path}`);
      const opener = page.getByRole('button', { name: button, exact: true }).first();
      await opener.click();
      const dialog = page.getByRole('dialog');
      for (const [label, text] of Object.entries(typed)) {
        const field = dialog.getByLabel(label, { exact: true });
        if (label === 'Agent') await field.selectOption(text);
        else await field.fill(text);
      }
      const send = dialog.getByRole('button', { name: done, exact: true });
      await send.click();
      await expect(send).toHaveCount(0);
      await leave(page, await lookAt(page, `${path} after ${done}`), opener);
    });
  }
});

test('the sign-in and proof dialogs are accessible and return the focus', async ({
  page,
  me,
  workspace,
  expected,
}) => {
  // A proof stays fresh for at least a minute, so the refusal is faked.
  await page.route('**/v1/workspace', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    const error = {
      code: 'reauthentication_required',
      message: 'Prove your identity again.',
      request_id: 'req_made_here',
    };
    await route.fulfill({ status: 403, json: { error } });
  });
  expected.answer(403, /^\/v1\/workspace$/);
  expected.answer(401, /^\/v1\//);
  await page.goto('/console/settings');
  await page.getByLabel('Name').fill('Another name');
  const opener = page.getByRole('button', { name: 'Save', exact: true });
  await opener.click();
  await expect(page.getByRole('dialog', { name: 'Confirm that it’s you' })).toBeVisible();
  await leave(page, await lookAt(page, 'Confirm that it’s you'), opener);
  await expect(page.getByLabel('Name'), 'what was typed is kept').toHaveValue('Another name');
  await page.unroute('**/v1/workspace');
  await endSession(workspace.base_url, me);
  await opener.click();
  await expect(page.getByRole('dialog', { name: 'Sign in again' })).toBeVisible();
  await lookAt(page, 'Sign in again');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
});
