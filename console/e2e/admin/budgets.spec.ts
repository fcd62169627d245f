import { expectAccessible } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

const COMPANY = {
  slug: 'company',
  name: 'The company',
  currency: 'EUR',
  period: 'MONTH',
  limit_minor: 1_000_000,
};

test('a budget can be created below another, and errors appear beside their fields', async ({
  page,
  workspace,
  expected,
}) => {
  await page.goto('/console/budgets');
  await expect(page.getByText('No shared budgets yet')).toBeVisible();
  await expect(page.getByRole('region', { name: 'a first budget' })).toContainText('/v1/budgets');
  await workspace.call('POST', '/v1/budgets', COMPANY);
  await page.getByRole('button', { name: 'New budget' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Slug').fill('Marketing');
  await dialog.getByLabel('Name').fill('Marketing, all of it');
  await dialog.getByLabel('Limit').fill('6,000.555');
  await dialog.getByRole('button', { name: 'Create budget' }).click();
  await expect(dialog.getByRole('alert').first()).toContainText('Must use only a-z');
  await expect(dialog.getByRole('alert').last()).toContainText('at most 2 digits');
  await dialog.getByLabel('Slug').fill('marketing');
  await dialog.getByLabel('Limit').fill('6000');
  await dialog.getByLabel('Parent budget').selectOption('company');
  await dialog.getByLabel('Time zone').fill('Mars/Olympus');
  expected.answer(400, /\/v1\/budgets$/);
  await dialog.getByRole('button', { name: 'Create budget' }).click();
  await expect(dialog.getByLabel('Time zone')).toHaveAttribute('aria-invalid', 'true');
  await expect(dialog.getByLabel('Name'), 'nothing typed is lost').toHaveValue('Marketing, all of it');
  await dialog.getByLabel('Time zone').fill('Europe/Berlin');
  await expectAccessible(page, 'the form of a budget');
  await dialog.getByRole('button', { name: 'Create budget' }).click();
  await expect(dialog).toHaveCount(0);
  const rows = page.getByRole('list', { name: 'Budgets' }).getByRole('listitem');
  await expect(rows).toHaveCount(2);
  await expect(rows.last()).toContainText('Marketing, all of it');
  await expect(rows.last()).toContainText('EUR 0.00 of 6,000.00');
  await expect(rows.last()).toContainText('part of The company');
  await expectAccessible(page, 'budgets');
});

test('an agent spends from the budget in its policy, but not while it is frozen', async ({
  page,
  workspace,
}) => {
  await workspace.call('POST', '/v1/budgets', COMPANY);
  await workspace.call('POST', '/v1/budgets', {
    slug: 'marketing',
    currency: 'EUR',
    period: 'MONTH',
    limit_minor: 600_000,
    parent: 'company',
  });
  await workspace.call('POST', '/v1/budgets', { ...COMPANY, slug: 'tokyo', name: 'Tokyo', currency: 'JPY' });
  await workspace.agent({ mode: 'ENFORCE', authority: { ...AUTHORITY, on_purpose_unclear: 'ALLOW' } });
  await page.goto('/console/agents/infra-bot/authority');
  const shared = page.getByRole('region', { name: 'Shared budgets' });
  await shared.getByLabel('marketing').check();
  await expect(shared.getByLabel('Tokyo'), 'another currency').toHaveCount(0);
  await expect(page.getByRole('region', { name: 'In plain words' })).toContainText(
    'Requests count toward the shared budget marketing',
  );
  await expectAccessible(page, 'the editor with shared budgets');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(page.getByText('Saved as version 2')).toBeVisible();
  expect((await workspace.call('GET', '/v1/agents/infra-bot/authority')).authority.budgets).toEqual([
    'marketing',
  ]);

  await workspace.spend({ amount_minor: 5_440 });
  await page.goto('/console/budgets');
  const row = (slug: string) =>
    page
      .getByRole('list', { name: 'Budgets' })
      .getByRole('listitem')
      .filter({ has: page.getByRole('button', { name: `Edit ${slug}`, exact: true }) });
  await expect(row('company')).toContainText('EUR 54.40 of 10,000.00');
  await expect(row('marketing')).toContainText('EUR 54.40 of 6,000.00');

  await page.getByRole('button', { name: 'Freeze company' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('This also stops the budgets below it: marketing');
  await dialog.getByRole('button', { name: 'Freeze' }).click();
  await expect(row('company')).toContainText('Frozen');
  const denied = await workspace.spend({ amount_minor: 1_200 });
  expect(denied.reason_codes).toContain('BUDGET_FROZEN');
  await page.getByRole('button', { name: 'Unfreeze company' }).click();
  await dialog.getByRole('button', { name: 'Unfreeze' }).click();
  await expect(row('company')).not.toContainText('Frozen');
  expect((await workspace.spend({ amount_minor: 1_300 })).decision).toBe('ALLOW');

  await page.getByRole('button', { name: 'Edit marketing' }).click();
  await dialog.getByLabel('Limit').fill('50');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(row('marketing')).toContainText('EUR 67.40 of 50.00');
  expect((await workspace.spend({ amount_minor: 1_400 })).reason_codes).toContain('BUDGET_EXCEEDED');
});
