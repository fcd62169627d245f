import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';

const RESEARCH = { merchant: 'JSTOR', amount_minor: 3_440, description: 'Paper about load balancing' };

test('a question is answered, changed and forgotten, and each takes effect on the next request', async ({
  page,
  workspace,
  me,
}) => {
  await workspace.agent();
  await workspace.spend(RESEARCH);
  await workspace.spend({ ...RESEARCH, merchant: 'Elsevier' });
  await page.goto('/console/agents/infra-bot');
  await page.getByRole('navigation', { name: 'This agent' }).getByRole('link', { name: 'Answers' }).click();
  const row = page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name: 'JSTOR' }) });
  await expect(row).toContainText('Asked once');
  await expect(row).toContainText('1 pending review');
  await row.getByRole('button', { name: /^Answer yes/ }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('for amounts up to EUR 103.20');
  await expectAccessible(page, 'the dialog of an answer');
  await dialog.getByLabel('Comment').fill('The library pays.');
  await dialog.getByRole('button', { name: 'Answer yes' }).click();
  await expect(row).toContainText(`Yes by ${me.name} (you)`);
  await expect(row).toContainText('The library pays.');
  expect((await workspace.spend(RESEARCH)).decision).toBe('ALLOW');

  await row.getByRole('button', { name: /^Change to no/ }).click();
  await dialog.getByRole('button', { name: 'Answer no' }).click();
  await expect(row.getByText('1 earlier answer')).toBeVisible();
  expect((await workspace.spend(RESEARCH)).reason_code).toBe('PURPOSE_MISALIGNED');

  await row.getByRole('button', { name: /^Forget/ }).click();
  await dialog.getByRole('button', { name: 'Forget' }).click();
  await expect(row.getByRole('button', { name: /^Answer yes/ })).toBeVisible();
  await row.getByText('3 earlier answers').click();
  await expect(row).toContainText(`Forgotten by ${me.name} (you)`);
  expect((await workspace.spend(RESEARCH)).reason_code).toBe('PURPOSE_UNCLEAR');
  await expectAccessible(page, 'answers');
  await expectNoSidewaysScroll(page, 'answers');
});

test('answers are filtered by state, kind and merchant, and an empty page says why', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await page.goto('/console/agents/infra-bot/answers');
  await expect(page.getByRole('heading', { name: 'No questions yet' })).toBeVisible();
  await workspace.spend(RESEARCH);
  await workspace.spend({ ...RESEARCH, merchant: 'Elsevier' });
  const { data } = await workspace.call('GET', '/v1/agents/infra-bot/questions?merchant=elsevier');
  const ada = await workspace.call('POST', '/v1/api-keys', {
    name: 'Ada',
    scopes: ['review'],
    principal_id: 'user:ada',
  });
  const path = `/v1/agents/infra-bot/questions/${data[0].question_id}/answer`;
  await workspace.call('POST', path, { answer: 'NO' }, { 'x-api-key': ada.key });
  const merchant = (name: string) => page.getByRole('main').getByRole('heading', { name });
  await expect(merchant('JSTOR')).toBeVisible();
  await page.getByLabel('State', { exact: true }).selectOption('answered');
  await expect(merchant('JSTOR')).toHaveCount(0);
  await expect(merchant('Elsevier')).toBeVisible();
  await page.getByLabel('State', { exact: true }).selectOption('open');
  await expect(merchant('Elsevier')).toHaveCount(0);
  await expect(merchant('JSTOR')).toBeVisible();
  await page.getByLabel('Merchant', { exact: true }).fill('els');
  await expect(page.getByRole('heading', { name: 'No such questions' })).toBeVisible();
  await page.getByRole('button', { name: 'Clear all' }).click();
  await page.getByLabel('Kind', { exact: true }).selectOption('new_merchant');
  await expect(merchant('Elsevier')).toBeVisible();
});

