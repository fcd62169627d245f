import { expect, test } from '../support/test.ts';
import { PASSWORD } from '../support/workspace.ts';

const FIRST = { email: 'first@example.com', name: 'Frances Allen' };

// Serial, since the first administrator is created once.
test.describe.configure({ mode: 'serial' });

test('the setup link creates the first administrator', { tag: '@smoke' }, async ({ page }) => {
  const setup_url = process.env.E2E_SETUP_URL as string;
  expect(new URL(setup_url).hash, 'the code reaches no log and no other server').toMatch(/^#[0-9A-Z-]{16,}$/);
  await page.goto(setup_url);
  await expect(page.getByRole('heading', { level: 1, name: 'Set up Purser' })).toBeVisible();
  await page.getByLabel('E-mail').fill(FIRST.email);
  await page.getByLabel('Name').fill(FIRST.name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create administrator' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await expect(page.getByRole('link', { name: /Frances Allen/ })).toContainText('Admin');
});

test('the setup link works once', { tag: '@smoke' }, async ({ page, expected }) => {
  expected.answer(409, /^\/v1\/auth\/setup$/);
  await page.goto(process.env.E2E_SETUP_URL as string);
  await page.getByLabel('E-mail').fill('second@example.com');
  await page.getByLabel('Name').fill('Somebody Else');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create administrator' }).click();
  await expect(page.getByRole('alert')).toContainText('already set up');
});

test('the first administrator signs in with the password', { tag: '@smoke' }, async ({ page, expected }) => {
  expected.answer(401, /^\/v1\/me$/);
  await page.goto('/console/');
  await page.getByLabel('E-mail').fill(FIRST.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
});
