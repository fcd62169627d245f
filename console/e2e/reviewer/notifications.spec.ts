import type { Page } from '@playwright/test';
import { expectAccessible, expectSettled } from '../support/axe.ts';
import { startReceiver } from '../support/receiver.ts';
import { expect, test } from '../support/test.ts';

declare global {
  interface Window {
    /** What the page asked the browser for. */
    recorded: { asked: number; shown: { title: string; body: string; tag: string; at: Notification }[] };
  }
}

/** Records what the page asks of the browser's notifications. The person looks elsewhere. */
async function record(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.recorded = { asked: 0, shown: [] };
    const Native = window.Notification;
    window.Notification = class extends Native {
      constructor(title: string, options: NotificationOptions = {}) {
        super(title, options);
        const { body = '', tag = '' } = options;
        window.recorded.shown.push({ title, body, tag, at: this });
      }
      static override requestPermission() {
        window.recorded.asked += 1;
        return Native.requestPermission();
      }
    };
    document.hasFocus = () => false;
  });
}

test('the browser notifies of a new request after the person turned it on, and opens it', async ({
  page,
  workspace,
  context,
}) => {
  await context.grantPermissions(['notifications']);
  await record(page);
  await workspace.agent();
  await workspace.spend({ amount_minor: 24_900, merchant: 'Already pending' });
  await page.goto('/console/notifications');
  await expectSettled(page, 'Notifications');
  expect(await page.evaluate(() => window.recorded), 'nothing is asked on load').toEqual({
    asked: 0,
    shown: [],
  });
  const looked = page.waitForResponse((response) => response.url().includes('/v1/inbox?sort=newest'));
  await page.getByRole('button', { name: 'Turn on in this browser' }).click();
  await expect(page.getByText('On. While Purser is open in a tab')).toBeVisible();
  await looked;
  await expectAccessible(page, 'notifications of this browser');
  const { decision_id } = await workspace.spend({ amount_minor: 26_000, merchant: 'Het\u202ezner' });
  await expect
    .poll(() => page.evaluate(() => window.recorded.shown.map(({ at: _, ...shown }) => shown)))
    .toEqual([
      { title: 'Notifications are on', body: 'Purser', tag: 'purser-on' },
      {
        title: 'EUR 260.00 needs review · infra-bot',
        body: 'Purpose unclear. Het[U+202E]zner',
        tag: decision_id,
      },
    ]);
  expect(await page.evaluate(() => window.recorded.asked)).toBe(1);
  await page.evaluate(() => window.recorded.shown[1]?.at.onclick?.(new Event('click')));
  await expect(page).toHaveURL(new RegExp(`/reviews\\?id=${decision_id}`));
  await expect(page).toHaveTitle(/^\(2\) Inbox/);

  await page.goto('/console/notifications');
  await page.getByRole('button', { name: 'Turn off in this browser' }).click();
  await expect(page.getByText('Off. Your browser asks for your permission')).toBeVisible();
});

test('where the browser blocks notifications, the page says so and does not ask', async ({ page }) => {
  await record(page);
  await page.addInitScript(() =>
    Object.defineProperty(Notification, 'permission', { get: () => 'denied' as const }),
  );
  await page.goto('/console/me');
  await expect(page.getByText('Your browser blocks notifications of this site.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Turn on in this browser' })).toHaveCount(0);
  expect(await page.evaluate(() => window.recorded.asked)).toBe(0);
});

test('the inbox shows who was notified of a request', async ({ page, workspace }) => {
  const receiver = await startReceiver();
  try {
    await workspace.agent();
    await workspace.call('PATCH', '/v1/agents/infra-bot', { mode: 'ENFORCE' });
    await workspace.call('POST', '/v1/channels', { name: 'Finance', type: 'webhook', url: receiver.url });
    const { key } = await workspace.call('POST', '/v1/api-keys', { name: 'P', agent_id: 'infra-bot' });
    const { decision_id } = await workspace.spend({ amount_minor: 24_900, key });
    await page.goto(`/console/reviews?id=${decision_id}`);
    await page.getByText('1 notice about this request').click();
    await expect(page.getByRole('listitem').filter({ hasText: 'Finance · Request ·' })).toBeVisible();
    await expectAccessible(page, 'who was notified');
  } finally {
    await receiver.stop();
  }
});
