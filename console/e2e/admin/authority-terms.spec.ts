import { expectAccessible } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

test('every field of a policy has a control, a sentence, and is saved as typed', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await page.goto('/console/agents/infra-bot/authority');
  await page.getByLabel('Allowed merchants').fill('Hetzner Online');
  await page
    .getByLabel('Allowed payees')
    .fill('iban:DE44500105175407324931 Hetzner Online\nstripe:acct_1032D82eZvKYlo2C');
  await page.getByLabel('Other merchants').selectOption('DENY');
  await page.getByLabel('First payment to a merchant').selectOption('REVIEW');
  await page.getByLabel('Allowed up to').fill('20');
  await page.getByLabel('Reviewers may grant up to').fill('50.00');
  await page.getByLabel('Allowed action types').fill('purchase');
  await page.getByLabel('Action types that need review').fill('subscription');
  await page.getByLabel('Time zone').fill('Europe/Berlin');
  await page.getByLabel('Valid from').fill('2026-01-01T00:00');
  await page.getByLabel('Valid until').fill('2096-07-01T00:00');
  await page.getByRole('button', { name: 'Add hours' }).click();
  const hours = page.getByRole('group', { name: 'Active hours 1' });
  await hours.getByLabel('Saturday').check();
  await hours.getByLabel('To').fill('9:30');
  await page.getByLabel('Outside active hours').selectOption('REVIEW');
  const plain = page.getByRole('region', { name: 'In plain words' });
  await expect(plain).toContainText(
    'from Monday to Saturday from 08:00 to 09:30 (Europe/Berlin); a request at any other time needs review.',
  );
  await expectAccessible(page, 'the editor with every term');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(page.getByText('Saved as version 2')).toBeVisible();
  const { authority } = await workspace.call('GET', '/v1/agents/infra-bot/authority');
  expect(authority).toEqual({
    ...AUTHORITY,
    allowed_merchants: ['Hetzner Online'],
    allowed_payees: [
      { payee_id: 'iban:DE44500105175407324931', merchant: 'Hetzner Online' },
      { payee_id: 'stripe:acct_1032D82eZvKYlo2C' },
    ],
    on_other_merchants: 'DENY',
    on_new_merchant: 'REVIEW',
    new_merchant_threshold_minor: 2_000,
    reviewer_allowance_limit_minor: 5_000,
    allowed_action_types: ['purchase'],
    review_action_types: ['subscription'],
    time_zone: 'Europe/Berlin',
    valid_from: '2025-12-31T23:00:00.000Z',
    valid_until: '2096-06-30T22:00:00.000Z',
    active_hours: [{ days: ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'], from: '08:00', to: '09:30' }],
    on_outside_hours: 'REVIEW',
  });
  // The saved policy is shown unchanged.
  await page.reload();
  await expect(page.getByLabel('Valid until')).toHaveValue('2096-07-01T00:00');
  await expect(page.getByText('No changes.')).toBeVisible();
});

test('errors of the form and of the service appear beside their fields, and no input is lost', async ({
  page,
  workspace,
  expected,
}) => {
  await workspace.agent();
  // The page simulates and interprets the draft during typing.
  expected.answer(400, /\/authority(\/simulate|\/reading)?$/);
  await page.goto('/console/agents/infra-bot/authority');
  await page.getByRole('button', { name: 'Add hours' }).click();
  const to = page.getByRole('group', { name: 'Active hours 1' }).getByLabel('To');
  await to.fill('25');
  await expect(to).toHaveAttribute('aria-invalid', 'true');
  await to.fill('24:00');
  await page.getByLabel('Allowed action types').fill('purchase');
  // Only the service knows the valid spelling of a zone, and whether another list names merchants.
  const zone = page.getByLabel('Time zone');
  await zone.fill('europe/berlin');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(zone).toHaveAttribute('aria-invalid', 'true');
  await zone.fill('Europe/Berlin');
  const others = page.getByLabel('Other merchants');
  await others.selectOption('DENY');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(others).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByLabel('Allowed action types')).toHaveValue('purchase');
  await expect(to).toHaveValue('24:00');
  await others.selectOption('REVIEW');
  await page.getByLabel('Allowed payees').fill('stripe:acct_1032D82eZvKYlo2C');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(page.getByText('Saved as version 2')).toBeVisible();
});
