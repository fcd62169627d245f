import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

const HEADER = 'Date,Payee,Amount,Memo';
const DAYS = Array.from({ length: 28 }, (_, i) => `${String(1 + i).padStart(2, '0')}/03/2026`);
const FILE = `${[HEADER, ...DAYS.map((day, i) => `${day},Hetzner Online,${20 + (i % 5)}.00,Invoice ${i}`)].join('\n')}\n12/03/2026,Ozols,x,Broken\n`;
/** Where pictures for a person to look at go; unset: none are made. */
const PICTURES = process.env.HISTORY_PICTURES;

test('a file becomes a policy: import, problems, proposal, another simulation, version 1', async ({
  page,
  workspace,
}) => {
  await workspace.call('POST', '/v1/agents', {
    slug: 'hosting',
    authority: { purpose: { objective: 'Keep the staging servers running' }, currency: 'EUR' },
  });
  const look = async (name: string) => {
    await expectAccessible(page, name);
    await expectNoSidewaysScroll(page, name);
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  await page.goto('/console/history');
  await expect(page.getByText('No imports yet')).toBeVisible();
  await look('history-empty');
  await page.getByRole('button', { name: 'Import file' }).click();
  const dialog = page.getByRole('dialog');
  await dialog
    .getByLabel('File')
    .setInputFiles({ name: 'bank.csv', mimeType: 'text/csv', buffer: Buffer.from(FILE) });
  await expect(dialog.getByLabel('Payee')).toHaveValue('merchant');
  await dialog.getByLabel('Memo').selectOption('description');
  await dialog.getByLabel('Feed').fill('bank');
  await dialog.getByLabel('Agent').selectOption('hosting');
  await dialog.getByLabel('Date format').fill('DD/MM/YYYY');
  await dialog.getByLabel('Currency').fill('eur');
  await dialog.getByLabel('Decimal sign').selectOption('.');
  await dialog.getByLabel('A purchase is').selectOption('POSITIVE');
  await look('history-mapping');
  await dialog.getByRole('button', { name: 'Confirm and import' }).click();
  await expect(dialog).toHaveCount(0);
  const row = page.getByRole('row', { name: /bank\.csv/ });
  await expect(row).toContainText('28');
  await look('history-imported');
  await row.getByRole('button', { name: 'Problems of bank.csv' }).click();
  await expect(page.getByRole('dialog')).toContainText('Amount is no amount.');
  await look('history-problems');
  await page.keyboard.press('Escape');

  await page.getByRole('link', { name: 'What would have happened' }).click();
  await page.getByLabel('Agent').selectOption('hosting');
  await page.getByRole('button', { name: 'Propose authority' }).click();
  await expect(page.getByText('Your largest of 28 purchases was EUR 24.00')).toBeVisible();
  await look('history-report');
  await page.getByRole('button', { name: 'Simulate again' }).click();
  await expect(page.getByText('28 purchases: 28 allowed (100 %)')).toBeVisible();
  await page.getByRole('button', { name: 'Apply as version 2' }).click();
  await expect(page.getByText('Version 2 is in effect.')).toBeVisible();
  const { authority } = await workspace.call('GET', '/v1/agents/hosting/authority');
  expect(authority.allowed_merchants).toEqual(['Hetzner Online']);

  await page.goto('/console/history');
  await page.getByRole('button', { name: 'Delete bank.csv' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No imports yet')).toBeVisible();
});
