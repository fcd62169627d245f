import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/axe.ts';
import { expect, test, testWithOwnKey } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

const open = (page: Page) => page.getByRole('button', { name: 'Allow', exact: true });
const pendingOf = async (workspace: { call(method: string, path: string): Promise<{ data: unknown[] }> }) =>
  (await workspace.call('GET', '/v1/decisions?review_state=PENDING&limit=100')).data.length;

test('a reviewer clears ten reviews with the keyboard alone', { tag: '@smoke' }, async ({
  page,
  workspace,
  me,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  for (let i = 0; i < 10; i++) await workspace.spend({ amount_minor: 20_001 + i, merchant: `Merchant ${i}` });
  await page.goto('/console/reviews');
  await expect(page.getByRole('listitem').filter({ hasText: 'Merchant' })).toHaveCount(10);
  for (let left = 10; left > 0; left--) {
    // The next request is already open.
    await expect(open(page)).toBeVisible();
    await page.keyboard.press(left % 2 === 0 ? 'a' : 'd');
    await page.keyboard.press('2');
    await page.keyboard.press('Control+Enter');
    await expect(page.getByRole('listitem').filter({ hasText: 'Merchant' })).toHaveCount(left - 1);
  }
  await expect(page.getByText('You’re all caught up')).toBeVisible();
  await expect.poll(() => pendingOf(workspace), 'the last is sent after five seconds').toBe(0);
  const { data } = await workspace.call('GET', '/v1/decisions?limit=50');
  const reviews = data.map((each: { review: { action: string; principal_id: string } }) => each.review);
  expect(reviews.filter((each: { action: string }) => each.action === 'ALLOW')).toHaveLength(5);
  expect(reviews.filter((each: { action: string }) => each.action === 'DENY')).toHaveLength(5);
  expect(new Set(reviews.map((each: { principal_id: string }) => each.principal_id))).toEqual(
    new Set([me.principal_id]),
  );
});

testWithOwnKey(
  'a person cannot review what their own key requested',
  async ({ page, workspace, own_key: key }) => {
    await workspace.agent();
    await workspace.spend({ amount_minor: 30_000, key });
    await page.goto('/console/reviews');
    await expect(open(page)).toBeDisabled();
    await expect(page.getByRole('button', { name: 'Deny' })).toBeDisabled();
    await expect(page.getByText(/This is your own request/)).toBeVisible();
    await page.keyboard.press('a');
    await expect(page.getByRole('button', { name: 'Confirm' })).toHaveCount(0);
    expect(await pendingOf(workspace)).toBe(1);
  },
);

test('a request that another reviewer decided first shows their review', async ({
  page,
  workspace,
  expected,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  const { decision_id } = await workspace.spend({ amount_minor: 30_000 });
  await page.goto('/console/reviews');
  await open(page).click();
  await page.keyboard.press('1');
  // The page learns of no change between loading and the click.
  await page.route('**/v1/changes*', async (route) => {
    await route.fulfill({ json: { seq: 1_000_000, types: {}, pending_reviews: 1, truncated: false } });
  });
  const ada = await workspace.call('POST', '/v1/api-keys', {
    name: 'Ada',
    scopes: ['review', 'read'],
    principal_id: 'user:ada',
  });
  const body = { action: 'DENY', reason_code: 'NOT_NOW', comment: 'Ada was here first.' };
  await workspace.call('POST', `/v1/decisions/${decision_id}/reviews`, body, { 'x-api-key': ada.key });
  expected.answer(409, /\/reviews$/);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'This is already decided.' })).toBeVisible();
  await page.goto(`/console/decisions/${decision_id}`);
  await expect(page.getByText('Ada was here first.')).toBeVisible();
  await expect(page.getByText('user:ada').first()).toBeVisible();
});

test('a cause without a reason of its own needs one, and says so beside the field', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await workspace.spend({
    amount_minor: 2_000,
    merchant: 'JSTOR',
    description: 'Paper about load balancing',
  });
  await page.goto('/console/reviews');
  await open(page).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByLabel('Reason')).toHaveAttribute('aria-invalid', 'true');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Deny' }).click();
  await expect(page.getByLabel('Reason')).toHaveValue('NOT_ENOUGH_TOLD');
  expect(await pendingOf(workspace)).toBe(1);
  await page.getByLabel('Reason').selectOption('DUPLICATE');
  await page.getByLabel('Comment').fill('Bought on Monday');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText('You’re all caught up')).toBeVisible();
  await expect.poll(() => pendingOf(workspace)).toBe(0);
});

