import type { Locator, Page } from '@playwright/test';
import { expectAccessible, expectSettled } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import type { Workspace } from '../support/workspace.ts';

const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });
const opened = (page: Page, name: string) => page.getByRole('article', { name });
const isIn = (field: Locator) => expect(field).toBeFocused();

/** Pending requests at different merchants, in the order of their deadlines. */
async function waiting(page: Page, workspace: Workspace, merchants: readonly string[]): Promise<void> {
  await workspace.agent({ mode: 'ENFORCE' });
  for (const [i, merchant] of merchants.entries())
    await workspace.spend({ amount_minor: 20_001 + i, merchant });
  await page.goto('/console/reviews');
  await expect(opened(page, merchants[0] as string)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Allow', exact: true })).toBeVisible();
}

test('j and k move through the list, o opens the full decision, z sets aside and undoes it', async ({
  page,
  workspace,
}) => {
  await waiting(page, workspace, ['Alpha', 'Bravo', 'Charlie']);
  for (const [key, name] of [
    ['j', 'Bravo'],
    ['j', 'Charlie'],
    ['j', 'Charlie'],
    ['k', 'Bravo'],
    ['k', 'Alpha'],
    ['k', 'Alpha'],
  ] as const) {
    await page.keyboard.press(key);
    await expect(opened(page, name)).toBeVisible();
  }
  await page.keyboard.press('z');
  await expect(opened(page, 'Bravo')).toBeVisible();
  await expect(row(page, 'Alpha')).toContainText('Set aside');
  const order = page.getByRole('listitem').filter({ hasText: /Alpha|Bravo|Charlie/ });
  await expect(order).toContainText(['Bravo', 'Charlie', 'Alpha']);
  await row(page, 'Alpha').getByRole('link').click();
  await expect(opened(page, 'Alpha')).toBeVisible();
  await page.keyboard.press('z');
  await expect(order).toContainText(['Alpha', 'Bravo', 'Charlie']);
  await page.keyboard.press('o');
  await expect(page.getByRole('heading', { level: 1, name: 'Alpha' })).toBeVisible();
});

test('PgDn and PgUp scroll the open request, and opening a verdict does not scroll it', async ({
  page,
  workspace,
}) => {
  await page.setViewportSize({ width: 1280, height: 560 });
  await waiting(page, workspace, ['Alpha', 'Bravo']);
  const top = opened(page, 'Alpha').getByRole('heading', { level: 2, name: 'Alpha' });
  await page.keyboard.press('d');
  await page.keyboard.press('c');
  await page.keyboard.type('No');
  await expect(top).toBeInViewport();
  await page.keyboard.press('Escape');
  await page.keyboard.press('PageDown');
  await expect(top).not.toBeInViewport();
  await page.keyboard.press('PageUp');
  await expect(top).toBeInViewport();
});

test('a, d, digits, c and Ctrl+Enter decide, and input survives every other key', async ({
  page,
  workspace,
}) => {
  await waiting(page, workspace, ['Alpha', 'Bravo']);
  const reason = page.getByLabel('Reason');
  const comment = page.getByLabel('Comment');
  await page.keyboard.press('a');
  await expect(page.getByRole('form', { name: 'Allow this request' })).toBeVisible();
  await isIn(reason);
  for (const [digit, code] of [
    ['5', 'CONFIRMED_WITH_OWNER'],
    ['8', 'URGENT'],
    ['9', 'URGENT'],
    ['1', 'AMOUNT_OK'],
  ] as const) {
    await page.keyboard.press(digit);
    await expect(reason).toHaveValue(code);
  }
  await page.keyboard.press('c');
  await isIn(comment);
  // In a text field, keys type letters.
  await page.keyboard.type('jk and x?');
  await expect(comment).toHaveValue('jk and x?');
  await page.keyboard.press('Escape');
  await expect(comment).toHaveCount(0);
  await page.keyboard.press('d');
  await expect(page.getByRole('form', { name: 'Deny this request' })).toBeVisible();
  await expect(comment).toHaveValue('jk and x?');
  await page.keyboard.press('4');
  await page.keyboard.press('a');
  await expect(page.getByRole('form', { name: 'Allow this request' })).toBeVisible();
  await page.keyboard.press('d');
  await expect(reason).toHaveValue('DUPLICATE');
  await page.keyboard.press('j');
  await expect(opened(page, 'Bravo')).toBeVisible();
  await page.keyboard.press('k');
  await expect(opened(page, 'Alpha')).toBeVisible();
  await page.keyboard.press('d');
  await expect(reason).toHaveValue('DUPLICATE');
  await expect(comment).toHaveValue('jk and x?');
  await page.keyboard.press('Control+Enter');
  await expect(opened(page, 'Bravo')).toBeVisible();
  await expect(row(page, 'Alpha')).toHaveCount(0);
  const denied = async () =>
    (await workspace.call('GET', '/v1/decisions?review_state=DENIED')).data[0]?.review;
  await expect.poll(denied).toMatchObject({ reason_code: 'DUPLICATE', comment: 'jk and x?' });
});

test('l labels the request that was just reviewed', async ({ page, workspace }) => {
  await waiting(page, workspace, ['Alpha', 'Bravo', 'Charlie']);
  const labelled = async (merchant: string) =>
    (await workspace.call('GET', `/v1/decisions?merchant=${merchant}`)).data[0].label?.label;
  for (const [keys, merchant, says, label] of [
    [['a', '1'], 'Alpha', 'Fits the purpose', 'PURPOSE_ALIGNED'],
    [['d', '6'], 'Bravo', 'Against the purpose', 'PURPOSE_MISALIGNED'],
    [['d', '5'], 'Charlie', 'Purpose unclear', 'PURPOSE_UNCLEAR'],
  ] as const) {
    await expect(opened(page, merchant)).toBeVisible();
    for (const key of keys) await page.keyboard.press(key);
    await page.keyboard.press('Control+Enter');
    await expect(page.getByText(`${merchant}. Add a label?`)).toBeVisible();
    await expectAccessible(page, `after ${merchant}`);
    await page.keyboard.press('l');
    await expect(page.getByText(`${merchant}. Labelled: ${says}.`)).toBeVisible();
    expect(await labelled(merchant)).toBe(label);
  }
  // A wrong label is corrected in place.
  await page.getByRole('button', { name: 'Against the purpose' }).click();
  await expect(page.getByText('Charlie. Labelled: Against the purpose.')).toBeVisible();
  expect(await labelled('Charlie')).toBe('PURPOSE_MISALIGNED');
});

test('x selects, Shift+X selects up to there, Shift+D denies them with one reason', async ({
  page,
  workspace,
  me,
}) => {
  await waiting(page, workspace, ['Alpha', 'Bravo', 'Charlie', 'Delta']);
  await page.keyboard.press('x');
  await expect(page.getByText('1 selected')).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expect(opened(page, 'Charlie')).toBeVisible();
  await page.keyboard.press('Shift+X');
  await expect(page.getByText('3 selected')).toBeVisible();
  await page.keyboard.press('x');
  await expect(page.getByText('2 selected')).toBeVisible();
  await page.keyboard.press('Shift+D');
  const dialog = page.getByRole('dialog', { name: 'Deny 2 requests' });
  await isIn(dialog.getByLabel('Reason'));
  await expect(dialog).toContainText(`Recorded as ${me.name}`);
  await page.keyboard.press('3');
  await expect(dialog.getByLabel('Reason')).toHaveValue('TOO_EXPENSIVE');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Over the market');
  await page.keyboard.press('Control+Enter');
  await expect(dialog.getByRole('status')).toContainText('2 of 2 recorded.');
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(row(page, 'Charlie')).toBeVisible();
  for (const gone of ['Alpha', 'Bravo']) await expect(row(page, gone)).toHaveCount(0);
  const { data } = await workspace.call('GET', '/v1/decisions?review_state=DENIED');
  expect(data.map((each: { review: { comment: string } }) => each.review.comment)).toEqual([
    'Over the market',
    'Over the market',
  ]);
});

test('shortcuts work after a mouse selection and with Caps Lock on', async ({ page, workspace }) => {
  await waiting(page, workspace, ['Alpha', 'Bravo']);
  await page.getByLabel('Select Alpha').click();
  await page.keyboard.press('j');
  await expect(opened(page, 'Bravo')).toBeVisible();
  // The event of the key k with Caps Lock on.
  await page.evaluate(() =>
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'K', code: 'KeyK', bubbles: true })),
  );
  await expect(opened(page, 'Alpha')).toBeVisible();
});

