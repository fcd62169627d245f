import {
  ap2Mandate,
  inAll,
  mandateKey,
  REFERENCE,
  range,
  withBinding,
} from '../../../server/tests/support/mandates.ts';
import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW' };
const EXPIRES = new Date(Date.now() + 30 * 86_400_000).toISOString();
const HOSTILE = 'Nightly \u202edliub of the whole monorepo on all branches, twice';

test('an allowance is created with a key that is shown once, used, split and revoked', async ({
  page,
  workspace,
}) => {
  await workspace.agent({ mode: 'ENFORCE', authority: OPEN });
  await page.goto('/console/allowances');
  await expect(page.getByText('No allowances yet')).toBeVisible();
  await page.getByRole('button', { name: 'New allowance' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create allowance' }).click();
  for (const name of ['Agent', 'Amount', 'Expires'])
    await expect(dialog.getByLabel(name, { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByLabel('Name').fill('Load test');
  await dialog.getByLabel('Agent').selectOption('infra-bot');
  await dialog.getByLabel('Amount').fill('120.50');
  await dialog.getByLabel('Period').selectOption('MONTH');
  await dialog.getByLabel('Expires').fill(EXPIRES.slice(0, 16));
  await dialog.getByLabel('Merchants').fill('Hetzner Online\n\n Datadog ');
  await dialog.getByLabel('Purpose').fill('The load test of release 4.2');
  await dialog.getByLabel('Labels').fill('customer');
  await dialog.getByLabel('Create key').check();
  await dialog.getByRole('button', { name: 'Create allowance' }).click();
  await expect(dialog.getByLabel('Labels')).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByLabel('Labels').fill('customer:c42');
  await expectAccessible(page, 'the form of an allowance');
  await dialog.getByRole('button', { name: 'Create allowance' }).click();
  await expect(dialog).toContainText('cannot show it again');
  const key = (
    (await dialog.getByRole('region', { name: 'the key', exact: true }).textContent()) ?? ''
  ).trim();
  await expectAccessible(page, 'the key of an allowance');
  await dialog.getByRole('button', { name: 'Done' }).click();

  const spent = await workspace.spend({ amount_minor: 5_000, key });
  const [made] = (await workspace.call('GET', '/v1/allowances')).data;
  expect(spent).toMatchObject({ decision: 'ALLOW', allowance: { id: made.id } });
  expect(made).toMatchObject({
    agent: { slug: 'infra-bot' },
    amount_minor: 12_050,
    period: 'MONTH',
    currency: 'EUR',
    merchants: ['Hetzner Online', 'Datadog'],
    labels: { customer: 'c42' },
    purpose: 'The load test of release 4.2',
  });

  await page.reload();
  const row = page.getByRole('row', { name: /Load test/ });
  for (const shown of ['Open', 'Infrastructure bot', 'EUR 50.00 of 120.50', 'per month (UTC)', 'Used 1 time'])
    await expect(row).toContainText(shown);
  await expectAccessible(page, 'allowances');
  await row.getByRole('link', { name: 'Load test' }).click();
  await expect(page.getByRole('region', { name: 'Bounds' })).toContainText('Hetzner Online, Datadog');
  await expect(page.getByRole('region', { name: 'Latest decisions' })).toContainText('Hetzner Online');
  await page.getByRole('button', { name: 'New part' }).click();
  await expect(dialog.getByLabel('Part of')).toHaveValue(made.id);
  await expect(dialog.getByLabel('Agent'), 'the parent has one').toHaveCount(0);
  await dialog.getByLabel('Name').fill('First half');
  await dialog.getByLabel('Amount').fill('60');
  await dialog.getByRole('button', { name: 'Create allowance' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Parts' })).toContainText('First half');
  await expectAccessible(page, 'an allowance');

  await page.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByLabel('Reason').fill('The test is over');
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Origin' })).toContainText('The test is over');
  await expect(page.getByRole('button', { name: 'Revoke' })).toHaveCount(0);
  const refused = await fetch(`${workspace.base_url}/v1/decisions`, { headers: { 'x-api-key': key } });
  expect(refused.status, 'its key ended with it').toBe(401);
});

test('an agent’s page says how often its allowances were used and ends them', async ({ page, workspace }) => {
  await workspace.agent({ mode: 'ENFORCE', authority: { ...OPEN, review_threshold_minor: 1_000 } });
  const standing = await workspace.call('POST', '/v1/allowances', {
    agent: 'infra-bot',
    currency: 'EUR',
    amount_minor: 100_000,
    expires_at: EXPIRES,
    automatic: true,
    answers: ['REVIEW_THRESHOLD_EXCEEDED'],
    merchants: ['Hetzner Online'],
    name: HOSTILE,
  });
  for (let i = 0; i < 12; i++)
    expect((await workspace.spend({ amount_minor: 2_000 + i })).standing_approval.id).toBe(standing.id);
  await page.goto('/console/agents/infra-bot');
  const section = page.getByRole('region', { name: 'Allowances', exact: true });
  await expect(section).toContainText('Used 12 times');
  await expect(section).toContainText('EUR 240.66 of 1,000.00');
  await expect(section, 'hidden characters are named').toContainText('Nightly [U+202E]dliub');
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page, 'an agent with allowances');
  await expectAccessible(page, 'an agent with allowances');
  await section.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(section).toContainText('No open allowances');
  expect((await workspace.spend({ amount_minor: 2_500 })).decision).toBe('REVIEW');
  await section.getByRole('link', { name: 'View all' }).click();
  await expect(page.getByRole('row', { name: /Nightly/ })).toContainText('Revoked');
  await expectNoSidewaysScroll(page, 'allowances on a phone');
  await expectAccessible(page, 'allowances on a phone');
});

test('the shadow report says what a standing approval would have answered, and lists its decisions', async ({
  page,
  workspace,
}) => {
  await workspace.agent({ mode: 'SHADOW', authority: { ...OPEN, review_threshold_minor: 1_000 } });
  const standing = await workspace.call('POST', '/v1/allowances', {
    agent: 'infra-bot',
    currency: 'EUR',
    amount_minor: 100_000,
    expires_at: EXPIRES,
    name: HOSTILE,
    automatic: true,
    answers: ['REVIEW_THRESHOLD_EXCEEDED'],
    merchants: ['Hetzner Online'],
  });
  for (const amount_minor of [2_000, 3_000])
    expect((await workspace.spend({ amount_minor })).standing_approval.id).toBe(standing.id);
  expect((await workspace.spend({ amount_minor: 500 })).standing_approval).toBeUndefined();
  await page.goto('/console/report');
  const row = page.getByRole('region', { name: 'Answered ahead' }).getByRole('row', { name: /Nightly/ });
  for (const shown of ['[U+202E]', 'Infrastructure bot', '2', 'EUR 50.00'])
    await expect(row).toContainText(shown);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page, 'what was answered ahead on a phone');
  await expectAccessible(page, 'what was answered ahead');
  await row.getByRole('link', { name: '2', exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`allowance=${standing.id}`));
  await expect(page.getByRole('heading', { level: 1, name: 'Decisions' })).toBeVisible();
  await expect(page.getByText('EUR 30.00').first()).toBeVisible();
  await expect(page.getByText('EUR 5.00')).toHaveCount(0);
});

test('the page of a mandate shows what the payer has to check', async ({ page, workspace }) => {
  await workspace.agent({ mode: 'ENFORCE', authority: OPEN });
  const { key } = await workspace.call('POST', '/v1/api-keys', { name: 'own', agent_id: 'infra-bot' });
  const [payer, own] = [mandateKey(), mandateKey()];
  await workspace.call('POST', '/v1/allowance-issuers', {
    name: 'Payers',
    format: 'AP2',
    jwk: payer.jwk,
    currency: 'EUR',
    max_amount_minor: 100_000,
  });
  const allowed = Array.from({ length: 12 }, (_, i) => ({
    id: `card-${i}-${'0123456789abcdef'.repeat(12)}`,
    type: 'card',
    description: `network ··· 12${i}`,
  }));
  const pisp = {
    legal_name: 'Example Payments Ltd.',
    brand_name: 'ExamplePay',
    domain_name: 'examplepay.com',
  };
  const { text } = ap2Mandate(payer, own, {
    constraints: [
      range(2_000, 'EUR'),
      inAll(50, 'EUR'),
      { type: 'payment.agent_recurrence', frequency: 'MONTHLY', max_occurrences: 12 },
      { type: 'payment.allowed_payment_instruments', allowed },
      { type: 'payment.allowed_pisps', allowed: [pisp] },
      REFERENCE,
    ],
  });
  const signed = withBinding(text, { aud: workspace.id, by: own });
  const { id, parent } = await workspace.call(
    'POST',
    '/v1/allowances/present',
    { signed },
    { 'x-api-key': key },
  );
  await page.goto(`/console/allowances/${id}`);
  const card = page.getByRole('region', { name: 'Mandate' });
  for (const shown of ['Agent Payments Protocol (AP2)', REFERENCE.conditional_transaction_id, 'ExamplePay'])
    await expect(card).toContainText(shown);
  await expect(page.getByRole('region', { name: 'Origin' })).toContainText('Signed by a payer');
  await expectAccessible(page, 'a mandate');
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page, 'a mandate on a phone');
  await page.getByRole('link', { name: parent }).click();
  await expect(page.getByRole('region', { name: 'Parts' }).getByRole('link')).toHaveCount(1);
});
