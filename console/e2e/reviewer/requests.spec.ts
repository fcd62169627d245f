import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

const ASKED = { agent: 'infra-bot', currency: 'EUR', amount_minor: 20_000, merchants: ['Hetzner Online'] };

test('a reviewer allows less of what an agent requests, denies another, and an administrator’s limit holds', async ({
  page,
  workspace,
  expected,
}) => {
  await workspace.agent({
    mode: 'ENFORCE',
    authority: { ...AUTHORITY, reviewer_allowance_limit_minor: 15_000 },
  });
  const ask = (more: object) => workspace.call('POST', '/v1/allowances/request', { ...ASKED, ...more });
  const load = await ask({ name: 'Load test', purpose: 'Compute \u202e for the load test' });
  const game = await ask({ name: 'Games', purpose: 'A game for the weekend', amount_minor: 900 });
  await page.goto('/console/reviews');
  await page.getByRole('link', { name: 'Requests' }).click();
  const form = page.getByRole('form', { name: /Load test/ });
  await expect(form.getByLabel('Purpose'), 'hidden characters are named').toHaveValue(
    'Compute [U+202E] for the load test',
  );
  await expect(form.getByLabel('Amount')).toHaveValue('200.00');
  await expectAccessible(page, 'requests');

  expected.answer(403, /\/decide$/);
  await form.getByRole('button', { name: 'Allow' }).click();
  await expect(form.getByRole('alert')).toContainText('not recorded');
  await form.getByLabel('Amount').fill('0');
  await form.getByRole('button', { name: 'Allow' }).click();
  await expect(form.getByLabel('Amount')).toHaveAttribute('aria-invalid', 'true');
  await form.getByLabel('Amount').fill('150');
  await form.getByLabel('Purpose').fill('The load test of release 4.2');
  await form.getByRole('button', { name: 'Allow' }).click();
  await expect(form).toHaveCount(0);
  expect(await workspace.call('GET', `/v1/allowances/${load.id}`)).toMatchObject({
    status: 'OPEN',
    amount_minor: 15_000,
    expires_at: load.expires_at,
    purpose: 'The load test of release 4.2',
    decided: { action: 'ALLOW' },
  });

  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page, 'requests on a phone');
  const other = page.getByRole('form', { name: /Games/ });
  await other.getByLabel('Comment').fill('Not for games');
  await other.getByRole('button', { name: 'Deny' }).click();
  await expect(page.getByText('No requests')).toBeVisible();
  expect(await workspace.call('GET', `/v1/allowances/${game.id}`)).toMatchObject({
    status: 'DENIED',
    decided: { action: 'DENY', comment: 'Not for games' },
  });
});
