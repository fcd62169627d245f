import type { Page } from '@playwright/test';
import { expect, test } from '../support/test.ts';
import { endSession, makeWorkspace, type Workspace } from '../support/workspace.ts';

const CHANGES = /\/v1\/changes/;
const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });
const agentRow = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) });

/** Hides the tab behind another one, or shows it. */
const setHidden = (page: Page, is_hidden: boolean) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    Object.defineProperty(document, 'visibilityState', {
      configurable: true,
      get: () => (hidden ? 'hidden' : 'visible'),
    });
    document.dispatchEvent(new Event('visibilitychange'));
  }, is_hidden);

interface Polls {
  begun: number;
  ended: number;
}
/** Notes in the page when a poll for changes begins and ends: the browser may report its request much later. */
const countPolls = (page: Page) =>
  page.addInitScript(() => {
    const { fetch } = window;
    const polls: Polls = { begun: 0, ended: 0 };
    Object.assign(window, { polls });
    window.fetch = async (target, init) => {
      const url = target instanceof Request ? target.url : String(target);
      if (!url.includes('/v1/changes')) return fetch(target, init);
      polls.begun += 1;
      try {
        return await fetch(target, init);
      } finally {
        polls.ended += 1;
      }
    };
  });
const pollsOf = (page: Page) => page.evaluate(() => (window as unknown as { polls: Polls }).polls);
const pollsBegun = async (page: Page) => (await pollsOf(page)).begun;

/** Opens an empty inbox with a clock that the test controls. */
async function openInbox(page: Page, workspace: Workspace): Promise<void> {
  await page.clock.install();
  await workspace.agent();
  await page.goto('/console/reviews');
  await expect(page.getByText('You’re all caught up')).toBeVisible();
}

test('a hidden tab does not poll, and updates as soon as it is visible', async ({ page, workspace }) => {
  await countPolls(page);
  await openInbox(page, workspace);
  await setHidden(page, true);
  // A poll that is under way would reach its time limit when the clock is moved, and the client would repeat it.
  await expect
    .poll(async () => {
      const { begun, ended } = await pollsOf(page);
      return begun - ended;
    })
    .toBe(0);
  await page.clock.pauseAt(Date.now() + 60_000);
  const before = await pollsBegun(page);
  expect(before).toBeGreaterThan(0);
  await workspace.spend({ amount_minor: 30_000, merchant: 'While away Ltd' });
  // Longer than the time until the person counts as away.
  for (let i = 0; i < 4; i++) await page.clock.fastForward('15:00');
  expect(await pollsBegun(page)).toBe(before);
  await setHidden(page, false);
  const shown = (name: string, step_ms: number) =>
    expect
      .poll(async () => {
        await page.clock.runFor(step_ms);
        return row(page, name).count();
      })
      .toBe(1);
  // It polled when it became visible: this takes far less than a polling interval.
  await expect.poll(() => pollsBegun(page)).toBe(before + 1);
  await shown('While away Ltd', 10);
  // From then on it polls regularly again.
  await workspace.spend({ amount_minor: 30_001, merchant: 'Back again Ltd' });
  await shown('Back again Ltd', 2_000);
});

test('a tab without input for ten minutes pauses with a message, and resumes on input', async ({
  page,
  workspace,
}) => {
  await openInbox(page, workspace);
  await page.keyboard.press('Shift');
  await page.clock.fastForward('09:00');
  const resting = page.getByText('No activity for ten minutes');
  await expect(resting).toBeHidden();
  await page.clock.fastForward('02:00');
  await expect(resting).toBeVisible();
  await workspace.spend({ amount_minor: 30_000, merchant: 'While away Ltd' });
  await page.keyboard.press('Shift');
  await expect
    .poll(async () => {
      await page.clock.runFor(10);
      return row(page, 'While away Ltd').count();
    })
    .toBe(1);
  await expect(resting).toBeHidden();
});

