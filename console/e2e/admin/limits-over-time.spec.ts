import { expectAccessible } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

/** Any merchant is allowed. */
const ANY_MERCHANT = { ...AUTHORITY, on_purpose_unclear: 'ALLOW' };

test('a velocity limit is set in the form and shown as a meter, and a denial says how to get the request allowed', async ({
  page,
  workspace,
}) => {
  await workspace.agent({ mode: 'ENFORCE', authority: ANY_MERCHANT });
  await page.goto('/console/agents/infra-bot/authority');
  const add = page.getByRole('button', { name: 'Add limit' });
  await add.click();
  const first = page.getByRole('group', { name: 'Limit 1' });
  await first.getByLabel('Name').fill('seven-days');
  await first.getByLabel('Period', { exact: true }).selectOption('ROLLING');
  await first.getByLabel('Length').fill('7');
  await first.getByLabel('Unit').selectOption('days');
  await first.getByLabel('At most').fill('100');
  await first.getByLabel('Requests').fill('2');
  await add.click();
  const second = page.getByRole('group', { name: 'Limit 2' });
  await second.getByLabel('Name').fill('month');
  await second.getByLabel('Period', { exact: true }).selectOption('MONTH');
  await second.getByLabel('Count').selectOption('MERCHANT');
  await second.getByLabel('If exceeded').selectOption('REVIEW');
  await second.getByLabel('At most').fill('80.50');
  await page.getByLabel('Duplicate window').fill('30');
  await expect(page.getByRole('region', { name: 'In plain words' })).toContainText(
    'At most EUR 100.00 and 2 requests in any 7 days (seven-days); anything beyond that is denied.',
  );
  await expectAccessible(page, 'the editor with limits over time');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(page.getByText('Saved as version 2')).toBeVisible();
  const { authority } = await workspace.call('GET', '/v1/agents/infra-bot/authority');
  expect(authority).toEqual({
    ...ANY_MERCHANT,
    velocity_limits: [
      {
        name: 'seven-days',
        window: 'ROLLING',
        window_seconds: 604_800,
        limit_amount_minor: 10_000,
        limit_count: 2,
      },
      { name: 'month', window: 'MONTH', per: 'MERCHANT', limit_amount_minor: 8_050, on_exceeded: 'REVIEW' },
    ],
    duplicate_window_seconds: 1_800,
  });

  await workspace.spend({ merchant: 'One', amount_minor: 1_000 });
  await workspace.spend({ merchant: 'Iris', amount_minor: 2_000 });
  const denied = await workspace.spend({ merchant: 'Three', amount_minor: 3_000 });
  expect(denied.reason_codes).toContain('VELOCITY_LIMIT_EXCEEDED');
  await page.goto('/console/agents/infra-bot');
  const limits = page.getByRole('region', { name: 'Velocity limits' });
  await expect(limits).toContainText('EUR 30.00 of 100.00');
  await expect(limits).toContainText('2 of 2 requests');
  await expect(limits, 'a merchant as it was asked for').toContainText('month at Iris');
  await expectAccessible(page, 'an agent with limits over time');

  await page.goto(`/console/decisions/${denied.decision_id}`);
  await expect(page.getByRole('region', { name: 'Checks' })).toContainText('Velocity limits seven-days');
  const counted = page.getByRole('region', { name: 'Velocity limits' });
  await expect(counted, 'what is refused counts in nothing').toContainText('2 of 2 requests');
  const ways = page.getByRole('region', { name: 'How to get it allowed' });
  await expect(ways).toContainText(/Request it again from .* on.* The policy would then allow it\./);
  await expect(ways).toContainText('Over a velocity limit');
  await expectAccessible(page, 'a decision with remedies');
});

test('a limit that the service refuses is marked in its row', async ({ page, workspace, expected }) => {
  await workspace.agent();
  expected.answer(400, /\/authority(\/simulate|\/reading)?$/);
  await page.goto('/console/agents/infra-bot/authority');
  for (const number of [1, 2]) {
    await page.getByRole('button', { name: 'Add limit' }).click();
    await page
      .getByRole('group', { name: `Limit ${number}` })
      .getByLabel('Requests')
      .fill(String(number));
  }
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  const second = page.getByRole('group', { name: 'Limit 2' });
  await expect(second.getByRole('alert')).toContainText('counts the same spends as the limit "day"');
  await expect(second.getByLabel('Requests'), 'nothing typed is lost').toHaveValue('2');
  await second.getByLabel('Period', { exact: true }).selectOption('WEEK');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(page.getByText('Saved as version 2')).toBeVisible();
});
