import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

test('selected suggestions are confirmed with one button, and an entry can be removed', async ({
  page,
  workspace,
  me,
  expected,
}) => {
  expected.answer(400, /\/merchants$/);
  await workspace.agent();
  const spends = [
    ['Hetzner Online', 'Server CX42'],
    ['Hetzner Online', 'Server CX22'],
    ['Evil Hosting', 'Gift cards'],
    ['Unknown Shop', 'Something'],
  ] as const;
  const ids: string[] = [];
  for (const [merchant, description] of spends) {
    ids.push((await workspace.spend({ merchant, description })).decision_id);
  }
  await workspace.call('POST', `/v1/decisions/${ids[0]}/labels`, { label: 'PURPOSE_ALIGNED' });
  await workspace.call('POST', `/v1/decisions/${ids[2]}/labels`, { label: 'PURPOSE_MISALIGNED' });

  await page.goto('/console/agents/infra-bot');
  await page.getByRole('navigation', { name: 'This agent' }).getByRole('link', { name: 'Merchants' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Merchants' })).toBeVisible();
  const suggested = page.getByRole('region', { name: 'Suggested merchants' });
  await expect(suggested.getByRole('row', { name: /Hetzner Online/ })).toContainText('Server CX42');
  await expect(suggested.getByRole('row', { name: /Hetzner Online/ })).toContainText('1 approved');
  const tick = (merchant: string) => page.getByRole('checkbox', { name: `Select ${merchant}` });
  for (const merchant of ['Hetzner Online', 'Evil Hosting', 'Unknown Shop'])
    await expect(tick(merchant)).not.toBeChecked();
  await tick('Hetzner Online').check();
  await tick('Evil Hosting').check();
  await expectAccessible(page, 'merchants, with suggestions');
  await expectNoSidewaysScroll(page, 'merchants, with suggestions');
  await page.getByRole('button', { name: 'Confirm 2 merchants' }).click();

  const listed = page.getByRole('region', { name: 'Listed merchants' });
  await expect(listed.getByRole('row', { name: /Hetzner Online/ })).toContainText('Allowed');
  await expect(listed.getByRole('row', { name: /Evil Hosting/ })).toContainText('Blocked');
  await expect(listed.getByRole('row', { name: /Evil Hosting/ })).toContainText(`${me.name} (you)`);
  await expect(tick('Hetzner Online')).toHaveCount(0);
  const denied = await workspace.spend({ merchant: 'Evil Hosting Ltd' });
  expect(denied.reason_code).toBe('MERCHANT_BLOCKED');

  await page.getByLabel('Verdict').selectOption('BLOCKED');
  await page.getByLabel('Merchant', { exact: true }).fill('Hetzner');
  await page.getByRole('button', { name: 'List merchant' }).click();
  await expect(page.getByRole('alert')).toContainText('Hetzner Online');

  await listed
    .getByRole('row', { name: /Evil Hosting/ })
    .getByRole('button', { name: 'Remove' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(listed.getByRole('row', { name: /Evil Hosting/ })).toHaveCount(0);
  expect((await workspace.spend({ merchant: 'Evil Hosting Ltd' })).reason_code).not.toBe('MERCHANT_BLOCKED');
});

test('a viewer sees the list and why they cannot change it', async ({ workspace, openAs }) => {
  await workspace.agent();
  await workspace.spend({ merchant: 'Hetzner Online' });
  for (const role of ['viewer', 'reviewer'] as const) {
    const page = await openAs(await workspace.person(role));
    await page.goto('/console/agents/infra-bot/merchants');
    await expect(page.getByRole('checkbox', { name: 'Select Hetzner Online' })).toBeDisabled();
    const button = page.getByRole('button', { name: /^Confirm/ });
    await expect(button).toBeDisabled();
    await expect(button).toHaveAttribute('title', /Only an administrator/);
  }
});