test('while the service is down, loaded data stays with a message, and is refetched afterwards', async ({
  page,
  workspace,
  expected,
}) => {
  await page.clock.install();
  await workspace.agent({ mode: 'ENFORCE' });
  await workspace.spend({ amount_minor: 30_000, merchant: 'Alpha' });
  await page.goto('/console/reviews');
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByLabel('Comment').fill('Not before');
  expected.answer(503, /^\/v1\//);
  const down = { error: { code: 'unavailable', message: 'The service starts.', request_id: 'req_1' } };
  await page.route(/\/v1\//, (route) => route.fulfill({ status: 503, json: down }));
  const lost = page.getByText('The service cannot be reached. This page may be out of date');
  await expect
    .poll(async () => {
      await page.clock.runFor(10_000);
      return lost.count();
    })
    .toBe(1);
  // The form that is being filled in has not moved.
  await expect(row(page, 'Alpha')).toBeVisible();
  await expect(page.getByLabel('Comment')).toHaveValue('Not before');
  await expect(page.getByLabel('Comment')).toBeFocused();
  // A screen opened now cannot load.
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await expect
    .poll(async () => {
      await page.clock.runFor(10_000);
      return page.getByRole('alert').count();
    })
    .toBeGreaterThan(0);
  await page.unroute(/\/v1\//);
  // The chain has not changed in the meantime.
  await expect
    .poll(async () => {
      await page.clock.runFor(10_000);
      return (await agentRow(page, 'Infrastructure bot').count()) + (await lost.count());
    })
    .toBe(1);
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('a different history, such as a restored backup, reloads everything', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/agents');
  await expect(agentRow(page, 'Infrastructure bot')).toBeVisible();
  // The response for a chain shorter than the seen position: it names no event.
  await page.route(CHANGES, (route) =>
    route.fulfill({ json: { seq: 1, types: {}, pending_reviews: 0, truncated: true } }),
  );
  await workspace.agent({ slug: 'restored', name: 'Restored bot' });
  await expect(agentRow(page, 'Restored bot')).toBeVisible();
});

test('an invalid cursor is reported below the loaded rows, and the list can be reloaded', async ({
  page,
  workspace,
  expected,
}) => {
  for (let i = 0; i < 6; i++) await workspace.agent({ slug: `bot-${i}`, name: `Bot ${i}` });
  const listed = /\/v1\/agents\?.*limit=(50|200)/;
  let is_refusing = true;
  await page.route(listed, async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '3');
    // As after a rotation of the secret that sealed the cursor.
    if (is_refusing && url.searchParams.has('cursor')) url.searchParams.set('cursor', 'b2xk');
    await route.continue({ url: String(url) });
  });
  expected.answer(400, /^\/v1\/agents$/);
  await page.goto('/console/agents');
  const rows = page.getByRole('region', { name: 'Agents', exact: true }).locator('tbody tr');
  await expect(rows).toHaveCount(3);
  await page.getByRole('button', { name: 'Load more' }).click();
  await expect(page.getByRole('alert')).toContainText('start again');
  await expect(rows).toHaveCount(3);
  is_refusing = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await page.getByRole('button', { name: 'Load more' }).click();
  await expect(rows).toHaveCount(6);
});

test('a change in one tab appears in the other', async ({ page, workspace, guard }) => {
  await workspace.agent({ mode: 'ENFORCE' });
  await workspace.spend({ amount_minor: 30_000, merchant: 'Alpha' });
  const other = await page.context().newPage();
  await guard.watch(other);
  await page.goto('/console/reviews');
  await other.goto('/console/reviews');
  for (const each of [page, other]) await expect(row(each, 'Alpha')).toBeVisible();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByLabel('Reason').selectOption('WITHIN_PURPOSE');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(row(other, 'Alpha')).toHaveCount(0);
  await expect(
    other.getByText('This was decided in the meantime.').or(other.getByText('Grace Hopper (you)')),
  ).toBeVisible();
});

test('switching the workspace in one tab switches all tabs', async ({
  page,
  workspace,
  me,
  guard,
  baseURL,
}) => {
  const second = await makeWorkspace(baseURL as string);
  await second.join(me, 'admin');
  await second.agent({ slug: 'elsewhere', name: 'Bot of elsewhere' });
  await workspace.agent();
  const other = await page.context().newPage();
  await guard.watch(other);
  await page.goto('/console/agents');
  await expect(agentRow(page, 'Infrastructure bot')).toBeVisible();
  await other.goto('/console/agents');
  await expect(agentRow(other, 'Infrastructure bot')).toBeVisible();
  await other.getByLabel('Workspace').selectOption(second.id);
  await expect(other.getByText(second.name).first()).toBeVisible();
  // The first tab must not act in one workspace with the rights of the other.
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await expect(page.getByLabel('Workspace')).toHaveValue(second.id);
});

test('a session that ended while the tab was hidden is renewed when it is visible, and input is kept', async ({
  page,
  workspace,
  me,
  baseURL,
  expected,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  await workspace.spend({ amount_minor: 30_000, merchant: 'Alpha' });
  await page.goto('/console/reviews');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByLabel('Comment').fill('As agreed');
  await page.getByLabel('Reason').selectOption('WITHIN_PURPOSE');
  await setHidden(page, true);
  await endSession(baseURL as string, me);
  expected.answer(401, /^\/v1\//);
  await setHidden(page, false);
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password').fill(me.password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByLabel('Comment')).toHaveValue('As agreed');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText('You’re all caught up')).toBeVisible();
});
