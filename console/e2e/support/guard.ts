import type { Page } from '@playwright/test';

/** Declares expected error responses. Any other response of 400 or above fails the test. */
export interface Expected {
  /** Accepts responses with this status on matching paths from now on. */
  answer(status: number, path: RegExp): void;
  /** Accepts navigation to this origin from now on, such as to an identity provider. */
  visit(origin: string): void;
}

/** Problems found on the pages. */
export interface Guard extends Expected {
  watch(page: Page): Promise<void>;
  problems: readonly string[];
}

/**
 * Watches pages. Problems are an error in the console, an exception, a violation of the page's policy, a request to another
 * origin, and an unexpected refused or failed request.
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
        // The browser's own message about a refused request. The response itself is checked below.
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
        // Screens cancel requests that they no longer need.
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
