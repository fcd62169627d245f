import { createHmac } from 'node:crypto';
import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { test as base, expect } from '../support/test.ts';

const test = base.extend<{ receiver: Receiver }>({
  // biome-ignore lint/correctness/noEmptyPattern: the form that Playwright asks for
  receiver: async ({}, use) => {
    const receiver = await startReceiver();
    await use(receiver);
    await receiver.stop();
  },
});

test('an endpoint is added with its secret shown once, and a test arrives signed with it', async ({
  page,
  receiver,
}) => {
  await page.goto('/console/webhooks');
  await page.getByRole('button', { name: 'Add endpoint' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill(receiver.url);
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  const secret = /whsec_\S+=/.exec(
    (await dialog.getByRole('region', { name: 'the secret', exact: true }).textContent()) ?? '',
  )?.[0] as string;
  await dialog.getByRole('link', { name: 'Open and send a test' }).click();
  await expect(page.getByRole('heading', { level: 1, name: new URL(receiver.url).host })).toBeVisible();
  expect(await page.content()).not.toContain(secret);
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.getByRole('row', { name: /webhook\.test/ })).toContainText('Delivered');
  const [sent] = receiver.received;
  const [, at, given] = /^t=(\d+),v1=(\w+)$/.exec(String(sent?.headers['x-svc-signature'])) ?? [];
  expect(given).toBe(createHmac('sha256', secret).update(`${at}.${sent?.body}`).digest('hex'));
});

test('editing an endpoint’s URL keeps its events', async ({ page, workspace, receiver }) => {
  const { id } = await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
  await page.goto(`/console/webhooks/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill(`${receiver.url}/moved`);
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await dialog.getByRole('button', { name: 'Save' }).click();
  expect((await sent).postDataJSON()).toEqual({ url: `${receiver.url}/moved` });
  await expect(dialog).toHaveCount(0);

  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('A person labels a decision').uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  expect((await workspace.call('GET', `/v1/webhooks/${id}`)).events).toEqual([
    'decision.created',
    'decision.review.recorded',
    'decision.outcome.recorded',
  ]);
});

test('an attempt shows the sent body byte for byte', async ({ page, workspace, receiver }) => {
  await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
  await workspace.agent();
  await workspace.spend();
  await expect.poll(() => receiver.received.length).toBe(1);
  await page.goto('/console/webhooks');
  await page.getByRole('link', { name: 'decision.created' }).click();
  await page.getByRole('button', { name: 'As sent' }).click();
  const shown = await page.getByRole('region', { name: 'the body' }).locator('code').textContent();
  expect(shown).toBe(receiver.received[0]?.body);
});

test('a failure is described in words, and an event can be resent under its ID', async ({
  page,
  workspace,
  receiver,
}) => {
  receiver.status = 500;
  const { id } = await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
  await workspace.agent();
  await workspace.spend();
  await expect.poll(() => receiver.received.length).toBe(1);
  await page.goto(`/console/webhooks/${id}`);
  const failed = page.getByRole('row', { name: /Answered 500/ });
  await expect(failed).toContainText('Retrying');
  receiver.status = 204;
  await failed.getByRole('button', { name: 'Resend' }).click();
  await expect(page.getByRole('row', { name: /Delivered/ })).toBeVisible();
  const ids = receiver.received.map(({ headers }) => headers['x-svc-id']);
  expect(new Set(ids).size, 'one id, so that a receiver takes it once').toBe(1);
});

test('an attempt has a page with the sent headers and body, the response and the next attempt', async ({
  page,
  workspace,
  receiver,
}) => {
  receiver.status = 500;
  const { id, secret } = await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
  await workspace.agent();
  await workspace.spend();
  await workspace.attempts(1);
  await page.goto(`/console/webhooks/${id}`);
  await page
    .getByRole('row', { name: /Answered 500/ })
    .getByRole('link')
    .first()
    .click();
  await expect(page.getByRole('heading', { level: 1, name: 'Attempt 1' })).toBeVisible();
  const main = page.getByRole('main');
  await expect(main).toContainText('Status 500');
  await expect(main).toContainText(receiver.url);
  const shown = page.getByRole('region', { name: 'the headers' });
  const lines = ((await shown.textContent()) ?? '').split('\n');
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    const [name = '', ...value] = line.split(': ');
    expect(receiver.received[0]?.headers[name], name).toBe(value.join(': '));
  }
  expect(lines.join()).toContain('x-svc-signature');
  await page.getByRole('button', { name: 'As sent' }).click();
  await expect(page.getByRole('region', { name: 'the body' }).locator('code')).toHaveText(
    receiver.received[0]?.body as string,
  );
  expect(await page.content()).not.toContain(secret.slice(6, 40));
  await expectAccessible(page, 'an attempt');
  await expectNoSidewaysScroll(page, 'an attempt');
  receiver.status = 204;
  await page.getByRole('button', { name: 'Resend' }).first().click();
  await expect(page.getByRole('row', { name: /Delivered/ })).toBeVisible();
  // The old secret is gone, and the page does not show another secret's signature as the sent one.
  await workspace.call('POST', `/v1/webhooks/${id}/rotate-secret`, {});
  await page.reload();
  await expect(page.getByText('The signatures are no longer available.')).toBeVisible();
  await expect(shown).not.toContainText('signature');
  await workspace.call('DELETE', `/v1/webhooks/${id}`);
  await page.reload();
  await expect(main).toContainText('A deleted endpoint');
  await expectAccessible(page, 'an attempt to an endpoint that is gone');
});

test('an unknown attempt is reported as missing', async ({ page, expected }) => {
  expected.answer(404, /^\/v1\/webhooks\/deliveries\//);
  await page.goto('/console/webhooks/attempts/dlv_01KAJ5F0V8Z3M2Q9X7T4R6N1BD');
  await expect(page.getByRole('alert')).toContainText('No such attempt, or it is no longer stored.');
  await expectAccessible(page, 'no attempt');
});

test('the events of a period can be resent under their original IDs', async ({
  page,
  workspace,
  receiver,
}) => {
  const { id } = await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
  await workspace.agent();
  await workspace.spend();
  await workspace.spend({ merchant: 'Datadog' });
  await expect.poll(() => receiver.received.length).toBe(2);
  await page.goto(`/console/webhooks/${id}`);
  await page.getByRole('button', { name: 'Resend a period' }).click();
  const dialog = page.getByRole('dialog', { name: 'Resend a period' });
  await dialog.getByRole('button', { name: 'Resend' }).click();
  await expect(dialog.getByRole('status')).toContainText('2 events queued.');
  await expect.poll(() => receiver.received.length).toBe(4);
  const ids = receiver.received.map(({ headers }) => headers['x-svc-id']);
  expect(new Set(ids).size).toBe(2);
  // A day without events.
  await dialog.getByLabel('From').fill('2026-01-01');
  await dialog.getByLabel('To').fill('2026-01-01');
  await dialog.getByRole('button', { name: 'Resend' }).click();
  await expect(dialog.getByRole('status')).toContainText('No events in this period.');
});

test('a secret is rotated, and the new one is shown once', async ({ page, workspace, receiver }) => {
  const { id, secret } = await workspace.call('POST', '/v1/webhooks', { url: receiver.url });
  await page.goto(`/console/webhooks/${id}`);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  const region = dialog.getByRole('region', { name: 'the secret', exact: true });
  await expect(region).toContainText('whsec_');
  expect(await region.textContent()).not.toContain(secret);
});

test('a URL that is not public is refused beside its field', async ({ page, expected }) => {
  expected.answer(400, /^\/v1\/webhooks$/);
  await page.goto('/console/webhooks');
  await page.getByRole('button', { name: 'Add endpoint' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('ftp://hooks.example.com/');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await expect(dialog.getByLabel('URL')).toHaveAttribute('aria-invalid', 'true');
  await expect(dialog.getByLabel('URL')).toHaveValue('ftp://hooks.example.com/');
});

test.describe('on a plan without webhooks', () => {
  test.use({ plan: 'free' });
  test('the screen names the required plan and adds nothing', async ({ page }) => {
    await page.goto('/console/webhooks');
    await expect(page.getByRole('note')).toContainText('Webhooks need the Team plan.');
    await expect(page.getByRole('button', { name: 'Add endpoint' })).toBeDisabled();
  });
});
