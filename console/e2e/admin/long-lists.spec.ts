import type { Page, Route } from '@playwright/test';
import { expectAccessible } from '../support/axe.ts';
import { startReceiver } from '../support/receiver.ts';
import { expect, test } from '../support/test.ts';
import type { Workspace } from '../support/workspace.ts';

const LISTED = /\/v1\/decisions\?/;
const PENDING = /\/v1\/inbox\?/;
const ROWS = 10_000;
const PAGE = 2_500;
/** Rows in the blocks of 50 near a screen of this height, plus the first block and the one with the focus. */
const RENDERED = 400;
/** Catches a hang. Ten thousand rows take long on a busy machine. */
const LOADED_MS = 120_000;

/** Limits the service's pages to a few rows, so that a few requests fill many pages. */
async function withPagesOf(page: Page, rows: number, listed = LISTED): Promise<void> {
  await page.route(listed, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', String(rows));
    return route.continue({ url: String(url) });
  });
}

/** Responds with ten thousand copies of a decision, each with its own ID and merchant. */
function manyOf(decision: { action: object }) {
  return (route: Route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const data = Array.from({ length: PAGE }, (_, i) => ({
      ...decision,
      decision_id: `dec_${String(ROWS - from - i).padStart(26, '0')}`,
      action: { ...decision.action, merchant: `Merchant ${from + i + 1}` },
    }));
    return route.fulfill({ json: { data, next_cursor: from + PAGE < ROWS ? String(from + PAGE) : null } });
  };
}

test('of ten thousand decisions only a bounded number is rendered at any position, each with its row index', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await page.route(LISTED, manyOf(await workspace.spend()));
  await page.goto('/console/decisions');
  const table = page.getByRole('region', { name: 'Decisions' }).getByRole('table');
  const rows = table.locator('tbody tr:not([aria-hidden])');
  const scrollTo = (part: number) =>
    page.evaluate((at) => window.scrollTo(0, document.documentElement.scrollHeight * at), part);
  // A long list loads more on scroll.
  await expect
    .poll(
      async () => {
        await scrollTo(0.5);
        await scrollTo(1);
        return table.getAttribute('aria-rowcount');
      },
      { timeout: LOADED_MS },
    )
    .toBe(String(ROWS + 1));
  for (const part of [1, 0.5, 0]) {
    await scrollTo(part);
    await expect(rows.filter({ visible: true }).first()).toBeVisible();
    expect(await rows.count()).toBeLessThanOrEqual(RENDERED);
  }
  await expect(page.getByRole('row', { name: /Merchant 1 / })).toHaveAttribute('aria-rowindex', '2');
  // The browser's own search would find few of them.
  await page.keyboard.press('Control+f');
  await expect(page.getByText('Your browser’s search finds only the rows near the screen.')).toBeVisible();
  await expectAccessible(page, 'ten thousand decisions');
  await page.keyboard.press('f');
  await expect(page.getByRole('search').getByLabel('Merchant')).toBeFocused();
  await scrollTo(1);
  await expect(page.getByRole('link', { name: `Merchant ${ROWS}`, exact: true })).toBeVisible();
});

