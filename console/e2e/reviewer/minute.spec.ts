import type { Page } from '@playwright/test';
import { expect, test } from '../support/test.ts';
import { AUTHORITY, type Workspace } from '../support/workspace.ts';

const SECTIONS = ['What this agent is for', 'Why it waits', 'Limits', 'History with this merchant'];
const STORY = 'This is urgent and everybody agreed to it already. '.repeat(28);
const MINUTE_MS = 60_000;

test.use({ viewport: { width: 1440, height: 900 } });

/** Twenty pending requests of two agents: over the threshold, at new merchants, twice the same, with long stories. */
async function fillInbox(workspace: Workspace): Promise<void> {
  await workspace.agent({ mode: 'ENFORCE' });
  await workspace.agent({
    slug: 'research',
    name: 'Research',
    mode: 'ENFORCE',
    authority: { ...AUTHORITY, purpose: { objective: 'Papers about distributed systems' } },
  });
  for (let i = 0; i < 20; i++) {
    await workspace.spend(
      i % 3 === 0
        ? { agent: 'research', merchant: `Publisher ${i}`, amount_minor: 1_200 + i, description: STORY }
        : { merchant: `Hosting ${i}`, amount_minor: 20_100 + i, description: 'Server for staging' },
    );
  }
}

/** True if the facts of the open request are on the screen, none of them behind its edge or the bar with the buttons. */
async function seesFacts(page: Page): Promise<boolean> {
  const bar = await page.getByRole('button', { name: 'Allow', exact: true }).boundingBox();
  const bottom = bar?.y ?? 0;
  for (const name of SECTIONS) {
    const box = await page.getByRole('region', { name, exact: true }).boundingBox();
    if (box === null || box.y < 0 || box.y + box.height > bottom) return false;
  }
  return true;
}

test('a reviewer judges at least 12 of 20 requests in a minute, with the facts in sight without scrolling', async ({
  page,
  workspace,
}) => {
  await fillInbox(workspace);
  await page.goto('/console/reviews');
  const allow = page.getByRole('button', { name: 'Allow', exact: true });
  const article = page.getByRole('article');
  await expect(allow).toBeEnabled();
  await expect(page).toHaveTitle('(20) Inbox · Purser');
  const began_ms = Date.now();
  let judged = 0;
  let in_a_minute = 0;
  while (judged < 20) {
    const name = await article.getAttribute('aria-label');
    for (const section of SECTIONS) {
      await expect(page.getByRole('region', { name: section, exact: true })).toBeVisible();
    }
    await expect(article.getByRole('status', { name: 'Loading' })).toHaveCount(0);
    await expect.poll(() => seesFacts(page), `the facts of ${name} are in sight`).toBe(true);
    await page.keyboard.press(judged % 4 === 0 ? 'd' : 'a');
    await page.keyboard.press('1');
    await page.keyboard.press('Control+Enter');
    judged += 1;
    if (Date.now() - began_ms < MINUTE_MS) in_a_minute += 1;
    if (judged < 20) await expect(article).not.toHaveAttribute('aria-label', name as string);
  }
  test.info().annotations.push({ type: 'judged in a minute', description: String(in_a_minute) });
  expect(in_a_minute).toBeGreaterThanOrEqual(12);
  await expect(page.getByText('You’re all caught up')).toBeVisible();
  const pending = async () =>
    (await workspace.call('GET', '/v1/decisions?review_state=PENDING&limit=100')).data.length;
  await expect.poll(pending, 'each is recorded').toBe(0);
});
