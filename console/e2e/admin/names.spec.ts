import type { Page } from '@playwright/test';
import { expectSettled } from '../support/axe.ts';
import { fill } from '../support/fill.ts';
import { expect, test } from '../support/test.ts';

/**
 * Names that screen readers and programs use to find controls. Each must be unique on its page: a path, buttons to press,
 * then names that must occur once.
 */
interface Named {
  path: string;
  press?: string[];
  buttons?: string[];
  fields?: string[];
}

const NAMED: readonly Named[] = [
  { path: '/decisions', buttons: ['Export CSV'] },
  { path: '/agents', buttons: ['New agent'] },
  { path: '/agents', press: ['New agent'], buttons: ['Create agent'], fields: ['Slug'] },
  { path: '/agents/infra-bot', buttons: ['Pause', 'Revoke', 'Switch to Enforce'] },
  { path: '/agents/travel', buttons: ['Resume'] },
  {
    path: '/agents/infra-bot/authority',
    fields: ['Objective', 'Currency', 'Per-transaction limit', 'Review threshold', 'Monthly budget'],
  },
  { path: '/budgets', press: ['New budget'], buttons: ['Create budget'], fields: ['Slug', 'Limit'] },
  {
    path: '/allowances',
    press: ['New allowance'],
    buttons: ['Create allowance'],
    fields: ['Agent', 'Amount', 'Currency', 'Period', 'Expires', 'Merchants', 'Purpose', 'Labels'],
  },
  { path: '/keys', buttons: ['New key'] },
  { path: '/keys', press: ['New key'], buttons: ['Create key'], fields: ['Name', 'Kind', 'Agent'] },
  { path: '/webhooks', buttons: ['Add endpoint'] },
  { path: '/webhooks', press: ['Add endpoint'], fields: ['URL'] },
  { path: '/ledger', buttons: ['Verify'] },
  { path: '/team', buttons: ['Invite'] },
  { path: '/team', press: ['Invite'], buttons: ['Create invite link'], fields: ['E-mail', 'Role'] },
  { path: '/me', buttons: ['Change password', 'Sign out'] },
];

const NAVIGATION = [
  'Inbox',
  'Overview',
  'Decisions',
  'Agents',
  'Budgets',
  'Allowances',
  'Shadow report',
  'History',
  'Coverage',
  'Webhooks',
  'Ledger',
  'Audit',
  'Keys',
  'Team',
  'Settings',
];

async function check(page: Page, { path, press = [], buttons = [], fields = [] }: Named): Promise<void> {
  await page.goto(`/console${path}`);
  for (const name of press) await page.getByRole('button', { name }).click();
  for (const name of buttons)
    await expect(page.getByRole('button', { name }), `${path}: ${name}`).toHaveCount(1);
  for (const name of fields) await expect(page.getByLabel(name), `${path}: ${name}`).toHaveCount(1);
}

test('names are unique in an empty workspace', async ({ page }) => {
  for (const named of NAMED.filter(({ path }) => !path.startsWith('/agents/'))) await check(page, named);
});

test('names are unique in a full workspace', async ({ page, workspace }) => {
  await fill(workspace);
  await workspace.call('PATCH', '/v1/agents/infra-bot', { mode: 'SHADOW' });
  for (const named of NAMED) await check(page, named);
});

test('the navigation links to every screen and marks the current one', async ({ page }) => {
  await page.goto('/console/');
  const navigation = page.getByRole('navigation', { name: 'Main' });
  for (const name of NAVIGATION) {
    await navigation.getByRole('link', { name }).click();
    await expect(page.getByRole('heading', { level: 1, name, exact: true })).toBeVisible();
    await expect(navigation.getByRole('link', { name })).toHaveAttribute('aria-current', 'page');
    await expect(page).toHaveTitle(new RegExp(`^${name}`));
  }
});

/** Lists that name other things. Those of agents and budgets themselves also show their slugs. */
const LISTS: readonly (readonly [path: string, heading: string, names: readonly string[]])[] = [
  ['/', 'Overview', ['Infrastructure bot', 'Travel desk']],
  ['/decisions', 'Decisions', ['Travel desk', 'No rules yet']],
  ['/reviews', 'Inbox', ['Infrastructure bot']],
  ['/reviews?tab=requests', 'Inbox', []],
  ['/allowances', 'Allowances', ['Travel desk']],
  ['/budgets', 'Budgets', ['Procurement of office supplies and equipment for Gulf']],
  ['/report', 'Shadow report', ['Travel desk']],
  ['/coverage', 'Coverage', []],
  ['/rails', 'Rails', ['Travel desk']],
  ['/keys', 'Keys', ['Travel desk']],
  ['/audit', 'Audit', ['Travel desk', 'Trip to Kyoto', '127.0.0.1:9']],
  ['/ledger', 'Ledger', ['Travel desk', 'Trip to Kyoto']],
];
const KNOWN_ID = /\b(agt|key|usr|bud|alw|wh|rail|imp|inv)_[0-9A-Z]{26}\b/;

test('no list shows an id or a slug whose name is known', async ({ page, workspace }) => {
  await fill(workspace);
  const { call } = workspace;
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const of_travel = { agent: 'travel', currency: 'JPY', amount_minor: 9_000, expires_at };
  await call('POST', '/v1/allowances', { ...of_travel, name: 'Trip to Kyoto', purpose: 'Trains' });
  await call('POST', '/v1/api-keys', { name: 'Of the desk', agent_id: 'travel' });
  await call('PUT', `/v1/instruments/${encodeURIComponent('stripe_issuing:ic_1')}`, { agent: 'travel' });
  for (const [path, heading, names] of LISTS) {
    await page.goto(`/console${path}`);
    await expectSettled(page, heading);
    const main = page.getByRole('main');
    for (const name of names) await expect(main, path).toContainText(name);
    // A row of changes shows the fields of a record, slugs among them.
    const shown = () =>
      main.evaluate((all) => {
        const copy = all.cloneNode(true) as HTMLElement;
        for (const each of copy.querySelectorAll('details, option, [href="/console/budgets"] ~ code'))
          each.remove();
        return copy.textContent ?? '';
      });
    await expect.poll(shown, `${path} shows ids`).not.toMatch(KNOWN_ID);
    if (path !== '/budgets') expect(await shown(), `${path} shows slugs`).not.toMatch(/\btravel\b|no-rules/);
  }
});
