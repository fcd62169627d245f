import { readFile } from 'node:fs/promises';
import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

test('Verify states that the history is valid', { tag: '@smoke' }, async ({ page, workspace }) => {
  await workspace.agent();
  await workspace.spend();
  await page.goto('/console/ledger');
  await page.getByRole('button', { name: 'Verify' }).click();
  const result = page.getByRole('status').filter({ hasText: 'The history is valid.' });
  await expect(result).toContainText('all hashes match');
  const { events_checked } = await workspace.call('GET', '/v1/ledger/verify');
  await expect(result).toContainText(`${events_checked} entries were recomputed`);
});

test('a break is named, and never called valid', async ({ page, workspace }) => {
  await workspace.agent();
  // The test cannot edit the database behind the service, so it fakes the response for an edited one.
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
  await expect(page.getByRole('note').filter({ hasText: 'This matches the hash of entry 1.' })).toBeVisible();
  await expect(page.getByRole('note').filter({ hasText: 'Computed here: the hash matches.' })).toBeVisible();
});

test('an entry that was altered on the way does not pass', async ({ page, workspace }) => {
  await workspace.agent();
  await page.route('**/v1/ledger/events/2', async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, occurred_at: '2026-01-01T00:00:00.000Z' } });
  });
  await page.goto('/console/ledger/2');
  await expect(page.getByRole('alert')).toContainText('The hash does not match the entry.');
});

test('entries can be found by their subject', async ({ page, workspace }) => {
  await workspace.agent();
  const { decision_id } = await workspace.spend();
  await workspace.spend();
  await page.goto('/console/ledger');
  await page.getByLabel('Subject').fill(decision_id);
  await expect(page.getByRole('row', { name: new RegExp(decision_id) })).toHaveCount(1);
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page).toHaveURL(new RegExp(`subject=${decision_id}`));
});

test('an audit record links to its subject, also to a revoked key', async ({ page, workspace }) => {
  const { id } = await workspace.call('POST', '/v1/api-keys', { name: 'Gone by now', scopes: ['read'] });
  await workspace.call('DELETE', `/v1/api-keys/${id}`);
  await page.goto(`/console/audit?target=${id}`);
  await expect(page.getByRole('row', { name: /API key revoked/ })).toBeVisible();
  await page.getByRole('link', { name: 'Gone by now' }).first().click();
  await expect(page.getByRole('heading', { level: 1, name: 'Keys' })).toBeVisible();
  await expect(page.getByRole('row', { name: /Gone by now/ })).toContainText('Revoked');
});

test('a running verification is shown, and one without a result says nothing about the history', async ({
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
  await expect(page.getByRole('status').filter({ hasText: 'Recomputing every hash' })).toBeVisible();
  answer();
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('The history was not verified.');
  await expect(alert).toContainText('says nothing about the history');
  await expect(page.getByRole('main')).not.toContainText(/is valid|breaks/);
});

test('the CSV of entries applies the filters, and the whole history can be exported too', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  const { decision_id } = await workspace.spend();
  await workspace.spend({ amount_minor: 1_230 });
  await page.goto(`/console/ledger?subject=${decision_id}`);
  const entries = page.getByRole('region', { name: 'Entries' }).first();
  await expect(entries.getByRole('row')).toHaveCount(2);
  const save = async (name: string) => {
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name }).click();
    return (await readFile(await (await saved).path(), 'utf8')).trim().split(/\r?\n/);
  };
  const [head, ...lines] = await save('Export CSV');
  expect(head).toContain('seq,id,type');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(decision_id);
  // Only a complete history can be verified.
  const history = await save('Export whole history');
  const { head: end } = await workspace.call('GET', '/v1/ledger/verify');
  expect(history.length).toBeGreaterThan(end.seq);
});

test('every checkpoint is listed with its signed note', async ({ page, workspace }) => {
  await page.goto('/console/ledger');
  // An export signs where the history ends.
  const sign = async () => expect((await page.request.get('/v1/ledger/export')).ok()).toBe(true);
  await workspace.agent();
  await sign();
  await workspace.spend();
  await sign();
  const { data } = await workspace.call('GET', '/v1/ledger/checkpoints');
  expect(data.length).toBeGreaterThan(1);
  await page.reload();
  await expect(page.getByRole('region', { name: 'the newest checkpoint' })).toHaveText(
    data[0].note.trimEnd(),
  );
  const earlier = page.getByRole('list', { name: 'Earlier checkpoints' });
  await earlier.getByText(`${data[1].seq} entries, signed`).click();
  await expect(earlier.getByRole('region', { name: `the checkpoint of ${data[1].seq} entries` })).toHaveText(
    data[1].note.trimEnd(),
  );
  await expectAccessible(page, 'the ledger with checkpoints');
  await expectNoSidewaysScroll(page, 'the ledger with checkpoints');
});
