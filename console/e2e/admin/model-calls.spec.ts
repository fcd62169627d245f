import { expectAccessible, expectNoSidewaysScroll } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY, type Workspace } from '../support/workspace.ts';

const LINE = {
  model: 'gpt-5-mini',
  calls: 1_204,
  uncertain_calls: 2,
  input_tokens: 1_900_450,
  cached_input_tokens: 12_000,
  cache_write_tokens: 0,
  output_tokens: 84_210,
  amount: '0.64383250000',
  price: {
    per_million: { input: '0.25', cached_input: '0.025', output: '2' },
    source: 'https://openai.com/api/pricing',
    as_of: '2026-11-20',
  },
};
const { price: _, ...UNPRICED } = {
  ...LINE,
  model: 'gpt-oss-experimental-with-a-long-name',
  calls: 1,
  uncertain_calls: 0,
  amount: '0',
};

/** A lease that its gateway reported, with this usage. */
async function lease({ call, agent }: Workspace, usage?: object[]): Promise<string> {
  await agent({ authority: { ...AUTHORITY, model_usage: {} }, mode: 'ENFORCE' });
  const action = {
    type: 'model_usage',
    merchant: 'OpenAI',
    payee_id: 'model:openai',
    amount_minor: 200,
    currency: AUTHORITY.currency,
    description: 'Model calls',
  };
  const { key } = await call('POST', '/v1/api-keys', { name: 'Gateway', scopes: ['consume'] });
  const made = await call(
    'POST',
    '/v1/decisions',
    { agent: 'infra-bot', action },
    { 'idempotency-key': 'gw_1-1' },
  );
  if (usage !== undefined)
    await call(
      'POST',
      `/v1/decisions/${made.decision_id}/outcomes`,
      {
        type: 'SPEND_EXECUTED',
        amount_minor: 65,
        source: 'PAYMENT_RAIL',
        external_reference: 'gw_1-1',
        usage,
      },
      { 'x-api-key': key },
    );
  return made.decision_id;
}

test('a lease shows the calls that its money was spent on, by model, with the source of each price', async ({
  page,
  workspace,
}) => {
  const id = await lease(workspace, [LINE, UNPRICED]);
  await page.goto(`/console/decisions/${id}`);
  const table = page.getByRole('region', { name: 'Model usage' }).getByRole('table');
  await expect(table.getByRole('columnheader')).toHaveText([
    'Model',
    'Calls',
    'Input',
    'Output',
    'Cost',
    'Price source',
  ]);
  const row = table.getByRole('row').filter({ hasText: 'gpt-5-mini' });
  for (const text of ['1,204', '2 uncertain', '1,900,450', '12,000 cached', '84,210', '0.64383250000'])
    await expect(row).toContainText(text);
  await expect(row.getByRole('link', { name: 'openai.com' })).toHaveAttribute('href', LINE.price.source);
  await expect(table.getByRole('row').filter({ hasText: 'experimental' })).toContainText('No known price');
  await expectAccessible(page, 'the page of a lease');
  await expectNoSidewaysScroll(page, 'the page of a lease');
});

test('a lease without a report says that its usage is not known, and any other spend has no such part', async ({
  page,
  workspace,
}) => {
  const id = await lease(workspace);
  await page.goto(`/console/decisions/${id}`);
  await expect(page.getByRole('region', { name: 'Model usage' })).toContainText('No usage reported');
  const { decision_id } = await workspace.spend({});
  await page.goto(`/console/decisions/${decision_id}`);
  await expect(page.getByRole('region', { name: 'Outcome' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Model usage' })).toHaveCount(0);
});

test('the policy editor allows model calls, and a problem with a model is shown at its field', async ({
  page,
  workspace,
  expected,
}) => {
  expected.answer(400, /\/authority(\/simulate|\/reading)?$/);
  await workspace.agent();
  await page.goto('/console/agents/infra-bot/authority');
  await expect(page.getByLabel('When the budget is low')).toHaveCount(0);
  await page.getByLabel('Allow model calls').selectOption('Yes');
  await page.getByRole('textbox', { name: 'Models' }).fill('gpt-5-mini\ngpt-*-mini');
  await page.getByLabel('When the budget is low').selectOption('REFUSE');
  await page.getByLabel('Unknown price').selectOption('HIGHEST_PRICE');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'only at its end' }).first()).toBeVisible();
  await page.getByRole('textbox', { name: 'Models' }).fill('gpt-5-mini\nclaude-*');
  const plain = page.getByRole('region', { name: 'In plain words' });
  await expect(plain).toContainText('Model calls are allowed: gpt-5-mini and claude-*');
  await expectAccessible(page, 'the editor with model calls');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(page.getByText('Saved as version 2')).toBeVisible();
  const { authority } = await workspace.call('GET', '/v1/agents/infra-bot/authority');
  expect(authority.model_usage).toEqual({
    models: ['gpt-5-mini', 'claude-*'],
    on_low_budget: 'REFUSE',
    on_unknown_price: 'HIGHEST_PRICE',
  });
});
