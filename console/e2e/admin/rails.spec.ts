import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

/** Where pictures for a person to look at go; unset: none are made. */
const PICTURES = process.env.HISTORY_PICTURES;

test('a rail is added, gets its secret, and its card is assigned', async ({ page, workspace }) => {
  await workspace.call('POST', '/v1/agents', { slug: 'hosting' });
  const look = async (name: string) => {
    await expectAccessible(page, name);
    await expectNoSidewaysScroll(page, name);
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  await page.goto('/console/rails');
  await expect(page.getByText('No rails yet')).toBeVisible();
  await look('rails-empty');
  await page.getByRole('button', { name: 'Add rail' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Kind').selectOption('lithic');
  await dialog.getByLabel('Name').fill('Lithic, live');
  await dialog.getByRole('button', { name: 'Add rail' }).click();
  await expect(dialog.getByText('/events')).toBeVisible();
  await look('rails-url');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText('Waiting for secret')).toBeVisible();

  await page.getByRole('button', { name: 'Change Lithic, live' }).click();
  await dialog.getByLabel('Signing secret').fill('whsec_b2YgdGhlIHRlc3Rz');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('cell', { name: 'Active' })).toBeVisible();

  await page.getByRole('button', { name: 'Assign another' }).click();
  await dialog.getByLabel('Instrument').fill('lithic:card-a');
  await dialog.getByLabel('Agent').selectOption('hosting');
  await dialog.getByRole('button', { name: 'Assign' }).click();
  await expect(page.getByRole('row', { name: /lithic:card-a/ })).toContainText('hosting');
  await look('rails-full');

  await page.getByRole('button', { name: 'Delete Lithic, live' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No rails yet')).toBeVisible();
});
