import { expectAccessible } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

test('a reading is corrected beside the editor by the keyboard alone, followed at once, and saved with the policy', async ({
  page,
  workspace,
}) => {
  const purpose = {
    objective: 'Order printer paper and servers from Nordwerk',
    constraints: ['Domains only after approval'],
  };
  await workspace.call('POST', '/v1/agents', { slug: 'reader', authority: { ...AUTHORITY, purpose } });
  await page.goto('/console/agents/reader/authority');
  const card = page.getByRole('region', { name: 'How Purser reads it' });

  const not_this = card.getByRole('button', { name: 'Not this: Domains only after approval, condition' });
  await not_this.focus();
  await page.keyboard.press('Enter');
  await expect(card.getByRole('status')).toHaveText(/“Domains only after approval” no longer counts/);
  await expect(card.getByRole('status')).toBeFocused();
  await expect(not_this).toHaveCount(0);

  await card.getByLabel('Also').selectOption('merchant');
  await card.getByLabel('Words').fill('Okabe Trading');
  await page.keyboard.press('Enter');
  await expect(card.getByRole('button', { name: 'Remove: Okabe Trading, merchant' })).toBeVisible();
  await card.getByRole('button', { name: 'Not this: servers, cloud and hosting' }).click();
  await expect(card.getByRole('button', { name: 'Undo: servers, cloud and hosting' })).toBeVisible();
  await card.getByRole('button', { name: 'Undo: servers, cloud and hosting' }).click();
  await expect(card.getByRole('button', { name: 'Not this: servers, cloud and hosting' })).toBeVisible();
  await expectAccessible(page, 'the corrected reading');

  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(page.getByText('Saved as version 2')).toBeVisible();
  const { authority } = await workspace.call('GET', '/v1/agents/reader/authority');
  expect(authority.purpose.reading).toEqual({
    not: [{ kind: 'condition', words: 'Domains only after approval' }],
    also: [{ kind: 'merchant', words: 'Okabe Trading' }],
  });
});
