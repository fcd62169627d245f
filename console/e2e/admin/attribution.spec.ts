import type { Page } from '@playwright/test';
import { fill } from '../support/fill.ts';
import { expect, test } from '../support/test.ts';

/** Screens with actions that the history records, and the button that opens their dialog, if any. */
const DONE_AT: readonly (readonly [path: string, button?: string])[] = [
  ['/reviews'],
  ['/new-agent'],
  ['/agents', 'Stop all agents'],
  ['/agents/infra-bot'],
  ['/agents/infra-bot', 'Revoke'],
  ['/agents/infra-bot', 'Switch to Shadow'],
  ['/agents/infra-bot/authority'],
  ['/agents/infra-bot/merchants'],
  ['/budgets', 'New budget'],
  ['/budgets', 'Edit company'],
  ['/budgets', 'Freeze company'],
  ['/allowances', 'New allowance'],
  ['/keys', 'New key'],
  ['/keys', 'Revoke'],
  ['/webhooks', 'Add endpoint'],
  ['/team'],
  ['/team', 'Invite'],
  ['/team', 'Remove'],
  ['/team', 'Revoke'],
  ['/settings'],
];

async function expectNamed(page: Page, [path, button]: (typeof DONE_AT)[number], principal_id: string) {
  await page.goto(`/console${path}`);
  if (button !== undefined) await page.getByRole('button', { name: button, exact: true }).first().click();
  const place = button === undefined ? page.locator('main') : page.getByRole('dialog');
  const named = place.getByText('Recorded as Grace Hopper').first();
  await expect(named).toBeVisible();
  await expect(named, 'a name, and no id').not.toContainText(principal_id);
  await expect(named.getByTitle(principal_id)).toHaveText('Grace Hopper');
}

test('every action that writes to the history shows its attribution first', async ({
  page,
  workspace,
  me,
}) => {
  const { allowed_id, webhook_id } = await fill(workspace);
  const of_one: typeof DONE_AT = [
    [`/decisions/${allowed_id}`],
    [`/webhooks/${webhook_id}`],
    [`/webhooks/${webhook_id}`, 'Rotate secret'],
    [`/webhooks/${webhook_id}`, 'Delete'],
  ];
  for (const each of [...DONE_AT, ...of_one])
    await test.step(each.join(': '), () => expectNamed(page, each, me.principal_id));
});
