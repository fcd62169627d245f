import { formatMoney } from '../../src/lib/money.ts';
import { reasonWords, words } from '../../src/lib/words.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

test('the whole simulation beside the editor equals what the API answers', async ({ page, workspace }) => {
  await workspace.agent();
  for (const amount_minor of [5_000, 10_000, 20_001, 30_000, 60_000]) await workspace.spend({ amount_minor });
  await workspace.spend({ amount_minor: 700, currency: 'JPY' });
  const { decision_id } = await workspace.spend({ amount_minor: 15_000 });
  await workspace.call('POST', `/v1/decisions/${decision_id}/labels`, { label: 'PURPOSE_ALIGNED' });
  await page.goto('/console/agents/infra-bot/authority');
  await page.getByLabel('Per-transaction limit').fill('120');
  const draft = { ...AUTHORITY, per_transaction_limit_minor: 12_000 };
  const answer = await workspace.call('POST', '/v1/agents/infra-bot/authority/simulate?limit=500', draft);
  expect(answer.draft.deny, 'the draft stops something').toBeGreaterThan(answer.current.deny);
  const shown = page.getByRole('region', { name: 'Simulation on past requests' });
  const eur = (amount_minor: number) => formatMoney(amount_minor, 'EUR');
  const saidOf = (after: unknown, before: unknown) =>
    after === before ? `${after}` : `${after} was ${before}`;
  const kinds = ['allow', 'review', 'deny'] as const;
  await expect(shown.getByRole('definition')).toHaveText([
    ...kinds.map((kind) => saidOf(answer.draft[kind], answer.current[kind])),
    saidOf(eur(answer.draft.authorized_minor), eur(answer.current.authorized_minor)),
  ]);
  const labelled = (label: string, side: 'from' | 'to') =>
    answer.by_label
      .filter((each: Record<string, string>) => each.label === label && each[side] === 'ALLOW')
      .reduce((sum: number, each: { count: number }) => sum + each.count, 0);
  expect(labelled('PURPOSE_ALIGNED', 'from'), 'a wrong stop is there to be counted').toBe(1);
  for (const [sentence, count] of [
    ['labelled as fitting, but would be stopped', labelled('PURPOSE_ALIGNED', 'from')],
    ['labelled as against the purpose, but would pass', labelled('PURPOSE_MISALIGNED', 'to')],
  ] as const) {
    await expect(shown.getByText(sentence).locator('..')).toHaveText(`${count}${sentence}`);
  }
  const left_out = answer.skipped.reduce((sum: number, each: { count: number }) => sum + each.count, 0);
  expect(left_out, 'a spend in another currency is left out').toBe(1);
  const matrix = shown.getByRole('table', { name: `${answer.evaluated} decisions` });
  await expect(matrix.getByRole('caption')).toHaveText(
    `${answer.evaluated} decisions (${left_out} in other currencies left out): before (rows) → after (columns)`,
  );
  const moves = answer.transitions.filter((each: Record<string, string>) => each.from !== each.to);
  const cells = kinds.flatMap((from) =>
    kinds.map((to) => {
      const name = (kind: string) => kind.toUpperCase();
      const of = moves.filter((each: Record<string, string>) => each.from === name(from));
      if (from !== to) return of.find((each: Record<string, string>) => each.to === name(to))?.count ?? 0;
      return of.reduce((left: number, each: { count: number }) => left - each.count, answer.current[from]);
    }),
  );
  await expect(matrix.getByRole('cell')).toHaveText(cells.map(String));
  for (const { from, to, amount_minor } of moves)
    await expect(shown).toContainText(`${words(from)} → ${words(to)}: ${eur(amount_minor)}`);
  const rows = shown
    .getByRole('region', { name: 'Decisions that would change' })
    .getByRole('row')
    .filter({ has: page.getByRole('cell') });
  await expect(rows).toHaveCount(answer.changed.length);
  for (const [i, each] of answer.changed.entries()) {
    const row = rows.nth(i);
    await expect(row.getByRole('link')).toHaveAttribute('href', `/console/decisions/${each.decision_id}`);
    await expect(row.getByRole('link')).toHaveText(each.merchant);
    await expect(row.getByRole('time')).toHaveAttribute('datetime', each.created_at);
    await expect(row).toContainText(eur(each.amount_minor));
    const was = reasonWords(each.current.reason_code);
    const would_be = reasonWords(each.draft.reason_code);
    await expect(row, 'the reasons are read without a tooltip').toContainText(
      was === would_be ? would_be : `${was} → ${would_be}`,
    );
    const label = each.label === null ? '' : words(each.label);
    await expect(row.getByRole('cell').last()).toHaveText(
      `${words(each.current.decision)} → ${words(each.draft.decision)}${label}`,
    );
  }

  await shown.getByText('All days').click();
  await shown.getByLabel('To (inclusive)').fill('2020-01-01');
  await expect(shown.getByText('This agent has no past requests')).toBeVisible();
});

test('unsaved input is restored after a reload until it is saved or discarded', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await page.goto('/console/agents/infra-bot/authority');
  const kept = page.getByText('Your unsaved changes were restored.');
  const warned: string[] = [];
  page.on('dialog', (dialog) => {
    warned.push(dialog.type());
    void dialog.accept();
  });
  await page.getByLabel('Objective').fill('Half a thought');
  await page.getByLabel('Note').fill('because');
  await page.reload();
  await expect(kept).toBeVisible();
  await expect(page.getByLabel('Objective')).toHaveValue('Half a thought');
  expect(warned, 'the browser warns of what a closed tab would lose').toEqual(['beforeunload']);
  await page.getByRole('link', { name: '← Infrastructure bot' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Infrastructure bot' })).toBeVisible();
  await page.goBack();
  await expect(page.getByLabel('Note')).toHaveValue('because');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await expect(page.getByLabel('Objective')).toHaveValue(AUTHORITY.purpose.objective);
  await page.reload();
  await expect(page.getByLabel('Objective')).toHaveValue(AUTHORITY.purpose.objective);
  await expect(kept).toBeHidden();

  await page.getByRole('button', { name: 'JSON' }).click();
  await page.getByLabel('Policy as JSON').fill('{ "purpose": ');
  await page.reload();
  await expect(page.getByLabel('Policy as JSON')).toHaveValue('{ "purpose": ');
  const second = { ...AUTHORITY, purpose: { objective: 'Another purpose altogether' } };
  await page.getByLabel('Policy as JSON').fill(JSON.stringify(second));
  await page.getByRole('button', { name: /^Save as version 2/ }).click();
  await expect(page.getByText('Saved as version 2.')).toBeVisible();
  await page.reload();
  await expect(kept).toBeHidden();
});

test('the interpretation beside the editor follows the text and lists what it does not understand', async ({
  page,
  workspace,
}) => {
  await workspace.agent();
  await page.goto('/console/agents/infra-bot/authority');
  const shown = page.getByRole('region', { name: 'How Purser reads it' });
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

test('a new user creates an agent and sets its policy', async ({ page, workspace }) => {
  await page.goto('/console/agents');
  await page.getByRole('button', { name: 'New agent' }).click();
  await page.getByLabel('Slug').fill('first-bot');
  await page.getByRole('button', { name: 'Create agent' }).click();
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
