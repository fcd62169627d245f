import { expect, test } from '../support/test.ts';

test('the overview names the spend that has waited longest, and the endpoints that are in trouble', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await workspace.spend({ amount_minor: 30_000, merchant: 'Slow Books' });
  await workspace.spend({ amount_minor: 31_000, merchant: 'Later Books' });
  const { id } = await workspace.call('POST', '/v1/webhooks', { url: 'https://hooks.example.com/purser' });
  await page.goto('/console/');
  const waiting = page.getByRole('region', { name: 'Waiting for a person' });
  await expect(waiting).toContainText('The oldest, of Slow Books, was asked for');
  const state = page.getByRole('region', { name: 'State of things' });
  await expect(state).toContainText('All webhooks are delivered.');

  await workspace.call('PATCH', `/v1/webhooks/${id}`, { status: 'disabled' });
  await page.reload();
  await expect(state).toContainText('1 of 1 webhooks fail or are disabled: hooks.example.com.');
  await state.getByRole('link', { name: 'hooks.example.com' }).click();
  await expect(page).toHaveURL(new RegExp(`/console/webhooks/${id}$`));
});
