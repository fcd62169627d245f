import type { Page } from '@playwright/test';
import { addAuthenticator } from '../support/authenticator.ts';
import { expectAccessible, expectSettled } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

const tier = (page: Page, number: number) => page.getByRole('group', { name: `Tier ${number}` });
const saved = (page: Page, version: number) => page.getByText(`Saved as version ${version}.`);

test('unfinished rows are no changes yet, and unsaved ones outlive the page', async ({ page }) => {
  await page.goto('/console/review-policy');
  await page.getByRole('button', { name: 'Add tier' }).click();
  await expect(tier(page, 1)).toBeVisible();
  const changes = page.getByRole('region', { name: 'Your changes' });
  await expect(changes, 'a tier without an amount').toHaveCount(0);
  await tier(page, 1).getByLabel('From', { exact: true }).fill('200');
  await expect(changes).toContainText('From EUR 200.00');
  await page.getByLabel('Note').fill('Two people');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await expect(page.getByText('Your unsaved changes were restored.')).toBeVisible();
  await expect(tier(page, 1).getByLabel('From', { exact: true })).toHaveValue('200');
  await expect(page.getByLabel('Note')).toHaveValue('Two people');
  await expectAccessible(page, 'restored changes of the review policy');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await expect(tier(page, 1)).toHaveCount(0);
  await page.reload();
  await expect(page.getByText('One approval by anyone who may review is enough.').first()).toBeVisible();
  await expect(page.getByText('Your unsaved changes were restored.')).toHaveCount(0);
});

