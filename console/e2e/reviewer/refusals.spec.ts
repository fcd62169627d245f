import type { Page, Route } from '@playwright/test';
import { expectAccessible } from '../support/axe.ts';
import { expect, test, testWithOwnKey } from '../support/test.ts';
import { AUTHORITY, type Workspace } from '../support/workspace.ts';

const SAID = 'Asked the owner, who wants it';
const DENY = { action: 'DENY', reason_code: 'NOT_NOW' };

/** Another reviewer, who uses a key. */
async function ada(workspace: Workspace): Promise<{ 'x-api-key': string }> {
  const { key } = await workspace.call('POST', '/v1/api-keys', {
    name: 'Ada',
    scopes: ['review', 'read'],
    principal_id: 'user:ada',
  });
  return { 'x-api-key': key };
}

/** Opens Allow for the shown request and enters a comment. */
async function begin(page: Page): Promise<void> {
  await page.goto('/console/reviews');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByLabel('Reason').selectOption('KNOWN_MERCHANT');
  await page.getByLabel('Comment').fill(SAID);
}

test('a changed policy is reported in place, and the request can be denied with the same comment', async ({
  page,
  workspace,
  expected,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  const { decision_id } = await workspace.spend({ amount_minor: 30_000 });
  await begin(page);
  await workspace.call('POST', '/v1/agents/infra-bot/authority', {
    ...AUTHORITY,
    monthly_budget_minor: 900_000,
  });
  expected.answer(409, /\/reviews$/);
  await page.keyboard.press('Control+Enter');
  // It was held for five seconds, and comes back where nothing else is open.
  await expect(page.getByRole('alert')).toContainText('The agent’s policy has changed.');
  await expect(page.getByLabel('Reason')).toHaveValue('KNOWN_MERCHANT');
  await expect(page.getByLabel('Comment')).toHaveValue(SAID);
  await expect(page.getByLabel('Select Hetzner Online')).toBeVisible();
  await expectAccessible(page, 'a refused review');
  await page.getByRole('button', { name: 'Deny it instead' }).click();
  await expect(page.getByLabel('Comment')).toHaveValue(SAID);
  await page.keyboard.press('7');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('You’re all caught up')).toBeVisible();
  const read = async () => (await workspace.call('GET', `/v1/decisions/${decision_id}`)).review;
  await expect.poll(read).toMatchObject({ action: 'DENY', reason_code: 'NOT_NOW', comment: SAID });
});

