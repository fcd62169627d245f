import { expect, test } from '../support/test.ts';
import { makeWorkspace, PASSWORD } from '../support/workspace.ts';

test('an invited person reads who invites them to what, and joins with the given role', async ({
  page,
  openAs,
  workspace,
  me,
}) => {
  await page.goto('/console/team');
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  const email = `joined-${Date.now()}-${process.pid}@example.com`;
  await dialog.getByLabel('E-mail').fill(email);
  await dialog.getByLabel('Role').selectOption({ label: 'Viewer' });
  await dialog.getByRole('button', { name: 'Create invite link' }).click();
  const field = dialog.getByLabel('Invitation link');
  await expect(field).toHaveAttribute('readonly');
  const link = await field.inputValue();
  expect(new URL(link).hash.length, 'the token is in the fragment').toBeGreaterThan(20);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('table').filter({ hasText: 'Pending' })).toContainText(email);
  expect(await page.content()).not.toContain(link);

  const theirs = await openAs(null);
  await theirs.goto(link);
  const { name: workspace_name } = await workspace.call('GET', '/v1/workspace');
  await expect(theirs.getByRole('heading', { level: 1 })).toHaveText(`Join ${workspace_name}`);
  const lead = theirs.getByText('invites you to this Purser workspace as a viewer');
  await expect(lead).toContainText(me.name);
  await expect(lead).toContainText(email);
  await theirs.getByLabel('Name').fill('Katherine Johnson');
  await theirs.getByLabel('Password').fill(PASSWORD);
  await theirs.getByRole('button', { name: 'Join' }).click();
  await expect(theirs.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await expect(theirs.getByRole('link', { name: /Katherine Johnson/ })).toContainText('Viewer');
  await expect(page.getByRole('row', { name: /Katherine Johnson/ })).toBeVisible();
});

test('a revoked invitation does not work', async ({ page, workspace, openAs, expected }) => {
  const { url } = await workspace.call('POST', '/v1/invitations', {
    email: 'gone@example.com',
    role: 'viewer',
  });
  await page.goto('/console/team');
  await page
    .getByRole('row', { name: /gone@example\.com/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByRole('row', { name: /gone@example\.com/ })).toHaveCount(0);
  expected.answer(401, /^\/v1\/auth\/invitations\/read$/);
  const theirs = await openAs(null);
  await theirs.goto(url);
  await expect(theirs.getByRole('alert')).toContainText('This invitation doesn’t work.');
  await expect(theirs.getByRole('button', { name: 'Join' }), 'nobody fills in a form in vain').toHaveCount(0);
});

test('an invitation that is revoked while its form is filled in says so', async ({
  workspace,
  openAs,
  expected,
}) => {
  const { id, url } = await workspace.call('POST', '/v1/invitations', {
    email: 'slow@example.com',
    role: 'viewer',
  });
  const theirs = await openAs(null);
  await theirs.goto(url);
  await theirs.getByLabel('Name').fill('Too Late');
  await theirs.getByLabel('Password').fill(PASSWORD);
  await workspace.call('DELETE', `/v1/invitations/${id}`);
  expected.answer(401, /^\/v1\/auth\/invitations\/accept$/);
  await theirs.getByRole('button', { name: 'Join' }).click();
  await expect(theirs.getByRole('alert')).toContainText('used or revoked meanwhile');
});

test('an invited reviewer starts in the inbox, and does so at each sign-in', async ({
  workspace,
  openAs,
}) => {
  const email = `reviewer-${Date.now()}-${process.pid}@example.com`;
  const { url } = await workspace.call('POST', '/v1/invitations', { email, role: 'reviewer' });
  const theirs = await openAs(null);
  await theirs.goto(url);
  await theirs.getByLabel('Name').fill('Joan Clarke');
  await theirs.getByLabel('Password').fill(PASSWORD);
  await theirs.getByRole('button', { name: 'Join' }).click();
  await expect(theirs.getByRole('heading', { level: 1, name: 'Inbox' })).toBeVisible();
  await theirs.goto('/console/me');
  await theirs.getByRole('button', { name: 'Sign out' }).click();
  await theirs.getByLabel('E-mail').fill(email);
  await theirs.getByLabel('Password').fill(PASSWORD);
  await theirs.getByRole('button', { name: 'Sign in' }).click();
  await expect(theirs.getByRole('heading', { level: 1, name: 'Inbox' })).toBeVisible();
});

test('a role change applies from the next click', async ({ page, workspace, openAs, expected }) => {
  const reviewer = await workspace.person('reviewer', { name: 'Ada Lovelace' });
  const theirs = await openAs(reviewer);
  await theirs.goto('/console/decisions');
  await page.goto('/console/team');
  await page.getByLabel('Role of Ada Lovelace').selectOption({ label: 'Viewer' });
  await expect
    .poll(async () => (await workspace.call('GET', '/v1/members')).data)
    .toContainEqual(expect.objectContaining({ user_id: reviewer.user_id, role: 'viewer' }));
  // The session ended with the role.
  expected.answer(401, /^\/v1\//);
  await theirs.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Agents' }).click();
  const dialog = theirs.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password').fill(reviewer.password);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(theirs.getByRole('heading', { level: 1, name: 'Agents' })).toBeVisible();
  await expect(theirs.getByRole('link', { name: /Ada Lovelace/ })).toContainText('Viewer');
});

test("a removed member's next click is refused", async ({ page, workspace, openAs, expected }) => {
  const reviewer = await workspace.person('reviewer', { name: 'Ada Lovelace' });
  const theirs = await openAs(reviewer);
  await theirs.goto('/console/decisions');
  await expect(theirs.getByRole('heading', { level: 1, name: 'Decisions' })).toBeVisible();
  await page.goto('/console/team');
  await page
    .getByRole('row', { name: /Ada Lovelace/ })
    .getByRole('button', { name: 'Remove' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByRole('row', { name: /Ada Lovelace/ })).toHaveCount(0);
  expected.answer(401, /^\/v1\//);
  await theirs.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Agents' }).click();
  const dialog = theirs.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password').fill(reviewer.password);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(dialog.getByRole('alert')).toBeVisible();
});

test('the last administrator cannot give up the role and sees why', async ({ page, expected }) => {
  expected.answer(409, /^\/v1\/members\//);
  await page.goto('/console/team');
  const role = page.getByLabel('Role of Grace Hopper');
  await role.selectOption({ label: 'Viewer' });
  const dialog = page.getByRole('dialog', { name: 'Make yourself a viewer?' });
  await dialog.getByRole('button', { name: 'Change role' }).click();
  await expect(dialog.getByRole('alert')).toContainText('last administrator');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(role).toHaveValue('admin');
});

test('a person in two workspaces can switch, with their role in each', async ({ page, me, workspace }) => {
  const other = await makeWorkspace(workspace.base_url);
  await other.agent({ slug: 'elsewhere', name: 'Bot of the other workspace' });
  await other.join(me, 'viewer');
  await page.goto('/console/agents');
  await page.getByLabel('Workspace').selectOption({ label: other.name });
  await expect(page.getByText(`${other.name}. All agents, last 30 days`)).toBeVisible();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Agents' }).click();
  await expect(page.getByRole('link', { name: 'Bot of the other workspace' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'New agent' })).toBeDisabled();
});
