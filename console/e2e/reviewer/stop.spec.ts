import { expect, test } from '../support/test.ts';

test('a reviewer can stop all agents and sees who can resume them', async ({ page, workspace }) => {
  await workspace.agent();
  await page.goto('/console/settings');
  await page.getByRole('button', { name: 'Stop all agents' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('You cannot undo this yourself');
  await dialog.getByLabel('Reason').fill('It buys the same thing again and again.');
  await dialog.getByRole('button', { name: 'Stop all agents' }).click();
  const resume = page.getByRole('button', { name: 'Resume all agents' });
  await expect(resume).toBeDisabled();
  await expect(resume).toHaveAttribute('title', 'Only an administrator can do this.');
  expect((await workspace.call('GET', '/v1/workspace')).stopped.reason).toMatch(/again and again/);
});