test('a new request appears automatically', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/reviews');
  await expect(page.getByText('You’re all caught up')).toBeVisible();
  await workspace.spend({ amount_minor: 30_000, merchant: 'Just now Ltd' });
  await expect(page.getByRole('listitem').filter({ hasText: 'Just now Ltd' })).toBeVisible();
  await expect(
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /Inbox/ }),
  ).toContainText('1');
});

test('single-key shortcuts do nothing if switched off', async ({ page, workspace }) => {
  await workspace.agent();
  await workspace.spend({ amount_minor: 30_000 });
  await page.goto('/console/me');
  await page.getByLabel('Single-key shortcuts').uncheck();
  await page.goto('/console/reviews');
  await expect(open(page)).toBeEnabled();
  await page.keyboard.press('a');
  await expect(page.getByRole('button', { name: 'Confirm' })).toHaveCount(0);
});

test('amounts have their currency’s decimals', async ({ page, workspace }) => {
  for (const [slug, currency] of [
    ['eur', 'EUR'],
    ['jpy', 'JPY'],
    ['kwd', 'KWD'],
  ] as const) {
    await workspace.agent({
      slug,
      name: slug,
      authority: { purpose: { objective: 'Any' }, currency, review_threshold_minor: 0 },
    });
    await workspace.spend({ agent: slug, currency, amount_minor: 5440, merchant: `In ${currency}` });
  }
  await page.goto('/console/reviews');
  for (const said of ['EUR 54.40', 'JPY 5,440', 'KWD 5.440']) {
    await expect(page.getByRole('link').filter({ hasText: said })).toHaveCount(1);
  }
});

