import { test as base, expect, type Page } from '@playwright/test';
import { type Expected, makeGuard } from './guard.ts';
import { makeWorkspace, type Person, type Role, type Workspace } from './workspace.ts';

/** Who is signed in in a project's pages; null: nobody. */
export interface RoleOptions {
  role: Role | null;
  plan: 'free' | 'team';
}

interface Fixtures {
  /** A workspace that no other test knows. */
  workspace: Workspace;
  /** Who is signed in in `page`. */
  me: Person;
  /** Says which refusals a test calls for. */
  expected: Expected;
  /** A page of somebody else, in a browser of their own. It is watched as `page` is. */
  openAs: (person: Person | null) => Promise<Page>;
  guard: ReturnType<typeof makeGuard>;
}

const told = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: the tests run by npm run test:browser`);
  return value;
};

/** The test of this suite: a page that nothing goes wrong on, as somebody, in a workspace of its own. */
export const test = base.extend<Fixtures & RoleOptions>({
  role: [null, { option: true }],
  plan: ['team', { option: true }],
  // biome-ignore lint/correctness/noEmptyPattern: the form that Playwright asks for
  baseURL: async ({}, use) => use(told('E2E_BASE_URL')),
  workspace: async ({ baseURL, plan }, use) => use(await makeWorkspace(baseURL as string, plan)),
  me: async ({ workspace, role }, use) => {
    // Where nobody is signed in, no test asks who it is.
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
        // A new context otherwise has the cookies of the test's own page, and signing in there would end that session.
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
 * The same with a key that requests spends in the name of `me`. It is made before they join: afterwards nobody but they
 * themselves makes a key with their principal, and a reviewer makes none.
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
  // The key comes first.
  me: async ({ workspace, role, own_key: _ }, use) => {
    const given = { name: 'Grace Hopper', principal_id: 'user:grace' };
    await use(await workspace.person(role as Role, given));
  },
});

export { expect };
