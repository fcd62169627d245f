import { expectAccessible } from '../support/axe.ts';
import { expect, test } from '../support/test.ts';
import { AUTHORITY } from '../support/workspace.ts';

test('the report quotes a sentence without a rule and links to the policy', { tag: '@smoke' }, async ({
  page,
  workspace,
}) => {
  const sentence = 'Be nice to the neighbours';
  const purpose = { ...AUTHORITY.purpose, constraints: ['No gift cards', sentence] };
  await workspace.agent({ authority: { ...AUTHORITY, purpose } });
  await workspace.spend();
  await page.goto('/console/report');
  const warnings = page.getByRole('region', { name: 'Warnings' });
  await expect(warnings).toContainText(sentence);
  await expectAccessible(page, 'the report with a warning');
  await warnings.getByRole('link', { name: 'Edit policy' }).click();
  await expect(page.getByLabel('Constraints')).toHaveValue(`No gift cards\n${sentence}`);
});
