import type { Page } from '@playwright/test';
import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import type { Workspace } from '../support/workspace.ts';

/** Sends the command on the screen as a terminal would: its key, its name of the purchase, its body. */
async function paste(page: Page, { base_url }: Workspace): Promise<void> {
  const example = page.getByRole('region', { name: 'a payment request' });
  const text = (await example.locator('code').textContent()) ?? '';
  const header = (name: string) => new RegExp(`'${name}: ([^']+)'`).exec(text)?.[1] as string;
  const answer = await fetch(`${base_url}/v1/decisions`, {
    method: 'POST',
    headers: {
      'content-type': header('content-type'),
      'idempotency-key': header('idempotency-key'),
      'x-api-key': header('x-api-key'),
    },
    body: /-d '(.*)'$/s.exec(text)?.[1] as string,
  });
  expect(answer.status).toBe(201);
}

test('guided first run: one page from an empty workspace to a first decision, then a first review', {
  tag: '@smoke',
}, async ({ page, workspace }) => {
  await page.goto('/console/');
  const steps = page.getByRole('region', { name: 'First steps' });
  await expect(page.getByRole('button', { name: 'Stop all agents' })).toHaveCount(0);
  await steps.getByRole('link', { name: 'Create an agent' }).click();
  await page.getByLabel('Name').fill('Research bot');
  await expect(page.getByLabel('Slug')).toHaveValue('research-bot');
  await page.getByRole('button', { name: 'Research', exact: true }).click();
  await page
    .getByRole('list', { name: 'Sample requests' })
    .getByRole('button', { name: /Statista/ })
    .click();
  const answer = page.getByRole('status', { name: 'Answer' });
  await expect(answer).toContainText('over the review threshold of EUR 150.00');
  await page.getByLabel('Review threshold').fill('1,000');
  await expect(answer, 'the answer follows the draft').toContainText('is within the policy');
  await page.getByLabel('Review threshold').fill('150');
  await expectAccessible(page, 'the guided page');
  await expectNoSidewaysScroll(page, 'the guided page');
  expect((await workspace.call('GET', '/v1/decisions')).data, 'a try saves nothing').toEqual([]);
  await page.getByRole('button', { name: 'Create agent' }).click();

  const heard = page.getByRole('status', { name: 'Requests of this agent' });
  await expect(heard).toContainText('Listening for the first request…');
  await expectAccessible(page, 'the key and its snippets');
  await paste(page, workspace);
  await expect(heard.getByRole('link', { name: 'JSTOR' })).toBeVisible();
  await page.getByLabel('Request to send').selectOption({ index: 1 });
  await paste(page, workspace);
  await heard.getByRole('link', { name: 'Review it' }).click();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByLabel('Reason').selectOption('WITHIN_PURPOSE');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText('Add a label?')).toBeVisible();
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(steps).toContainText('4 of 7 done');
});

test('a request is tried with typed amounts in major units, and a wrong one is refused beside its field', async ({
  page,
}) => {
  await page.goto('/console/new-agent');
  await page.getByLabel('Objective').fill('Keep the staging servers running: hosting at Hetzner Online.');
  await page.getByLabel('Per-transaction limit').fill('100');
  await page.getByLabel('Merchant').last().fill('Hetzner Online');
  await page.getByLabel('Amount').fill('12.345');
  await page.getByRole('button', { name: 'Try request' }).click();
  await expect(page.getByRole('alert')).toContainText('at most 2 digits');
  await page.getByLabel('Amount').fill('1,234.50');
  await page.getByRole('button', { name: 'Try request' }).click();
  const answer = page.getByRole('status', { name: 'Answer' });
  await expect(answer).toContainText('EUR 1,234.50');
  await expect(answer).toContainText('over the per-transaction limit of EUR 100.00');
});

test('every snippet holds the address and the key, and an agent without an objective has none to send', async ({
  page,
  workspace,
}) => {
  await page.goto('/console/new-agent');
  await page.getByLabel('Name').fill('Cloud bot');
  await page.getByRole('button', { name: 'Cloud and hosting' }).click();
  await page.getByRole('button', { name: 'Create agent' }).click();
  const secret = /sk_\w+/.exec((await page.locator('pre').first().textContent()) ?? '')?.[0] as string;
  const code = page.getByRole('region', { name: 'a payment request' });
  for (const name of ['curl', 'TypeScript', 'Python', 'MCP', 'Claude hook']) {
    await page.getByRole('button', { name, exact: true }).click();
    await expect(code).toContainText(secret);
    await expect(code).toContainText(new URL(page.url()).origin);
  }
  await page.goto('/console/new-agent');
  await page.getByLabel('Slug').fill('bare-bot');
  await page.getByRole('button', { name: 'Create agent' }).click();
  await expect(page.getByText('Without a policy every request is denied.')).toBeVisible();
  await expect(code).toHaveCount(0);
  expect((await workspace.call('GET', '/v1/agents/bare-bot')).authority_version).toBeNull();
});

test('a refused agent keeps everything typed and names the field', async ({ page, workspace, expected }) => {
  await workspace.agent({ slug: 'cloud-bot' });
  expected.answer(409, /^\/v1\/agents$/);
  await page.goto('/console/new-agent');
  await page.getByLabel('Name').fill('Cloud bot');
  await page.getByRole('button', { name: 'Cloud and hosting' }).click();
  await page.getByRole('button', { name: 'Create agent' }).click();
  await expect(page.getByRole('alert')).toContainText('already exists');
  await expect(page.getByLabel('Objective')).toHaveValue(/^Keep our cloud running/);
});

test('an empty inbox shows how to send a request that needs review', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/reviews');
  await expect(page.getByRole('heading', { name: 'Try it out' })).toBeVisible();
  await expectAccessible(page, 'an inbox in which nothing ever was');
  await expect(page.getByRole('region', { name: 'a payment request' })).toContainText('"agent":"infra-bot"');
});
