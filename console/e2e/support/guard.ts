import type { Page } from '@playwright/test';

/** Answers that a test calls for itself: others of 400 and above fail it. */
export interface Expected {
  /** From now on answers of this status on paths that match are no failure. */
  answer(status: number, path: RegExp): void;
  /** From now on pages of this origin may be gone to, as those of an identity provider. */
  visit(origin: string): void;
}

/** What happened on pages that must not happen. */
export interface Guard extends Expected {
  watch(page: Page): Promise<void>;
  problems: readonly string[];
}

/**
 * Watches pages: an error in the console, an exception, a breach of the page's policy, a request to another origin, and
 * a refused or failed request that was not called for are problems.
 */
export function makeGuard(base_url: string): Guard {
  const problems: string[] = [];
  const expected: { status: number; path: RegExp }[] = [];
  const origins = new Set([new URL(base_url).origin]);
  return {
    problems,
    answer(status, path) {
      expected.push({ status, path });
    },
    visit(origin) {
      origins.add(origin);
    },
    async watch(page) {
      page.on('console', (message) => {
        // The browser's own note of a refused request; the answer itself is judged below.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
          problems.push(`console: ${message.text()}`);
        }
      });
      page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
      page.on('request', (request) => {
        const url = new URL(request.url());
        if (/^https?:$/.test(url.protocol) && !origins.has(url.origin)) {
          problems.push(`another origin: ${url}`);
        }
      });
      page.on('response', (response) => {
        const { pathname } = new URL(response.url());
        const status = response.status();
        if (status < 400 || expected.some((each) => each.status === status && each.path.test(pathname)))
          return;
        problems.push(`${status} ${response.request().method()} ${pathname}`);
      });
      page.on('requestfailed', (request) => {
        const why = request.failure()?.errorText ?? 'failed';
        // What a screen no longer needs, it gives up by itself.
        if (why !== 'net::ERR_ABORTED') problems.push(`${why}: ${request.url()}`);
      });
      await page.exposeFunction('tellBreach', (breach: string) => problems.push(`policy: ${breach}`));
      await page.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
          (window as unknown as { tellBreach(breach: string): void }).tellBreach(
            `${violatedDirective} ${blockedURI}`,
          );
        });
      });
    },
  };
}