/** The screens of the navigation by shortcut. */
const GO: readonly (readonly [key: string, heading: string])[] = [
  ['o', 'Overview'],
  ['d', 'Decisions'],
  ['a', 'Agents'],
  ['b', 'Budgets'],
  ['r', 'Shadow report'],
  ['h', 'History'],
  ['c', 'Coverage'],
  ['w', 'Webhooks'],
  ['l', 'Ledger'],
  ['u', 'Audit'],
  ['k', 'Keys'],
  ['t', 'Team'],
  ['s', 'Settings'],
  ['m', 'Your account'],
  ['i', 'Inbox'],
];

test('g and a letter open every screen, and ? lists its shortcuts', async ({ page, workspace }) => {
  await waiting(page, workspace, ['Alpha']);
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  for (const [key, heading] of GO) {
    await test.step(`g ${key}`, async () => {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await expect(page.getByRole('heading', { level: 1, name: heading, exact: true })).toBeVisible();
      await expectSettled(page, heading);
      await page.keyboard.press('?');
      await expect(dialog.getByRole('region', { name: 'Go to' })).toContainText('Shadow report');
      await expect(dialog.getByRole('region', { name: 'On this screen' })).toHaveCount(
        (await page.getByRole('search').count()) > 0 || heading === 'Inbox' ? 1 : 0,
      );
      await page.keyboard.press('Escape');
      await expect(dialog).toHaveCount(0);
    });
  }
  // None of these keys decided anything.
  await expect(page.getByRole('button', { name: 'Allow', exact: true })).toBeVisible();
  await page.keyboard.press('?');
  await expectAccessible(page, 'the keys of the inbox');
});

test('the help lists exactly the shortcuts of the inbox that the tests above press', async ({
  page,
  workspace,
}) => {
  await waiting(page, workspace, ['Alpha']);
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  const own = page
    .getByRole('dialog', { name: 'Keyboard shortcuts' })
    .getByRole('region', { name: 'On this screen' });
  await expect(own).toBeVisible();
  const named = await own
    .locator('dt')
    .evaluateAll((all) =>
      all.map((each) => [...each.querySelectorAll('kbd')].map((key) => key.textContent).join(' ')),
    );
  expect(named).toEqual([
    ...[
      'j k',
      'PgDn PgUp',
      'a',
      'd',
      'w',
      'Shift W',
      'u',
      '1 … 9',
      'c',
      'Ctrl Enter',
      'Esc',
      'l',
      'o',
      'z',
      'x',
      'Shift X',
      'Shift A',
      'Shift D',
    ],
  ]);
});

test('f goes to the filters of a list', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/decisions');
  await expectSettled(page, 'Decisions');
  await page.keyboard.press('f');
  await isIn(page.getByRole('search').getByLabel('Merchant'));
});