test('a change refetches a bounded number of pages, however many are loaded, and rows keep their place', async ({
  page,
  workspace,
}) => {
  await workspace.agent({ mode: 'ENFORCE' });
  const spends: { decision_id: string }[] = [];
  for (let i = 0; i < 24; i++)
    spends.push(await workspace.spend({ amount_minor: 20_001 + i, merchant: `Merchant ${i}` }));
  await withPagesOf(page, 4, PENDING);
  await page.goto('/console/reviews');
  const items = page.getByRole('listitem').filter({ hasText: /Merchant|Just now/ });
  for (let loaded = 4; loaded < 24; loaded += 4) {
    await expect(items).toHaveCount(loaded);
    await page.getByRole('button', { name: 'Load more' }).click();
  }
  await expect(items).toHaveCount(24);
  await items.nth(15).getByRole('link').click();
  await expect(page.getByRole('article', { name: 'Merchant 15' })).toBeVisible();

  let fetched = 0;
  page.on('request', (request) => {
    // One row is asked for where only the count is shown.
    if (PENDING.test(request.url()) && !/[?&]limit=1(&|$)/.test(request.url())) fetched += 1;
  });
  await workspace.spend({ amount_minor: 30_000, merchant: 'Just now Ltd' });
  await expect(items.last()).toContainText('Just now Ltd');
  expect(fetched, 'the first page, and what came last').toBeLessThanOrEqual(2);

  // A request of the first page that somebody else reviews disappears. Rows further down stay, as does the open one.
  const { key } = await workspace.call('POST', '/v1/api-keys', {
    name: 'Ada',
    scopes: ['review', 'read'],
    principal_id: 'user:ada',
  });
  const deny = { action: 'DENY', reason_code: 'NOT_NOW' };
  const review = (at: number) =>
    workspace.call('POST', `/v1/decisions/${spends[at]?.decision_id}/reviews`, deny, { 'x-api-key': key });
  await review(1);
  await expect(items).toHaveCount(24);
  await expect(items.filter({ hasText: /^Merchant 1(?!\d)/ })).toHaveCount(0);
  await expect(page.getByRole('article', { name: 'Merchant 15' })).toBeVisible();
  // A reviewed request further down updates its row when it is opened.
  await review(20);
  await items.filter({ hasText: 'Merchant 20' }).getByRole('link').click();
  await expect(items.filter({ hasText: 'Merchant 20' })).toContainText('Denied');

  // An own review removes its row at once.
  await items.filter({ hasText: 'Merchant 16' }).getByRole('link').click();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByLabel('Reason').selectOption('WITHIN_PURPOSE');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(items.filter({ hasText: 'Merchant 16' })).toHaveCount(0);
  await expect(items).toHaveCount(23);
});

for (const { list, path, listed } of [
  { list: 'Audit', path: '/audit', listed: /\/v1\/audit\?/ },
  { list: 'Entries', path: '/ledger', listed: /\/v1\/ledger\/events\?/ },
  { list: 'Deliveries', path: '/webhooks', listed: /\/v1\/webhooks\/deliveries\?/ },
]) {
  test(`${list}: a change refetches only the first page and counts new rows without moving the others`, async ({
    page,
    workspace,
  }) => {
    const receiver = await startReceiver();
    try {
      await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
      // Each is an entry, a record of the audit and, as a decision, a delivery.
      await workspace.agent();
      for (let i = 0; i < 8; i++) {
        await workspace.call('POST', '/v1/api-keys', { name: `Key ${i}`, scopes: ['read'] });
        await workspace.spend({ amount_minor: 1_000 + i });
      }
      await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(8);
      await withPagesOf(page, 3, listed);
      await page.goto(`/console${path}`);
      const rows = page.getByRole('region', { name: list }).getByRole('table').locator('tbody tr');
      for (const loaded of [3, 6]) {
        await expect(rows).toHaveCount(loaded);
        await page.getByRole('button', { name: 'Load more' }).click();
      }
      await expect(rows).toHaveCount(list === 'Deliveries' ? 8 : 9);
      const newest = rows.first().locator('time').first();
      const at = (await newest.getAttribute('datetime')) as string;

      const further: string[] = [];
      page.on('request', (request) => {
        if (listed.test(request.url()) && /[?&]cursor=/.test(request.url())) further.push(request.url());
      });
      if (list === 'Deliveries') await page.getByRole('button', { name: 'Resend' }).last().click();
      else await workspace.call('POST', '/v1/api-keys', { name: 'The last one', scopes: ['read'] });
      const news = page.getByRole('button', { name: '1 new' });
      await expect(news).toBeVisible();
      expect(further, 'pages fetched again').toEqual([]);
      await expect(newest).toHaveAttribute('datetime', at);
      await news.click();
      await expect(rows).toHaveCount(3);
      await expect(newest).not.toHaveAttribute('datetime', at);
    } finally {
      await receiver.stop();
    }
  });
}