test('many questions with long names load page by page and fit a phone', async ({ page, workspace }) => {
  await workspace.agent();
  const long = `${'Very long name of a merchant '.repeat(5)}${'x'.repeat(40)}`;
  for (let i = 0; i < 60; i++) {
    await workspace.spend({ ...RESEARCH, merchant: `Journal ${i}`, description: 'y'.repeat(500) });
  }
  await workspace.spend({ ...RESEARCH, merchant: long });
  await page.goto('/console/agents/infra-bot/answers');
  const rows = page.getByRole('main').getByRole('button', { name: /^Answer yes/ });
  await expect(rows).toHaveCount(50);
  await page.getByRole('button', { name: 'Load more' }).click();
  await expect(rows).toHaveCount(61);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page, 'many answers on a phone');
  await expectAccessible(page, 'many answers on a phone');
});

test('a viewer sees answers and why they cannot answer; a reviewer cannot forget', async ({
  workspace,
  openAs,
}) => {
  await workspace.agent();
  await workspace.spend(RESEARCH);
  const viewer = await openAs(await workspace.person('viewer'));
  await viewer.goto('/console/agents/infra-bot/answers');
  await expect(viewer.getByRole('button', { name: /^Answer yes/ })).toBeDisabled();
  await expect(viewer.getByRole('button', { name: /^Answer yes/ })).toHaveAttribute('title', /cannot review/);
  const reviewer = await openAs(await workspace.person('reviewer'));
  await reviewer.goto('/console/agents/infra-bot/answers');
  await reviewer.getByRole('button', { name: /^Answer no/ }).click();
  await reviewer.getByRole('dialog').getByRole('button', { name: 'Answer no' }).click();
  await expect(reviewer.getByRole('button', { name: /^Forget/ })).toBeDisabled();
  await expect(viewer.getByRole('button', { name: /^Change to yes/ })).toBeDisabled();
});

test('the report proposes the questions whose answers would end most of what is asked', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  for (let i = 0; i < 9; i++) await workspace.spend(RESEARCH);
  await workspace.spend({ ...RESEARCH, merchant: 'Elsevier' });
  await page.goto('/console/report');
  const card = page.getByRole('region', { name: 'Questions', exact: true });
  await expect(card).toContainText('2 questions');
  await expect(card).toContainText('asked 9 times');
  await expectAccessible(page, 'the report with questions');
  await expectNoSidewaysScroll(page, 'the report with questions');
  const answer = async (button: RegExp, name: string) => {
    await card.getByRole('button', { name: button }).click();
    await page.getByRole('dialog').getByRole('button', { name }).click();
    await expect(card.getByRole('button', { name: button })).toHaveCount(0);
  };
  await answer(/^Answer yes: .*JSTOR/, 'Answer yes');
  await answer(/^Answer no: .*Elsevier/, 'Answer no');
  await expect(card.getByRole('button')).toHaveCount(0);
  expect((await workspace.spend(RESEARCH)).decision).toBe('ALLOW');
});

test('each level of attention shows what it would have meant on past requests', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await page.goto('/console/agents/infra-bot/authority');
  const levels = page.getByRole('group', { name: 'Attention' });
  await expect(levels.getByText('No past requests to compare.')).toHaveCount(3);
  await workspace.spend({ description: 'Server with zirconium frobnicators' });
  await workspace.spend(RESEARCH);
  await page.reload();
  const level = (name: string) => levels.locator('label').filter({ hasText: new RegExp(`^${name}`) });
  await expect(level('Low')).toContainText('Would have asked about 1 of 2 requests');
  await expect(level('Normal')).toContainText('Would have asked about 1 of 2 requests');
  await expect(level('High')).toContainText('Would have asked about 2 of 2 requests');
  await expectAccessible(page, 'the policy with compared levels');
  await levels.getByRole('radio', { name: /High/ }).check();
  await page.getByLabel('Description of a request').selectOption('true');
  await page.getByLabel('Requests shown to the model').selectOption('UNCLEAR');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  const { authority } = await workspace.call('GET', '/v1/agents/infra-bot/authority');
  expect(authority.purpose).toMatchObject({ attention: 'HIGH', ask_model: 'UNCLEAR' });
  expect(authority.require_description).toBe(true);
});
