import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

interface Transition {
  from: string;
  to: string;
  count: number;
}

test('the simulation beside the editor equals what the API answers', async ({ page, workspace }) => {
  await workspace.agent();
  for (const amount_minor of [5_000, 10_000, 20_001, 30_000, 60_000]) await workspace.spend({ amount_minor });
  const { decision_id } = await workspace.spend({ amount_minor: 15_000 });
  await workspace.call('POST', `/v1/decisions/${decision_id}/labels`, { label: 'PURPOSE_ALIGNED' });
  await page.goto('/console/agents/infra-bot/authority');
  await page.getByLabel('Per-transaction limit').fill('120');
  const draft = { ...AUTHORITY, per_transaction_limit_minor: 12_000 };
  const answer = await workspace.call('POST', '/v1/agents/infra-bot/authority/simulate?limit=500', draft);
  const shown = page.getByRole('region', { name: 'What would have happened' });
  for (const [name, count] of [
    ['Allow', answer.draft.allow],
    ['Review', answer.draft.review],
    ['Deny', answer.draft.deny],
  ] as const) {
    await expect(shown.getByRole('definition').nth(['Allow', 'Review', 'Deny'].indexOf(name))).toContainText(
      new RegExp(`^${count}\\b`),
    );
  }
  expect(answer.draft.deny, 'the draft stops something').toBeGreaterThan(0);
  await expect(shown.getByText('labelled as fitting, and would now be stopped').locator('..')).toContainText(
    '1',
  );
  const money = (amount_minor: number) => `EUR ${(amount_minor / 100).toFixed(2)}`;
  await expect(shown.getByRole('definition').nth(3)).toContainText(money(answer.draft.authorized_minor));
  const kinds = ['ALLOW', 'REVIEW', 'DENY'];
  const count = (from: string, to: string): number =>
    answer.transitions.find((each: Transition) => each.from === from && each.to === to)?.count ?? 0;
  const matrix = kinds.map((from) =>
    kinds.map((to) => {
      const left = kinds.filter((each) => each !== from).reduce((sum, each) => sum + count(from, each), 0);
      return String(from === to ? answer.current[from.toLowerCase()] - left : count(from, to));
    }),
  );
  const rows = shown.getByRole('table', { name: /^Of \d+ decisions/ }).locator('tbody tr');
  for (const [i, row] of matrix.entries()) {
    await expect(rows.nth(i).getByRole('cell'), kinds[i] as string).toHaveText(row);
  }
  const changed = shown
    .getByRole('region', { name: 'Decisions that would have been others' })
    .locator('tbody tr');
  await expect(changed).toHaveCount(answer.changed.length);
  for (const [i, each] of answer.changed.entries()) {
    await expect(changed.nth(i)).toContainText(money(each.amount_minor));
    await expect(changed.nth(i)).toContainText('Over the transaction limit');
  }

  await shown.getByText('Of all days').click();
  await shown.getByLabel('To, included').fill('2020-01-01');
  await expect(shown.getByText('The agent has asked for nothing yet')).toBeVisible();
});

test('what was typed is there again after a reload, until it is saved or discarded', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await page.goto('/console/agents/infra-bot/authority');
  const kept = page.getByText('What you had not saved is here again.');
  await page.getByLabel('Objective').fill('Half a thought');
  await page.getByLabel('Note').fill('because');
  await page.reload();
  await expect(kept).toBeVisible();
  await expect(page.getByLabel('Objective')).toHaveValue('Half a thought');
  await page.getByRole('link', { name: 'Decisions' }).first().click();
  await page.goBack();
  await expect(page.getByLabel('Note')).toHaveValue('because');
  await page.getByRole('button', { name: 'Discard it' }).click();
  await expect(page.getByLabel('Objective')).toHaveValue(AUTHORITY.purpose.objective);
  await page.reload();
  await expect(page.getByLabel('Objective')).toHaveValue(AUTHORITY.purpose.objective);
  await expect(kept).toBeHidden();

  await page.getByRole('button', { name: 'JSON' }).click();
  await page.getByLabel('Authority as JSON').fill('{ "purpose": ');
  await page.reload();
  await expect(page.getByLabel('Authority as JSON')).toHaveValue('{ "purpose": ');
  const second = { ...AUTHORITY, purpose: { objective: 'Another purpose altogether' } };
  await page.getByLabel('Authority as JSON').fill(JSON.stringify(second));
  await page.getByRole('button', { name: /^Save as version 2/ }).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await page.reload();
  await expect(kept).toBeHidden();
});

test('the reading beside the editor follows the words, and says what it did not understand', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await page.goto('/console/agents/infra-bot/authority');
  const shown = page.getByRole('region', { name: 'How it is read' });
  await page.getByLabel('Objective').fill('Keep the staging platform running: servers and storage.');
  await page.getByLabel('Constraints').fill('No gift cards.\nBe nice to the neighbours');
  await expect(shown.getByRole('definition').filter({ hasText: 'gift cards' })).toBeVisible();
  await expect(shown.getByText('Be nice to the neighbours')).toBeVisible();
  await expect(shown.getByRole('row')).toHaveCount(11);
  await page.getByLabel('Constraints').fill('No gift cards.');
  await expect(shown.getByText('Be nice to the neighbours')).toBeHidden();
  const { version } = await workspace.call('GET', '/v1/agents/infra-bot/authority');
  expect(version, 'nothing is saved').toBe(1);
});

test('two people who edit an authority at once do not overwrite each other', async ({
  page,
  workspace,
  expected,
}) => {
  await workspace.agent();
  await page.goto('/console/agents/infra-bot/authority');
  await page.getByLabel('Objective').fill('What the first person wants');
  await workspace.call('POST', '/v1/agents/infra-bot/authority', {
    ...AUTHORITY,
    purpose: { objective: 'What the second person wanted meanwhile' },
  });
  expected.answer(409, /\/authority$/);
  await page.getByRole('button', { name: /^Save as version/ }).click();
  await expect(page.getByLabel('Objective'), 'nothing typed is lost').toHaveValue(
    'What the first person wants',
  );
  const now = await workspace.call('GET', '/v1/agents/infra-bot/authority');
  expect(now.authority.purpose.objective).toBe('What the second person wanted meanwhile');
});

test('somebody new makes an agent and gives it an authority', async ({ page, workspace }) => {
  await page.goto('/console/agents');
  await page.getByRole('button', { name: 'New agent' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Slug').fill('first-bot');
  await dialog.getByRole('button', { name: 'Create agent' }).click();
  await expect.poll(async () => (await workspace.call('GET', '/v1/agents')).data.length).toBe(1);
  await page.goto('/console/agents/first-bot/authority');
  await page.getByLabel('Objective').fill('Keep the staging servers running');
  await page.getByLabel('Currency').fill('EUR');
  await page.getByLabel('Per-transaction limit').fill('200');
  await page.getByLabel('Monthly budget').fill('1500');
  await page.getByRole('button', { name: 'Save as version 1' }).click();
  await expect
    .poll(async () => (await workspace.call('GET', '/v1/agents/first-bot')).authority_version)
    .toBe(1);
  const { authority } = await workspace.call('GET', '/v1/agents/first-bot/authority');
  expect(authority).toMatchObject({ per_transaction_limit_minor: 20_000, monthly_budget_minor: 150_000 });
});
