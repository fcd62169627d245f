/**
 * Yields pages one after another, and loads each while the caller works on the one before it. `load` is called with the
 * previous page (undefined for the first) and returns undefined after the last. An error of the page ahead is thrown
 * when the caller asks for that page; it is never an unhandled rejection, which would end the process. When the
 * generator has ended, also early, no load is running.
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