/** Lists without a time order: each with its setup, a change from elsewhere, and the expected row. */
const KEPT: readonly {
  list: string;
  path: string;
  listed: RegExp;
  rows: (workspace: Workspace) => Promise<void>;
  change: (workspace: Workspace) => Promise<unknown>;
  now: string;
}[] = [
  {
    list: 'Agents',
    path: '/agents',
    listed: /\/v1\/agents\?.*limit=(50|200)/,
    rows: async ({ agent }) => {
      for (let i = 0; i < 9; i++) await agent({ slug: `bot-${i}`, name: `Bot ${i}` });
    },
    change: ({ agent }) => agent({ slug: 'bot-last', name: 'The last one' }),
    now: 'The last one',
  },
  {
    list: 'Keys',
    path: '/keys',
    listed: /\/v1\/api-keys\?.*limit=(50|200)/,
    rows: async ({ call }) => {
      for (let i = 0; i < 8; i++) await call('POST', '/v1/api-keys', { name: `Key ${i}`, scopes: ['read'] });
    },
    change: ({ call }) => call('POST', '/v1/api-keys', { name: 'The last one', scopes: ['read'] }),
    now: 'The last one',
  },
  {
    list: 'Listed merchants',
    path: '/agents/infra-bot/merchants',
    listed: /\/merchants\?.*limit=(50|200)/,
    rows: async ({ agent, call }) => {
      await agent();
      for (let i = 0; i < 9; i++) {
        const entries = [{ merchant: `Merchant Number ${'ABCDEFGHI'[i]}`, verdict: 'ALLOWED' }];
        await call('POST', '/v1/agents/infra-bot/merchants', { entries });
      }
    },
    change: ({ call }) =>
      call('POST', '/v1/agents/infra-bot/merchants', {
        entries: [{ merchant: 'The last one', verdict: 'BLOCKED' }],
      }),
    now: 'The last one',
  },
];

for (const { list, path, listed, rows: fillRows, change, now } of KEPT) {
  test(`${list}: a change refetches only the first page, and rows further down stay`, async ({
    page,
    workspace,
  }) => {
    await fillRows(workspace);
    await withPagesOf(page, 3, listed);
    await page.goto(`/console${path}`);
    const rows = page.getByRole('region', { name: list, exact: true }).getByRole('table').locator('tbody tr');
    for (const loaded of [3, 6]) {
      await expect(rows).toHaveCount(loaded);
      await page.getByRole('button', { name: 'Load more' }).click();
    }
    await expect(rows).toHaveCount(9);
    // By name, since the relative times change.
    const nameOfLast = () => rows.last().getByRole('rowheader').textContent();
    const last = await nameOfLast();
    const further: string[] = [];
    page.on('request', (request) => {
      if (listed.test(request.url()) && /[?&]cursor=/.test(request.url())) further.push(request.url());
    });
    await change(workspace);
    await expect(rows.filter({ hasText: now })).toHaveCount(1);
    expect(await nameOfLast()).toBe(last);
    expect(further, 'pages fetched again').toEqual([]);
  });
}

test('of ten thousand keys only a bounded number is rendered, and one revoked far down disappears without a fetch', async ({
  page,
  workspace,
}) => {
  const made = await workspace.call('POST', '/v1/api-keys', { name: 'Key', scopes: ['read'] });
  const { data } = await workspace.call('GET', '/v1/api-keys');
  const one = data.find((each: { id: string }) => each.id === made.id);
  const fetched: string[] = [];
  await page.route(/\/v1\/api-keys\?.*limit=(50|200)/, (route) => {
    const { searchParams } = new URL(route.request().url());
    const from = Number(searchParams.get('cursor') ?? 0);
    fetched.push(String(from));
    // The last one is real, so that it can be revoked.
    const keys = Array.from({ length: PAGE }, (_, i) => ({
      ...one,
      id: from + i + 1 === ROWS ? one.id : `key_${String(from + i).padStart(26, '0')}`,
      name: `Key ${from + i + 1}`,
    }));
    return route.fulfill({
      json: { data: keys, next_cursor: from + PAGE < ROWS ? String(from + PAGE) : null },
    });
  });
  await page.goto('/console/keys');
  const table = page.getByRole('region', { name: 'Keys', exact: true }).getByRole('table');
  const scrollTo = (part: number) =>
    page.evaluate((at) => window.scrollTo(0, document.documentElement.scrollHeight * at), part);
  await expect
    .poll(
      async () => {
        await scrollTo(0.5);
        await scrollTo(1);
        return table.getAttribute('aria-rowcount');
      },
      { timeout: LOADED_MS },
    )
    .toBe(String(ROWS + 1));
  expect(await table.locator('tbody tr:not([aria-hidden])').count()).toBeLessThanOrEqual(RENDERED);
  fetched.length = 0;
  await scrollTo(1);
  const row = page.getByRole('row', { name: new RegExp(`Key ${ROWS} `) });
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(row).toHaveCount(0);
  await expect(table).toHaveAttribute('aria-rowcount', String(ROWS));
  expect(
    fetched.filter((from) => from !== '0'),
    'pages fetched again',
  ).toEqual([]);
});
