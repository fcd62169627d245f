import { startReceiver } from '../support/receiver.ts';
import { expect, test } from '../support/test.ts';

test('the overview shows the top merchants in both modes and the result of the last verification', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await workspace.agent({ slug: 'strict-bot', mode: 'ENFORCE' });
  await workspace.spend({ merchant: 'Slow Books', amount_minor: 101 });
  await workspace.spend({ merchant: 'Later Books', amount_minor: 102 });
  await workspace.spend({ agent: 'strict-bot', merchant: 'Later Books', amount_minor: 103 });
  await page.goto('/console/');
  const merchants = page.getByRole('region', { name: 'Top merchants' }).getByRole('listitem');
  await expect(merchants).toHaveText(['Later Books2', 'Slow Books1']);
  const state = page.getByRole('region', { name: 'System status' });
  await expect(state).toContainText('The history has never been verified.');

  await state.getByRole('link', { name: 'verified' }).click();
  await page.getByRole('button', { name: 'Verify' }).click();
  await expect(page.getByText(/all hashes match/)).toBeVisible();
  await page.getByRole('link', { name: 'Overview' }).click();
  const { events_checked } = (await workspace.call('GET', '/v1/reports/overview')).last_verification;
  await expect(state).toContainText(
    new RegExp(`The history was verified .*: ${events_checked} entries, none altered`),
  );
  await merchants.first().getByRole('link').click();
  await expect(page).toHaveURL(/merchant=Later/);
  await expect(page.getByRole('row')).toHaveCount(3);
});

test('the overview shows the oldest pending request and the failing endpoints', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await workspace.spend({ amount_minor: 30_000, merchant: 'Slow Books' });
  await workspace.spend({ amount_minor: 31_000, merchant: 'Later Books' });
  const receiver = await startReceiver();
  const { host } = new URL(receiver.url);
  const { id } = await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
  await page.goto('/console/');
  const waiting = page.getByRole('region', { name: 'Pending review' });
  await expect(waiting).toContainText('Oldest: Slow Books');
  const state = page.getByRole('region', { name: 'System status' });
  await expect(state).toContainText('Nothing was sent to the webhooks yet.');
  await workspace.call('POST', `/v1/webhooks/${id}/test`);
  await expect.poll(() => receiver.received.length).toBe(1);
  await expect(async () => {
    await page.reload();
    await expect(state).toContainText('All webhooks are being delivered.', { timeout: 2_000 });
  }).toPass();
  await receiver.stop();

  await workspace.call('PATCH', `/v1/webhooks/${id}`, { status: 'disabled' });
  await page.reload();
  await expect(state).toContainText(`1 of 1 webhooks fail or are disabled: ${host}.`);
  await state.getByRole('link', { name: host }).click();
  await expect(page).toHaveURL(new RegExp(`/console/webhooks/${id}$`));
});
