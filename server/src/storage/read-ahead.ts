/**
 * Gives page after page, each read while the one before it is worked on. `load` is given the page before, undefined for
 * the first, and gives undefined after the last. What goes wrong with the page ahead is thrown when its turn comes; it
 * is never a rejection that nobody handles, which would end the process. Once the generator has ended, also early,
 * nothing is being read any more.
 */
export async function* readAhead<Page>(
  load: (before: Page | undefined) => Promise<Page | undefined>,
): AsyncGenerator<Page, void, void> {
  let next = load(undefined);
  try {
    for (let page = await next; page !== undefined; page = await next) {
      next = load(page);
      next.catch(() => {});
      yield page;
    }
  } finally {
    await next.catch(() => {});
  }
}
