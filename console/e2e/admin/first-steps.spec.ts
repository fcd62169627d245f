import { expectAccessible } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

test('guided first run: from an empty workspace to a first decision and a first review', {
  tag: '@smoke',
}, async ({ page, workspace }) => {
  await page.goto('/console/');
  const steps = page.getByRole('region', { name: 'First steps' });
  await steps.getByRole('link', { name: 'Create an agent' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Slug').fill('office-helper');
  await dialog.getByRole('button', { name: 'Create agent' }).click();
  const key = /sk_\w+/.exec((await dialog.locator('pre').first().textContent()) ?? '')?.[0] as string;
  await dialog.getByRole('link', { name: 'Set policy' }).click();
  await page.getByLabel('Objective').fill('Keep the staging servers of our shop running');
  await page.getByLabel('Per-transaction limit').fill('200');
  await page.getByRole('button', { name: 'Save as version 1' }).click();
  await page.getByRole('link', { name: 'Next: send a first request' }).click();

  /** Sends the example request on the screen. */
  const paste = async () => {
    const example = page.getByRole('region', { name: 'a payment request' });
    const body = /-d '(.*)'$/s.exec((await example.locator('code').textContent()) ?? '')?.[1] as string;
    await workspace.call('POST', '/v1/decisions', JSON.parse(body), {
      'x-api-key': key,
      'idempotency-key': crypto.randomUUID(),
    });
  };
  await expect(page.getByText('No decisions yet')).toBeVisible();
  await paste();
  await expect(page.getByRole('link', { name: 'Hetzner Online' })).toBeVisible();

  await page.getByRole('link', { name: 'Inbox' }).click();
  await expect(page.getByRole('heading', { name: 'Try it out' })).toBeVisible();
  await expectAccessible(page, 'an inbox in which nothing ever was');
  await paste();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText('Add a label?')).toBeVisible();
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(steps).toContainText('4 of 7 done');
});
