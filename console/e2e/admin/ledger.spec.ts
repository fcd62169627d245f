import { expect, test } from '../support/test.ts';

test('Verify says plainly that the history is valid', async ({ page, workspace }) => {
  await workspace.agent();
  await workspace.spend();
  await page.goto('/console/ledger');
  await page.getByRole('button', { name: 'Verify' }).click();
  const result = page.getByRole('status').filter({ hasText: 'The history is valid.' });
  await expect(result).toContainText('every hash is what it was');
  const { events_checked } = await workspace.call('GET', '/v1/ledger/verify');
  await expect(result).toContainText(`${events_checked} entries were made again`);
});

test('a break is named, and never called valid', async ({ page, workspace }) => {
  await workspace.agent();
  // The database cannot be edited behind the service from here: the service's answer for one that was stands in.
  await page.route('**/v1/ledger/verify*', async (route) => {
    const answer = await (await route.fetch()).json();
    const breaks = [{ seq: 2, kind: 'ROW_MISMATCH', detail: 'agent' }];
    await route.fulfill({ json: { ...answer, valid: false, breaks, first_break_seq: 2 } });
  });
  await page.goto('/console/ledger');
  await page.getByRole('button', { name: 'Verify' }).click();
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('The history breaks at entry 2.');
  await expect(alert).not.toContainText(/valid/);
});

test('an entry is hashed again in the browser', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/ledger');
  await page.getByRole('link', { name: '2', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Entry 2' })).toBeVisible();
  await expect(page.getByRole('note').filter({ hasText: 'That is the hash of entry 1.' })).toBeVisible();
  await expect(page.getByRole('note').filter({ hasText: 'Computed here: the same hash.' })).toBeVisible();
});

test('an entry that was altered on the way does not pass', async ({ page, workspace }) => {
  await workspace.agent();
  await page.route('**/v1/ledger/events/2', async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, occurred_at: '2026-01-01T00:00:00.000Z' } });
  });
  await page.goto('/console/ledger/2');
  await expect(page.getByRole('alert')).toContainText('The hash is not what the entry makes.');
});

test('entries are found by what they are about', async ({ page, workspace }) => {
  await workspace.agent();
  const { decision_id } = await workspace.spend();
  await workspace.spend();
  await page.goto('/console/ledger');
  await page.getByLabel('Subject').fill(decision_id);
  await expect(page.getByRole('row', { name: new RegExp(decision_id) })).toHaveCount(1);
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page).toHaveURL(new RegExp(`subject=${decision_id}`));
});

test('a record of the audit leads to what it is about, a revoked key among them', async ({
  page,
  workspace,
}) => {
  const { id } = await workspace.call('POST', '/v1/api-keys', { name: 'Gone by now', scopes: ['read'] });
  await workspace.call('DELETE', `/v1/api-keys/${id}`);
  await page.goto(`/console/audit?target=${id}`);
  await expect(page.getByRole('row', { name: /Key revoked/ })).toBeVisible();
  await page.getByRole('link', { name: id }).first().click();
  await expect(page.getByRole('row', { name: /Gone by now/ })).toContainText('Revoked');
});

test('while the history is verified it is said so, and what came to no result speaks neither way', async ({
  page,
  workspace,
  expected,
}) => {
  expected.answer(503, /^\/v1\/ledger\/verify$/);
  await workspace.agent();
  let answer: () => void = () => {};
  const is_time = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/v1/ledger/verify*', async (route) => {
    await is_time;
    const error = { code: 'unavailable', message: 'Too many verifications are under way; retry.' };
    await route.fulfill({ status: 503, json: { error } });
  });
  await page.goto('/console/ledger');
  await page.getByRole('button', { name: 'Verify' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Every hash is being made again' })).toBeVisible();
  answer();
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('The history was not verified.');
  await expect(alert).toContainText('says nothing about the history');
  await expect(page.getByRole('main')).not.toContainText(/is valid|breaks/);
});