test('Reviewed by me lists only the person’s own reviews', async ({ page, workspace }) => {
  await workspace.agent();
  const theirs = await workspace.spend({ amount_minor: 30_000, merchant: 'Reviewed by Ada' });
  const ada = await workspace.call('POST', '/v1/api-keys', {
    name: 'Ada',
    scopes: ['review', 'read'],
    principal_id: 'user:ada',
  });
  const body = { action: 'DENY', reason_code: 'NOT_NOW' };
  await workspace.call('POST', `/v1/decisions/${theirs.decision_id}/reviews`, body, { 'x-api-key': ada.key });
  await workspace.spend({ amount_minor: 30_000, merchant: 'Reviewed by me' });
  await page.goto('/console/reviews');
  await open(page).click();
  await page.keyboard.press('1');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText('You’re all caught up')).toBeVisible();
  await expect(page.getByText('Allowed Reviewed by me. Add a label?')).toBeVisible();
  const tabs = page.getByRole('navigation', { name: 'Reviews' });
  await tabs.getByRole('link', { name: 'Reviewed by me' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Reviewed by me' })).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: 'Reviewed by Ada' })).toHaveCount(0);
  await tabs.getByRole('link', { name: 'Reviewed', exact: true }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Reviewed by' })).toHaveCount(2);
});

testWithOwnKey(
  'a bulk review sends one review after the other, each with its own result',
  async ({ page, workspace, own_key: key, expected }) => {
    await workspace.agent({ mode: 'ENFORCE' });
    await workspace.spend({ amount_minor: 30_000, merchant: 'Good Ltd' });
    const taken = await workspace.spend({ amount_minor: 30_000, merchant: 'Taken Ltd' });
    await workspace.spend({ amount_minor: 30_000, merchant: 'My own Ltd', key });
    await page.goto('/console/reviews');
    for (const name of ['Good Ltd', 'Taken Ltd', 'My own Ltd'])
      await page.getByLabel(`Select ${name}`).check();
    await page.getByRole('button', { name: 'Allow selected' }).click();
    await page.getByLabel('Reason').selectOption('AMOUNT_OK');
    const ada = await workspace.call('POST', '/v1/api-keys', {
      name: 'Ada',
      scopes: ['review', 'read'],
      principal_id: 'user:ada',
    });
    const body = { action: 'DENY', reason_code: 'NOT_NOW' };
    await workspace.call('POST', `/v1/decisions/${taken.decision_id}/reviews`, body, {
      'x-api-key': ada.key,
    });
    expected.answer(409, /\/reviews$/);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await expect(dialog.getByRole('status')).toContainText('1 of 3 recorded, 1 refused, 1 left out.');
    const result = (name: string) => dialog.getByRole('listitem').filter({ hasText: name });
    await expect(result('Good Ltd')).toContainText('Allowed');
    await expect(result('Taken Ltd')).toContainText('Refused');
    await expect(result('My own Ltd')).toContainText('Left out');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await expect(page.getByRole('listitem').filter({ hasText: 'My own Ltd' })).toBeVisible();
    await expect(page.getByRole('listitem').filter({ hasText: 'Good Ltd' })).toHaveCount(0);
  },
);

test('a confirmed review can be undone for five seconds, by key and by button', async ({
  page,
  workspace,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  await workspace.spend({ amount_minor: 30_001, merchant: 'First Ltd' });
  await workspace.spend({ amount_minor: 30_002, merchant: 'Second Ltd' });
  await page.goto('/console/reviews');
  const pane = (name: string) => page.getByRole('article', { name });
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  await expect(pane('First Ltd')).toBeVisible();
  await page.keyboard.press('a');
  await page.keyboard.press('1');
  await page.getByLabel('Comment').fill('Seen the invoice');
  await page.keyboard.press('Control+Enter');
  await expect(pane('Second Ltd')).toBeVisible();
  await expect(row('First Ltd')).toHaveCount(0);
  const undone = page.getByRole('status', { name: 'Reviews that can be undone' });
  await expect(undone).toContainText('Allowed First Ltd.');
  await page.keyboard.press('u');
  await expect(pane('First Ltd')).toBeVisible();
  await expect(page.getByLabel('Comment')).toHaveValue('Seen the invoice');
  await expect(row('First Ltd')).toBeVisible();
  await expect(row('First Ltd')).not.toContainText('Not recorded');
  await page.keyboard.press('Control+Enter');
  await undone.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByLabel('Comment')).toHaveValue('Seen the invoice');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(undone).toBeHidden();
  expect(await pendingOf(workspace)).toBe(2);
});

test('“Up to … a month” answers later requests like it, and each choice says what it changes', async ({
  page,
  workspace,
}) => {
  await workspace.agent({
    mode: 'ENFORCE',
    authority: { ...AUTHORITY, reviewer_allowance_limit_minor: 100_000 },
  });
  const { decision_id } = await workspace.spend({ amount_minor: 20_100 });
  await page.goto(`/console/reviews?id=${decision_id}`);
  await expect(page.getByRole('region', { name: 'Why it waits' })).toContainText(
    'EUR 201.00 is over the review threshold of EUR',
  );
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  const form = page.getByRole('form', { name: 'Allow this request' });
  await expect(form).toContainText('The next request like this one needs a review too.');
  await form.getByLabel('What you allow').selectOption('Up to … a month');
  await expect(form).toContainText(
    'Up to this amount, requests of this agent for “Hetzner Online” no longer need a review because they are over the review threshold.',
  );
  await form.getByRole('button', { name: 'Confirm' }).click();
  await expect(form.getByLabel('Amount')).toHaveAttribute('aria-invalid', 'true');
  await form.getByLabel('Amount').fill('1000.01');
  await form.getByRole('button', { name: 'Confirm' }).click();
  await expect(form.getByRole('alert')).toHaveText(/at most EUR 1,000\.00/);
  await form.getByLabel('Amount').fill('1000');
  await expectAccessible(page, 'a standing approval');
  await form.getByRole('button', { name: 'Confirm' }).click();
  await page.keyboard.press('u');
  await expect(form.getByLabel('Amount'), 'undoing keeps what was typed').toHaveValue('1000');
  await form.getByRole('button', { name: 'Confirm' }).click();
  await expect
    .poll(async () => (await workspace.call('GET', '/v1/allowances')).data, { timeout: 15_000 })
    .toMatchObject([{ automatic: true, amount_minor: 100_000, period: 'MONTH', source: 'REVIEW' }]);
  expect((await workspace.spend({ amount_minor: 20_200 })).decision).toBe('ALLOW');
});

test('leaving the page sends what is held', async ({ page, workspace }) => {
  await workspace.agent({ mode: 'ENFORCE' });
  const { decision_id } = await workspace.spend({ amount_minor: 30_001 });
  await page.goto('/console/reviews');
  await expect(open(page)).toBeEnabled();
  await page.keyboard.press('a');
  await page.keyboard.press('1');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('Allowed Hetzner Online.')).toBeVisible();
  await page.goto('about:blank');
  const state = async () => (await workspace.call('GET', `/v1/decisions/${decision_id}`)).review_state;
  await expect.poll(state).toBe('ALLOWED');
});

test('the agent’s story comes last and is cut, whatever its length, and hides no characters', async ({
  page,
  workspace,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  const description = `\u202e${'Everybody agreed to this already. '.repeat(42).trim()}`;
  await workspace.spend({ amount_minor: 30_000, description });
  await page.goto('/console/reviews');
  await expect(page.getByRole('region', { name: 'What this agent is for' })).toContainText(
    'Keep the staging servers and their monitoring running',
  );
  const headings = await page.getByRole('article').getByRole('heading', { level: 2 }).allTextContents();
  expect(headings.slice(1, 6)).toEqual([
    'What this agent is for',
    'Why it waits',
    'Limits',
    'History with this merchant',
    'What the agent says',
  ]);
  const story = page.getByRole('region', { name: 'What the agent says' });
  await expect(story).toContainText(`${description.length.toLocaleString('en')} characters`);
  await expect(story).toContainText('[U+202E]Everybody agreed');
  const short = (await story.boundingBox())?.height ?? 0;
  await story.getByRole('button', { name: 'Show all' }).click();
  expect((await story.boundingBox())?.height ?? 0).toBeGreaterThan(short);
});

test('the inbox is searched, grouped and narrowed, and a note assigns a review', async ({
  page,
  workspace,
  me,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  for (let i = 0; i < 3; i++) await workspace.spend({ amount_minor: 30_000 + i });
  await workspace.spend({ amount_minor: 30_009, merchant: 'Other Ltd', description: 'Ticket OPS-859' });
  await page.goto('/console/reviews');
  await expect(page).toHaveTitle('(4) Inbox · Purser');
  await page.getByLabel('Search').fill('ops-859');
  await page.keyboard.press('Enter');
  await expect(page.getByText('1 found')).toBeVisible();
  await expect(page.getByRole('checkbox', { name: /^Select/ })).toHaveCount(1);
  await page.getByLabel('Search').fill('nothing like it');
  await page.keyboard.press('Enter');
  await expect(page.getByText('No pending request matches')).toBeVisible();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByLabel('Group').selectOption('merchant');
  const groups = page.getByRole('list', { name: 'Groups' });
  await groups.getByRole('link', { name: /Hetzner Online.*3 pending.*EUR 900\.03/ }).click();
  await expect(page.getByRole('checkbox', { name: /^Select/ })).toHaveCount(3);
  await page.getByRole('button', { name: 'Assign' }).click();
  const dialog = page.getByRole('dialog', { name: 'Assign this review' });
  await dialog.getByLabel('Assign to').fill(me.principal_id);
  await dialog.getByLabel('Note').fill('Is this the invoice of October?');
  await dialog.getByRole('button', { name: 'Save note' }).click();
  await expect(page.getByRole('list', { name: 'Notes' })).toContainText('Is this the invoice of October?');
  await page.getByLabel('Mine').check();
  await expect(page.getByText('1 found')).toBeVisible();
});

test('no request that needs a look is allowed or denied in bulk', async ({ page, workspace }) => {
  await workspace.agent({ mode: 'ENFORCE' });
  await workspace.spend({ amount_minor: 30_000, merchant: 'Good Ltd' });
  await workspace.spend({ amount_minor: 1_000, merchant: 'Binance', description: 'Gift card for a friend' });
  await page.goto('/console/reviews');
  for (const name of ['Good Ltd', 'Binance']) await page.getByLabel(`Select ${name}`).check();
  await page.keyboard.press('Shift+A');
  const dialog = page.getByRole('dialog', { name: 'Allow 1 of 2 requests' });
  await expect(dialog.getByRole('listitem').filter({ hasText: 'Binance' })).toContainText(
    'Left out: its cause needs a look.',
  );
  await page.keyboard.press('1');
  await page.keyboard.press('Control+Enter');
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await page.keyboard.press('Control+Enter');
  await expect(dialog.getByRole('status')).toContainText('1 of 2 recorded, 1 left out.');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByLabel('Select Binance').check();
  await page.keyboard.press('Shift+D');
  const denial = page.getByRole('dialog', { name: 'Deny 0 of 1 request' });
  await expect(denial.getByRole('listitem').filter({ hasText: 'Binance' })).toContainText('Left out');
  await expect(denial.getByRole('button', { name: 'Confirm' })).toBeDisabled();
  await denial.getByLabel('Reason').selectOption('NOT_NOW');
  await page.keyboard.press('Control+Enter');
  await expect(denial.getByRole('button', { name: 'Confirm' })).toBeDisabled();
  expect(await pendingOf(workspace)).toBe(1);
});

test('leaving the page sends a bulk review that is held', async ({ page, workspace }) => {
  await workspace.agent({ mode: 'ENFORCE' });
  for (const merchant of ['First Ltd', 'Second Ltd'])
    await workspace.spend({ amount_minor: 30_000, merchant });
  await page.goto('/console/reviews');
  for (const name of ['First Ltd', 'Second Ltd']) await page.getByLabel(`Select ${name}`).check();
  await page.keyboard.press('Shift+A');
  await page.getByRole('dialog').getByLabel('Reason').selectOption('AMOUNT_OK');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('2 reviews are sent in five seconds.')).toBeVisible();
  await page.goto('about:blank');
  await expect.poll(() => pendingOf(workspace)).toBe(0);
});
