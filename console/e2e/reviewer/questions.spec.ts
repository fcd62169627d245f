import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY, type Workspace } from '../support/workspace.ts';

const RESEARCH = { merchant: 'JSTOR', amount_minor: 3_440, description: 'Paper about load balancing' };
const CLAUSE = 'Bills above 20 euros are shown to Ruth first';
const WITH_CLAUSE = { ...AUTHORITY, purpose: { ...AUTHORITY.purpose, constraints: [CLAUSE] } };

const questionsOf = async ({ call }: Workspace, filters = '') =>
  (await call('GET', `/v1/agents/infra-bot/questions${filters}`)).data as {
    kind: string;
    question_id: string;
    answered: { answer: string } | null;
  }[];

test('requests that ask the same are allowed together, and the next one is not asked', {
  tag: '@smoke',
}, async ({ page, workspace }) => {
  await workspace.agent({ mode: 'ENFORCE' });
  for (let i = 0; i < 3; i++) await workspace.spend(RESEARCH);
  await workspace.spend({ amount_minor: 30_000 });
  await page.goto('/console/reviews');
  const group = page.getByRole('region', { name: 'Questions that several requests ask' });
  await group.getByRole('link', { name: /3 requests ask the same/ }).click();
  await expect(page.getByRole('checkbox', { name: 'Select JSTOR' })).toHaveCount(3);
  await expect(page.getByRole('checkbox', { name: /^Select/ })).toHaveCount(3);
  const head = page.getByRole('region', { name: 'One question' });
  await expect(head).toContainText('JSTOR');
  await expectAccessible(page, 'the requests of one question');
  await expectNoSidewaysScroll(page, 'the requests of one question');
  await head.getByRole('button', { name: 'Allow all 3' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Answers yes to 1 question.');
  await expect(dialog).toContainText('for amounts up to EUR 103.20');
  await dialog.getByLabel('Reason').selectOption('WITHIN_PURPOSE');
  await expectAccessible(page, 'the review of one question');
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await expect(dialog.getByRole('status')).toContainText('3 of 3 recorded.');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('link', { name: '← All pending requests' }).click();
  await expect(page.getByRole('checkbox', { name: /^Select/ })).toHaveCount(1);
  await expect(group).toHaveCount(0);
  expect((await workspace.spend(RESEARCH)).decision).toBe('ALLOW');
});

test('a denial of a group is about its question alone', async ({ page, workspace }) => {
  await workspace.agent({ mode: 'ENFORCE', authority: WITH_CLAUSE });
  for (let i = 0; i < 2; i++) await workspace.spend(RESEARCH);
  const merchant = (await questionsOf(workspace, '?kind=new_merchant'))[0];
  await page.goto(`/console/reviews?question=${merchant?.question_id}`);
  await page.getByRole('button', { name: 'Deny all 2' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Answers no to 1 question.');
  await dialog.getByLabel('Reason').selectOption('MERCHANT_NOT_TRUSTED');
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await expect(dialog.getByRole('status')).toContainText('2 of 2 recorded.');
  const answered = await questionsOf(workspace, '?state=answered');
  expect(answered.map(({ kind, answered }) => [kind, answered?.answer])).toEqual([['new_merchant', 'NO']]);
});

test('a reviewer chooses the questions that a denial is about', async ({ page, workspace }) => {
  await workspace.agent({ authority: WITH_CLAUSE });
  const { decision_id } = await workspace.spend(RESEARCH);
  await page.goto(`/console/reviews?id=${decision_id}`);
  const card = page.getByRole('region', { name: 'Questions', exact: true });
  await expect(card.getByRole('term')).toHaveCount(2);
  await expect(card).toContainText(CLAUSE);
  await expect(card).toContainText('Asked for the first time.');
  await page.getByRole('button', { name: 'Deny', exact: true }).click();
  const choice = page.getByRole('group', { name: 'This denial is about' });
  const merchant = choice.getByRole('checkbox', { name: /JSTOR/ });
  const clause = choice.getByRole('checkbox', { name: new RegExp(CLAUSE) });
  await expect(merchant).not.toBeChecked();
  await expect(clause).toBeChecked();
  await expectAccessible(page, 'a denial with its questions');
  await clause.uncheck();
  await expect(page.getByText('This denial answers no question.')).toBeVisible();
  await merchant.check();
  await page.getByLabel('Reason').selectOption('MERCHANT_NOT_TRUSTED');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText('You’re all caught up')).toBeVisible();
  const answered = async () =>
    (await questionsOf(workspace, '?state=answered')).map(({ kind, answered }) => [kind, answered?.answer]);
  await expect.poll(answered).toEqual([['new_merchant', 'NO']]);
  await page.goto(`/console/decisions/${decision_id}`);
  const rejected = page
    .getByRole('region', { name: 'Questions', exact: true })
    .getByRole('definition')
    .filter({
      hasText: 'Answered by the review or label of this request.',
    });
  await expect(rejected).toHaveCount(1);
  await expect(rejected).toContainText('JSTOR');
});
