import type { Page } from '@playwright/test';
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
