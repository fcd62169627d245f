import { expect, test } from '../support/test.ts';

test('a decision is shared by a link that a stranger can open until it is revoked', async ({
  page,
  workspace,
  browser,
}) => {
  const { slug: agent } = await workspace.agent();
  const decision = await workspace.spend({ agent });
  await page.goto(`/console/decisions/${decision.decision_id}`);
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Share this decision' });
  await dialog.getByLabel('Expires after').selectOption('1 day');
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const url = await dialog.getByLabel('Link', { exact: true }).inputValue();
  const stranger = await (await browser.newContext()).newPage();
  expect((await stranger.goto(url))?.status()).toBe(200);
  await expect(stranger.getByRole('heading', { level: 1 })).toContainText('Hetzner Online');
  await expect(stranger.getByText('Shared by')).toBeVisible();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await expect(dialog.getByRole('button', { name: 'Revoke' })).toHaveCount(0);
  expect((await stranger.goto(url))?.status()).toBe(404);
  await expect(stranger.getByRole('heading', { level: 1 })).toHaveText('This link does not open');
  await stranger.context().close();
});

for (const by of ['the button', 'Ctrl+P'])
  test(`a decision is printed on one page of A4 by ${by}`, async ({ page, workspace }) => {
    const { slug: agent } = await workspace.agent();
    const decision = await workspace.spend({ agent });
    // In place of the dialog of the system.
    await page.context().addInitScript(() => {
      window.print = () => {
        document.documentElement.dataset.printed = 'yes';
      };
    });
    const opened = page.waitForEvent('popup');
    await page.goto(`/console/decisions/${decision.decision_id}`);
    const button = page.getByRole('button', { name: 'Print', exact: true });
    await expect(button).toBeVisible();
    if (by === 'Ctrl+P') await page.keyboard.press('Control+p');
    else await button.click();
    const paper = await opened;
    await expect(paper.locator('html')).toHaveAttribute('data-printed', 'yes');
    await expect(page.locator('html')).not.toHaveAttribute('data-printed', 'yes');
    await expect(paper.getByRole('heading', { level: 1 })).toContainText('Hetzner Online');
    for (const name of ['Purpose', 'Request', 'Checks', 'Who decided', 'Outcome', 'Hashes'])
      await expect(paper.getByRole('heading', { level: 2, name, exact: true })).toBeVisible();
    const pdf = (await paper.pdf({ preferCSSPageSize: true })).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page[^s]/g)).toHaveLength(1);
  });

test('the browser’s own menu prints a decision without controls and with everything unfolded', async ({
  page,
  workspace,
}) => {
  const { slug: agent } = await workspace.agent();
  const trace = [{ step: 'Compared three offers' }];
  const decision = await workspace.spend({ agent, amount_minor: 60_000, more: { trace } });
  await page.goto(`/console/decisions/${decision.decision_id}`);
  await expect(page.getByRole('heading', { level: 2, name: 'Why it was denied' })).toBeVisible();
  const folded = page.locator('main details:not([data-screen-only])').first();
  await expect(folded).not.toHaveAttribute('open');
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  await expect(folded).toHaveAttribute('open');
  for (const control of ['Share', 'Print', 'Download JSON', 'Simulate'])
    await expect(page.getByText(control, { exact: true })).toBeHidden();
  await expect(page.getByRole('navigation')).toBeHidden();
  await expect(page.getByText('Recorded as')).toBeHidden();
  for (const name of ['What this agent is for', 'Checks', 'In the ledger'])
    await expect(page.getByRole('heading', { level: 2, name })).toBeVisible();
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await expect(folded).not.toHaveAttribute('open');
});
