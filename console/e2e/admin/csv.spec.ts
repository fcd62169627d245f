import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { startReceiver } from '../support/receiver.ts';
import { expect, test } from '../support/test.ts';

/** A formula that a spreadsheet would run. */
const FORMULA = '=HYPERLINK("http://evil.example","x")';
const HARMLESS = `'${FORMULA}`;

/** Parses the records of a file by RFC 4180. */
function parse(text: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  let cell = '';
  let is_quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (is_quoted) {
      if (char !== '"') cell += char;
      else if (text[i + 1] === '"') {
        cell += '"';
        i += 1;
      } else is_quoted = false;
    } else if (char === '"') is_quoted = true;
    else if (char === ',' || char === '\n') {
      rows.at(-1)?.push(cell);
      cell = '';
      if (char === '\n') rows.push([]);
    } else cell += char;
  }
  const [names = [], ...records] = rows.filter((each) => each.length > 0);
  return records.map((each) => Object.fromEntries(names.map((name, i) => [name, each[i] ?? ''])));
}

/** Presses the button and reads the downloaded file. */
async function exported(page: Page, name = 'Export CSV'): Promise<Record<string, string>[]> {
  const waiting = page.waitForEvent('download');
  await page.getByRole('button', { name, exact: true }).click();
  return parse(await readFile(await (await waiting).path(), 'utf8'));
}

/** Limits every page of the service to this many rows. */
async function withPagesOf(page: Page, rows: number): Promise<void> {
  await page.route(/\/v1\/.*[?&]limit=/, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', String(rows));
    return route.continue({ url: String(url) });
  });
}

test('the CSV of agents and keys has all pages, applies the filters, and contains no formula', async ({
  page,
  workspace,
}) => {
  for (let i = 0; i < 5; i++)
    await workspace.agent({ slug: `bot-${i}`, name: i === 0 ? FORMULA : `Bot ${i}` });
  await workspace.call('PATCH', '/v1/agents/bot-4', { status: 'paused' });
  for (const name of [FORMULA, '+1', '-1, "quoted"', '@SUM'])
    await workspace.call('POST', '/v1/api-keys', { name, scopes: ['read'] });
  await workspace.call('POST', '/v1/api-keys', { name: 'For bot-1', agent_id: 'bot-1' });
  await withPagesOf(page, 2);

  await page.goto('/console/agents');
  await expect(page.getByRole('region', { name: 'Agents' })).toBeVisible();
  const agents = await exported(page);
  expect(agents.map((each) => each.slug).sort()).toEqual(['bot-0', 'bot-1', 'bot-2', 'bot-3', 'bot-4']);
  expect(agents.find((each) => each.slug === 'bot-0')?.name).toBe(HARMLESS);
  await page.goto('/console/agents?status=paused');
  await expect(page.getByRole('region', { name: 'Agents' })).toBeVisible();
  expect((await exported(page)).map((each) => each.slug)).toEqual(['bot-4']);

  await page.goto('/console/keys?kind=read_only');
  await expect(page.getByRole('region', { name: 'Keys' })).toBeVisible();
  const keys = await exported(page, 'Export CSV of keys');
  expect(keys.map((each) => each.name).sort()).toEqual([HARMLESS, "'+1", `'-1, "quoted"`, "'@SUM"].sort());
  expect(keys.every((each) => each.hint?.startsWith('sk_') && each.key === undefined)).toBe(true);
});

test('the CSV of the inbox has the rows of its tab', async ({ page, workspace }) => {
  await workspace.agent({ mode: 'ENFORCE' });
  await workspace.agent({ mode: 'ENFORCE', slug: 'other-bot', name: 'Other bot' });
  await workspace.spend({ amount_minor: 30_001, merchant: FORMULA });
  await workspace.spend({ amount_minor: 30_002, merchant: 'Second' });
  await workspace.spend({ amount_minor: 30_003, merchant: 'Not his', agent: 'other-bot' });
  await workspace.spend({ amount_minor: 10_004, merchant: 'Hetzner Online' });
  await page.goto('/console/reviews?agent=infra-bot');
  await expect(page.getByRole('article')).toBeVisible();
  expect((await exported(page)).map((each) => each.merchant)).toEqual([HARMLESS, 'Second']);
  await page.goto('/console/reviews?tab=mine');
  await expect(page.getByText('You haven’t reviewed anything yet')).toBeVisible();
  expect(await exported(page)).toEqual([]);
});

test('team, budgets, merchants and webhooks have a CSV export', async ({ page, workspace, me }) => {
  const receiver = await startReceiver();
  try {
    await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
    await workspace.agent();
    await workspace.person('viewer', { name: FORMULA });
    await workspace.call('POST', '/v1/invitations', { email: 'pending@example.com', role: 'viewer' });
    await workspace.call('POST', '/v1/budgets', {
      slug: 'company',
      name: FORMULA,
      currency: 'KWD',
      period: 'TOTAL',
      limit_minor: 900_500,
    });
    await workspace.call('POST', '/v1/agents/infra-bot/merchants', {
      entries: [
        { merchant: 'Datadog', verdict: 'ALLOWED', note: '=1+1' },
        { merchant: 'Steam', verdict: 'BLOCKED' },
        { merchant: 'Linode', verdict: 'ALLOWED' },
      ],
    });
    await workspace.spend();
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    await withPagesOf(page, 2);

    await page.goto('/console/team');
    await expect(page.getByRole('region', { name: 'Members' }).first()).toBeVisible();
    const members = await exported(page, 'Export CSV of members');
    expect(members.map((each) => each.principal_id)).toContain(me.principal_id);
    expect(members.map((each) => each.name)).toContain(HARMLESS);
    const invited = await exported(page, 'Export CSV of invitations');
    expect(invited.map((each) => each.email)).toEqual(['pending@example.com']);

    await page.goto('/console/budgets');
    await expect(page.getByRole('list', { name: 'Budgets' })).toBeVisible();
    expect(await exported(page)).toMatchObject([{ slug: 'company', name: HARMLESS, limit_minor: '900500' }]);

    await page.goto('/console/agents/infra-bot/merchants');
    await expect(page.getByText('Steam')).toBeVisible();
    const merchants = await exported(page, 'Export CSV of listed merchants');
    expect(merchants.map((each) => each.merchant).sort()).toEqual(['Datadog', 'Linode', 'Steam']);
    expect(merchants.find((each) => each.merchant === 'Datadog')?.note).toBe("'=1+1");

    await page.goto('/console/webhooks?status=SUCCEEDED');
    await expect(page.getByRole('region', { name: 'Deliveries' }).first()).toBeVisible();
    expect((await exported(page, 'Export CSV of endpoints')).map((each) => each.url)).toEqual([receiver.url]);
    const deliveries = await exported(page, 'Export CSV of deliveries');
    expect(deliveries.length).toBeGreaterThan(0);
    expect(new Set(deliveries.map((each) => each.status))).toEqual(new Set(['SUCCEEDED']));
  } finally {
    await receiver.stop();
  }
});
