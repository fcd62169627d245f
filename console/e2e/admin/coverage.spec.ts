import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

/** Where pictures for a person to look at go; unset: none are made. */
const PICTURES = process.env.HISTORY_PICTURES;

test('what was paid is compared with what was asked: a line is matched, and another excluded', async ({
  page,
  workspace,
}) => {
  const look = async (name: string) => {
    await expectAccessible(page, name);
    await expectNoSidewaysScroll(page, name);
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  await page.goto('/console/coverage');
  await expect(page.getByText('No lines to compare')).toBeVisible();
  await look('coverage-empty');
  await workspace.call('PATCH', '/v1/workspace', { coverage: { grace_seconds: 0 } });
  const authority = { purpose: { objective: 'Keep the staging servers running' }, currency: 'EUR' };
  await workspace.call('POST', '/v1/agents', { slug: 'hosting', authority });
  for (const amount_minor of [3_000, 5_000]) await workspace.spend({ agent: 'hosting', amount_minor });
  const at = new Date().toISOString();
  const line = (merchant: string, amount_minor: number) =>
    JSON.stringify({ merchant, amount_minor, currency: 'EUR', occurred_at: at });
  const { id } = await workspace.call('POST', '/v1/imports', {
    file_name: 'today.ndjson',
    source: 'lines',
    agent: 'hosting',
  });
  const { key } = await workspace.call('POST', '/v1/api-keys', { name: 'rail', scopes: ['consume'] });
  const sent = await fetch(`${workspace.base_url}/v1/imports/${id}/content`, {
    method: 'PUT',
    headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
    body: [line('Hetzner Online', 3_000), line('Hetzner Online', 5_900), line('Bank fee', 250)].join('\n'),
  });
  expect(sent.status).toBe(200);
  await expect(async () => {
    await page.reload();
    await expect(page.getByRole('row', { name: /Bank fee/ })).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await expect(page.getByRole('region', { name: 'Totals' })).toContainText('EUR 30.00');
  await look('coverage');

  await page.getByRole('button', { name: 'Match Hetzner Online' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Request').selectOption({ index: 1 });
  await dialog.getByLabel('Comment').fill('A tip.');
  await look('coverage-match');
  await dialog.getByRole('button', { name: 'Match', exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await page.getByRole('button', { name: 'Exclude Bank fee' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Exclude', exact: true }).click();
  await expect(page.getByText('No lines in the state “Never asked”')).toBeVisible({ timeout: 30_000 });
  await page.getByLabel('State').selectOption('EXCLUDED');
  await expect(page.getByRole('row', { name: /Bank fee/ })).toBeVisible();
  await page.getByLabel('State').selectOption('ASKED');
  await page
    .getByRole('row', { name: /Hetzner Online EUR 59.00/ })
    .getByRole('button', { name: 'Unmatch' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unmatch', exact: true }).click();
  await page.getByLabel('State').selectOption('NEVER_ASKED');
  await expect(page.getByRole('row', { name: /Hetzner Online EUR 59.00/ })).toBeVisible({
    timeout: 30_000,
  });
});
