import { addAuthenticator } from '../support/authenticator.ts';
import { expectAccessible, expectSettled } from '../support/axe.ts';
import { operate } from '../support/service.ts';
import { expect, test } from '../support/test.ts';
import { endSession, sessionCookie } from '../support/workspace.ts';

test('an added passkey signs its person in, and a removed one does not', async ({
  page,
  me,
  expected,
  workspace,
}) => {
  expected.answer(401, /^\/v1\/(me|auth\/passkey\/verify)$/);
  await workspace.agent();
  await addAuthenticator(page);
  await page.goto('/console/me');
  await page.getByLabel('Passkey name').fill('Laptop');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await expect(page.getByRole('row', { name: /^Laptop/ })).toBeVisible();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expectSettled(page, 'Overview');
  await page.goto('/console/me');
  // A person with a passkey can remove their password. The last passkey then stays.
  expected.answer(409, /^\/v1\/me\/passkeys\//);
  await page.getByRole('button', { name: 'Remove password' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove password' }).click();
  await expect(page.getByText('You have no password. You sign in with a passkey')).toBeVisible();
  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  await expect(page.getByRole('alert')).toContainText('only sign-in method');
  const { url } = await operate<{ url: string }>(
    process.env.E2E_DATA_DIR as string,
    ...['user', 'reset-link', '--email', me.email],
  );
  await page.goto(`/console/reset${new URL(url).hash}`);
  await page.getByLabel('Password').fill('a new password after all');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('button', { name: 'Join' }).click();
  await expectSettled(page, 'Overview');
  await page.goto('/console/me');
  // The reset link removed the passkey.
  await expectSettled(page, 'Your account');
  await expect(page.getByRole('row', { name: /^Laptop/ })).toHaveCount(0);

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page.getByRole('alert')).toContainText('start again');
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
});

test('a person with only a passkey renews the session and the proof with it, and input is kept', async ({
  page,
  workspace,
  expected,
}) => {
  expected.answer(401, /^\/v1\//);
  expected.answer(403, /^\/v1\/api-keys$/);
  await addAuthenticator(page);
  await page.goto('/console/me');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await expect(page.getByRole('row', { name: /^Passkey/ })).toBeVisible();
  await page.getByRole('button', { name: 'Remove password' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove password' }).click();
  await expect(page.getByText('You have no password. You sign in with a passkey')).toBeVisible();

  // A proof stays fresh for at least a minute, so this first refusal is faked.
  let refused = 0;
  await page.route('**/v1/api-keys', async (route) => {
    if (route.request().method() !== 'POST' || refused > 0) return route.continue();
    refused += 1;
    const error = {
      code: 'reauthentication_required',
      message: 'Prove your identity again.',
      request_id: 'req_made_here',
    };
    await route.fulfill({ status: 403, json: { error } });
  });
  for (const title of ['Confirm that it’s you', 'Sign in again']) {
    await page.goto('/console/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const form = page.getByRole('dialog', { name: 'New key' });
    await form.getByLabel('Name').fill(`Key after: ${title}`);
    await form.getByLabel('Kind').selectOption({ label: 'Admin' });
    if (title === 'Sign in again') {
      const cookie = await sessionCookie(page.context(), workspace.base_url);
      await endSession(workspace.base_url, { cookie });
    }
    await form.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog', { name: title });
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    await expect(page.getByRole('dialog', { name: new RegExp(`Key after: ${title}`) })).toContainText('sk_');
  }
  const { data } = await workspace.call('GET', '/v1/api-keys');
  const made = data.filter((each: { name: string }) => each.name.startsWith('Key after'));
  expect(made, 'each was made once').toHaveLength(2);
});

test('a signing key signs an approval whose tier demands it, and the page says what is signed', async ({
  page,
  me,
  workspace,
}) => {
  const { call, agent, spend } = workspace;
  await agent();
  await addAuthenticator(page);
  await page.goto('/console/me');
  await page.getByLabel('Passkey name').fill('Laptop');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await expect(page.getByRole('row', { name: /^Laptop/ })).toBeVisible();
  await page.getByLabel('Signing key name').fill('Approvals');
  await page.getByRole('button', { name: 'Add signing key' }).click();
  const row = page.getByRole('row', { name: /^Approvals/ });
  await expect(row).toContainText(/SHA256:[A-Za-z0-9+/]{43}=/);
  await expect(row).toContainText('Active');
  await expectSettled(page, 'Your account');

  const policy = { tiers: [{ currency: 'EUR', from_minor: 0, approvals: 1, signed: true }] };
  const status = await page.evaluate(async (given) => {
    const send = (method: string, path: string, body: object) =>
      fetch(path, {
        method,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const begun = await (await send('POST', '/v1/review-policy/statement', { policy: given })).json();
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.options);
    const made = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential;
    const signature = { statement: begun.statement, response: made.toJSON() };
    return (await send('PUT', '/v1/review-policy', { policy: given, signature })).status;
  }, policy);
  expect(status).toBe(200);
  await call('PATCH', '/v1/agents/infra-bot', { mode: 'ENFORCE' });
  const { key } = await call('POST', '/v1/api-keys', { name: 'Production', agent_id: 'infra-bot' });
  const { decision_id } = await spend({ amount_minor: 24_900, key });
  await page.goto(`/console/decisions/${decision_id}`);
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(page.getByText('Your passkey signs this approval.')).toBeVisible();
  await expect(page.getByRole('form')).toContainText('249.00');
  await expectAccessible(page, 'an approval to sign');
  await page.getByLabel('Reason').selectOption('WITHIN_PURPOSE');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByText('Allowed').first()).toBeVisible();
  const { data } = await call('GET', `/v1/decisions/${decision_id}/reviews`);
  expect(data[0].signature.statement).toContain(decision_id);
  expect(me.email).toBeTruthy();
});