test('a refusal that arrives after the reviewer moved on is shown at once and stays with its row', async ({
  page,
  workspace,
  expected,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  await workspace.spend({ amount_minor: 30_001, merchant: 'Slow Ltd' });
  await workspace.spend({ amount_minor: 30_002, merchant: 'Next Ltd' });
  await workspace.call('POST', '/v1/agents/infra-bot/authority', {
    ...AUTHORITY,
    monthly_budget_minor: 900_000,
  });
  let answer = () => {};
  const gone_on = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/v1/decisions/*/reviews', async (route) => {
    await gone_on;
    await route.continue();
  });
  await begin(page);
  await expect(page.getByRole('article', { name: 'Slow Ltd' })).toBeVisible();
  expected.answer(409, /\/reviews$/);
  const sent = page.waitForRequest('**/v1/decisions/*/reviews');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByRole('article', { name: 'Next Ltd' })).toBeVisible();
  await sent;
  answer();
  const told = page.getByRole('alert').filter({ hasText: 'Your review of Slow Ltd was not recorded.' });
  await expect(told).toContainText('The agent’s policy has changed.');
  const row = page.getByRole('listitem').filter({ hasText: 'Slow Ltd' });
  await expect(row).toContainText('Not recorded');
  await expect(page.getByRole('article', { name: 'Next Ltd' }), 'nobody is taken away').toBeVisible();
  await expectAccessible(page, 'a refusal of another row');

  await told.getByRole('button', { name: 'Show it' }).click();
  const pane = page.getByRole('article', { name: 'Slow Ltd' });
  await expect(pane.getByRole('alert')).toContainText('The agent’s policy has changed.');
  await expect(pane.getByLabel('Reason')).toHaveValue('KNOWN_MERCHANT');
  await expect(pane.getByLabel('Comment')).toHaveValue(SAID);
  await expect(told, 'it is told where one is').toHaveCount(0);
  await page.getByRole('link', { name: 'Next Ltd' }).click();
  await expect(told, 'who only looked has not looked after it').toBeVisible();
  await row.getByRole('link').click();
  await pane.getByRole('button', { name: 'Cancel' }).click();
  await expect(row).not.toContainText('Not recorded');
});

for (const mode of ['ENFORCE', 'SHADOW'] as const) {
  test(`another reviewer’s decision is announced at once, and input is kept (${mode})`, async ({
    page,
    workspace,
    expected,
  }) => {
    await workspace.agent({ mode });
    const { decision_id } = await workspace.spend({ amount_minor: 30_000 });
    await begin(page);
    await workspace.call('POST', `/v1/decisions/${decision_id}/reviews`, DENY, await ada(workspace));
    await expect(page.getByRole('alert')).toContainText('This was decided in the meantime.');
    await expect(page.getByRole('alert')).toContainText(/Denied by key key_\w+ of user:ada/);
    // Typing continues: no letter acts as a shortcut.
    await expect(page.getByLabel('Comment')).toBeFocused();
    await page.keyboard.press('End');
    await page.keyboard.type(', adjusted');
    await expect(page.getByLabel('Comment')).toHaveValue(`${SAID}, adjusted`);
    // Sending it anyway does not supersede another review by mistake.
    expected.answer(mode === 'ENFORCE' ? 409 : 400, /\/reviews$/);
    await page.keyboard.press('Control+Enter');
    await expect(page.getByRole('alert').filter({ hasText: 'This is already decided.' })).toBeVisible();
    await expect(page.getByLabel('Comment')).toHaveValue(`${SAID}, adjusted`);
    await page.getByRole('button', { name: 'Show current state' }).click();
    await expect(page.getByText('Your comment was not recorded.')).toBeVisible();
    await expect(page.getByText(`“${SAID}, adjusted”`)).toBeVisible();
    await expectAccessible(page, 'a review that came too late');
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect(page.getByText(`“${SAID}, adjusted”`)).toHaveCount(0);
    const { data } = await workspace.call('GET', `/v1/decisions/${decision_id}/reviews`);
    expect(data).toHaveLength(1);
  });
}

testWithOwnKey(
  'an own request that only the service recognizes is reported in place',
  async ({ page, workspace, me, own_key: key, expected }) => {
    await workspace.agent();
    await workspace.spend({ amount_minor: 30_000, key });
    // The page does not learn who sent the request.
    const anonymous = async (route: Route) => {
      const text = await (await route.fetch()).text();
      await route.fulfill({
        contentType: 'application/json',
        body: text.replaceAll(`"principal_id":"${me.principal_id}"`, '"principal_id":null'),
      });
    };
    await page.route(/\/v1\/decisions(\?|\/dec_\w+$)/, anonymous);
    await begin(page);
    expected.answer(403, /\/reviews$/);
    await page.keyboard.press('Control+Enter');
    await expect(page.getByRole('alert')).toContainText('This is your own request.');
    await expect(page.getByLabel('Comment')).toHaveValue(SAID);
    await expect(page.getByLabel('Select Hetzner Online')).toBeVisible();
    // A request that the page repeats meanwhile may still be on its way.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  },
);

test('in a bulk review each refused request shows its reason and stays if it is pending', async ({
  page,
  workspace,
  expected,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  await workspace.agent({ mode: 'ENFORCE', slug: 'other-bot', name: 'Other bot' });
  await workspace.spend({ amount_minor: 30_001, merchant: 'Good Ltd' });
  const taken = await workspace.spend({ amount_minor: 30_002, merchant: 'Taken Ltd' });
  await workspace.spend({ amount_minor: 30_003, merchant: 'Changed Ltd', agent: 'other-bot' });
  await page.goto('/console/reviews');
  await expect(page.getByRole('article', { name: 'Good Ltd' })).toBeVisible();
  await page.keyboard.press('x');
  for (const name of ['Taken Ltd', 'Changed Ltd']) {
    await page.keyboard.press('j');
    await expect(page.getByRole('article', { name })).toBeVisible();
  }
  await page.keyboard.press('Shift+X');
  await expect(page.getByText('3 selected')).toBeVisible();
  await page.keyboard.press('Shift+A');
  const dialog = page.getByRole('dialog', { name: 'Allow 3 requests' });
  await dialog.getByLabel('Comment').fill(SAID);
  // The text survives closing and reopening.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+A');
  await expect(dialog.getByLabel('Comment')).toHaveValue(SAID);
  await dialog.getByLabel('Reason').selectOption('AMOUNT_OK');
  await workspace.call('POST', `/v1/decisions/${taken.decision_id}/reviews`, DENY, await ada(workspace));
  await workspace.call('POST', '/v1/agents/other-bot/authority', {
    ...AUTHORITY,
    monthly_budget_minor: 900_000,
  });
  expected.answer(409, /\/reviews$/);
  await page.keyboard.press('Control+Enter');
  await expect(dialog.getByRole('status')).toContainText('1 of 3 recorded, 2 refused.');
  const result = (name: string) => dialog.getByRole('listitem').filter({ hasText: name });
  await expect(result('Good Ltd')).toContainText('Allowed');
  await expect(result('Taken Ltd')).toContainText('This is already decided.');
  await expect(result('Changed Ltd')).toContainText('The agent’s policy has changed.');
  await expectAccessible(page, 'the results of many reviews');
  await page.keyboard.press('Enter');
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  await expect(row('Changed Ltd')).toBeVisible();
  for (const gone of ['Good Ltd', 'Taken Ltd']) await expect(row(gone)).toHaveCount(0);
});
