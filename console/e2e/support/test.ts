import { test as base, expect, type Page } from '@playwright/test';
import { type Expected, makeGuard } from './guard.ts';
import { makeWorkspace, type Person, type Role, type Workspace } from './workspace.ts';

/** The role that is signed in on a project's pages. Null for none. */
export interface RoleOptions {
  role: Role | null;
  plan: 'free' | 'team';
}

interface Fixtures {
  /** A workspace of this test only. */
  workspace: Workspace;
  /** The person who is signed in on `page`. */
  me: Person;
  /** Declares the refusals that a test expects. */
  expected: Expected;
  /** Opens a page as somebody else in a separate context. It is watched like `page`. */
  openAs: (person: Person | null) => Promise<Page>;
  guard: ReturnType<typeof makeGuard>;
}

const told = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: the tests run by npm run test:browser`);
  return value;
};

/** The suite's `test`: a signed-in page in its own workspace that fails on any unexpected problem. */
export const test = base.extend<Fixtures & RoleOptions>({
  role: [null, { option: true }],
  plan: ['team', { option: true }],
  // biome-ignore lint/correctness/noEmptyPattern: the form that Playwright asks for
  baseURL: async ({}, use) => use(told('E2E_BASE_URL')),
  workspace: async ({ baseURL, plan }, use) => use(await makeWorkspace(baseURL as string, plan)),
  me: async ({ workspace, role }, use) => {
    // Tests without sign-in do not use this person.
    await use(
      role === null ? (null as unknown as Person) : await workspace.person(role, { name: 'Grace Hopper' }),
    );
  },
  storageState: async ({ me }, use) => use(me?.state),
  guard: async ({ baseURL }, use) => {
    const guard = makeGuard(baseURL as string);
    await use(guard);
    expect(guard.problems, 'nothing goes wrong on any page').toEqual([]);
  },
  expected: async ({ guard }, use) => use(guard),
  page: async ({ page, guard }, use) => {
    await guard.watch(page);
    await use(page);
  },
  openAs: async (
    { browser, guard, baseURL, contextOptions, locale, timezoneId, viewport, colorScheme },
    use,
  ) => {
    const opened: { close(): Promise<void> }[] = [];
    await use(async (person) => {
      const context = await browser.newContext({
        ...contextOptions,
        baseURL: baseURL as string,
        ...(locale ? { locale } : {}),
        ...(timezoneId ? { timezoneId } : {}),
        ...(viewport ? { viewport } : {}),
        ...(colorScheme ? { colorScheme } : {}),
        // Otherwise the new context shares the cookies of the test's page, and signing in there would end that session.
        storageState: person === null ? { cookies: [], origins: [] } : person.state,
      });
      opened.push(context);
      const page = await context.newPage();
      await guard.watch(page);
      return page;
    });
    for (const context of opened) await context.close();
  },
});

/**
 * The same with a key that sends requests under the principal of `me`. It is created before they join: afterwards only they
 * could create such a key, and a reviewer cannot.
 */
export const testWithOwnKey = test.extend<{ own_key: string }>({
  own_key: async ({ workspace }, use) => {
    const { key } = await workspace.call('POST', '/v1/api-keys', {
      name: 'A script of mine',
      scopes: ['authorize', 'read'],
      principal_id: 'user:grace',
    });
    await use(key);
  },
  // The key must exist before the person joins.
  me: async ({ workspace, role, own_key: _ }, use) => {
    const given = { name: 'Grace Hopper', principal_id: 'user:grace' };
    await use(await workspace.person(role as Role, given));
  },
});

/** Takes the session away. The page ends with its requests before, so that none of them is sent without the session. */
export async function loseSession(page: Page): Promise<void> {
  await page.goto('about:blank');
  await page.context().clearCookies();
}

export { expect };
