import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** Expects no violation of WCAG 2.2 AA or of axe's best practices. The debugger runs axe, so the page's own policy stays active. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(SOURCE);
  const violations = await page.evaluate(async (tags) => {
    const { axe } = window as unknown as {
      axe: { run(on: Document, options: object): Promise<{ violations: Violation[] }> };
    };
    return (await axe.run(document, { runOnly: tags })).violations;
  }, TAGS);
  const told = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((each) => `${each.html} (${each.failureSummary})`).join('\n')}`,
  );
  expect(told, `${what} is accessible`).toEqual([]);
}

/** Expects that the page does not scroll sideways. */
export async function expectNoSidewaysScroll(page: Page, what: string): Promise<void> {
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(excess, `${what} fits its width`).toBeLessThanOrEqual(0);
}

/** Waits until a screen has its heading and has finished loading. */
export async function expectSettled(page: Page, heading: string | RegExp): Promise<void> {
  await expect(page.getByRole('heading', { level: 1, name: heading })).toBeVisible();
  await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0);
}