test('an administrator writes the review policy, and the next large request needs two people', async ({
  page,
  workspace,
  me,
}) => {
  const { call, agent, spend, person } = workspace;
  const ada = await person('reviewer', { name: 'Ada Lovelace', principal_id: 'user:ada' });
  await person('reviewer', { name: 'Bo Diddley', principal_id: 'user:bo' });
  await agent({ mode: 'ENFORCE' });
  await page.goto('/console/settings');
  await page.getByRole('main').getByRole('link', { name: 'review policy' }).click();
  await expectSettled(page, 'Review policy');
  await expect(page.getByText('One approval by anyone who may review is enough.').first()).toBeVisible();

  await page.getByRole('button', { name: 'Add group' }).click();
  const group = page.getByRole('group', { name: 'Group 1' });
  await group.getByLabel('Name of the group').fill('finance');
  await group.getByLabel('Add to Members').selectOption('user:ada');
  await group.getByLabel('Add to Members').selectOption('user:bo');
  await page.getByRole('button', { name: 'Add tier' }).click();
  await tier(page, 1).getByLabel('From', { exact: true }).fill('200.005');
  await tier(page, 1).getByLabel('Add to Approvers').selectOption('Group finance');
  await tier(page, 1).getByText('Escalation', { exact: true }).click();
  await tier(page, 1).getByLabel('Escalate after').fill('1');
  await tier(page, 1).getByLabel('Add to Further approvers').selectOption(me.principal_id);
  await page.getByRole('button', { name: 'Add limit' }).click();
  const limit = page.getByRole('group', { name: 'Limit 1' });
  await limit.getByLabel('Approver').selectOption('user:bo');
  await limit.getByLabel('Up to').fill('5000');
  await page.getByLabel('Remind before expiry').fill('1');
  await page.getByLabel('Note').fill('Two people from now on');
  await page.getByRole('button', { name: 'Save as version 1' }).click();
  await expect(tier(page, 1).getByRole('alert')).toHaveText(
    'Must have at most 2 digits after the point in EUR.',
  );
  await tier(page, 1).getByLabel('From', { exact: true }).fill('200');
  await expect(page.getByText('From EUR 200.00: 2 approvals by finance. After 1 hour')).toBeVisible();
  await page.getByRole('button', { name: 'Save as version 1' }).click();
  await expect(saved(page, 1)).toBeVisible();
  await expectAccessible(page, 'a review policy');

  const { policy, note } = await call('GET', '/v1/review-policy');
  expect(note).toBe('Two people from now on');
  expect(policy).toEqual({
    groups: { finance: ['user:ada', 'user:bo'] },
    tiers: [
      {
        currency: 'EUR',
        from_minor: 20_000,
        approvals: 2,
        approvers: ['finance'],
        escalation: { after_seconds: 3_600, approvers: [me.principal_id] },
      },
    ],
    approver_limits: [{ approver: 'user:bo', currency: 'EUR', max_minor: 500_000 }],
    remind_before_seconds: 3_600,
  });
  const { key } = await call('POST', '/v1/api-keys', { name: 'Production', agent_id: 'infra-bot' });
  const { review_tier, decision_id } = await spend({ amount_minor: 24_900, key });
  expect(review_tier).toMatchObject({ approvals: 2, approvers: ['user:ada', 'user:bo'] });
  expect(ada.principal_id).toBe('user:ada');

  await page.getByRole('link', { name: '1', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Version 1 (current)' })).toBeVisible();
  await page.goto(`/console/decisions/${decision_id}`);
  await expect(page.getByText('0 of 2')).toBeVisible();
});

test('a version that somebody else saved meanwhile is replaced only on purpose', async ({
  page,
  workspace,
}) => {
  const { call } = workspace;
  await page.goto('/console/review-policy');
  await expectSettled(page, 'Review policy');
  await page.getByLabel('Remind before expiry').fill('2');
  await call('PUT', '/v1/review-policy', { policy: { remind_before_seconds: 60 } });
  await page.getByRole('button', { name: 'Save as version 1' }).click();
  await expect(page.getByText('Version 1 was saved in the meantime.')).toBeVisible();
  expect((await call('GET', '/v1/review-policy')).policy).toEqual({ remind_before_seconds: 60 });
  await expect(page.getByLabel('Remind before expiry')).toHaveValue('2');
  await page.getByRole('button', { name: 'Continue from version 1 with my changes' }).click();
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(saved(page, 2)).toBeVisible();
  expect((await call('GET', '/v1/review-policy')).policy).toEqual({ remind_before_seconds: 7_200 });
  await page.goto('/console/review-policy?version=1');
  await expect(page.getByRole('heading', { name: 'From version 1 to version 2' })).toBeVisible();
  await page.getByRole('button', { name: 'Start from this version' }).click();
  await expect(page.getByLabel('Remind before expiry')).toHaveValue('1');
});

test('what the service refuses is shown at its field, and a stale proof is renewed without loss', async ({
  page,
  workspace,
  me,
  expected,
}) => {
  expected.answer(400, /^\/v1\/review-policy$/);
  expected.answer(403, /^\/v1\/review-policy$/);
  await page.goto('/console/review-policy');
  await expectSettled(page, 'Review policy');
  await page.getByRole('button', { name: 'Add tier' }).click();
  await tier(page, 1).getByLabel('From', { exact: true }).fill('100');
  await tier(page, 1).getByLabel('Approvals').selectOption('5');
  await page.getByRole('button', { name: 'Save as version 1' }).click();
  await expect(tier(page, 1).getByRole('alert')).toContainText('Needs 5 people');
  await tier(page, 1).getByLabel('Approvals').selectOption('1');

  // A proof stays fresh for at least a minute, so this refusal is faked.
  let refused = 0;
  await page.route('**/v1/review-policy', async (route) => {
    if (route.request().method() !== 'PUT' || refused > 0) return route.continue();
    refused += 1;
    const error = {
      code: 'reauthentication_required',
      message: 'Prove your identity again.',
      request_id: 'req_made_here',
    };
    await route.fulfill({ status: 403, json: { error } });
  });
  await page.getByRole('button', { name: 'Save as version 1' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it’s you' });
  await proof.getByLabel('Password').fill(me.password);
  await proof.getByRole('button', { name: 'Confirm' }).click();
  await expect(saved(page, 1)).toBeVisible();
  const { policy } = await workspace.call('GET', '/v1/review-policy');
  expect(policy).toEqual({ tiers: [{ currency: 'EUR', from_minor: 10_000, approvals: 1 }] });
});

test('a policy with a signed tier, and the one that replaces it, is signed with the passkey', async ({
  page,
  workspace,
}) => {
  await addAuthenticator(page);
  await page.goto('/console/me');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await expect(page.getByRole('row', { name: /^Passkey/ })).toBeVisible();
  await page.getByRole('button', { name: 'Add signing key' }).click();
  await expect(page.getByRole('row', { name: /^Signing key/ })).toContainText('Active');
  await page.goto('/console/review-policy');
  await page.getByRole('button', { name: 'Add tier' }).click();
  await tier(page, 1).getByLabel('From', { exact: true }).fill('1000');
  await tier(page, 1).getByLabel('Approvals').selectOption('1');
  await tier(page, 1)
    .getByLabel(/^Each approval is signed/)
    .check();
  await expect(page.getByText('Your signing key signs the change.')).toBeVisible();
  await page.getByRole('button', { name: 'Save as version 1' }).click();
  await expect(saved(page, 1)).toBeVisible();
  const { policy } = await workspace.call('GET', '/v1/review-policy');
  expect(policy).toEqual({
    tiers: [{ currency: 'EUR', from_minor: 100_000, approvals: 1, signed: true }],
  });
  await page.getByRole('button', { name: 'Remove tier 1' }).click();
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(saved(page, 2)).toBeVisible();
  const { valid } = await workspace.call('GET', '/v1/ledger/verify');
  expect(valid).toBe(true);
});
