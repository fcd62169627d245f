import { expect, type Page } from '@playwright/test';

/** The most that a page may move while it loads, as browsers measure it: good is less than 0.1. */
const MOST = 0.05;

interface Shift extends PerformanceEntry {
  value: number;
  hadRecentInput: boolean;
  sources: { node: Node | null }[];
}

interface Watching {
  shifted: { value: number; by: string[] }[];
}

/** Notes from now on how far the content of each loaded page moves without anybody's doing. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const watching = window as unknown as Watching;
    watching.shifted = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Shift[]) {
        if (entry.hadRecentInput) continue;
        const by = entry.sources.map(({ node }) => (node as Element | null)?.outerHTML?.slice(0, 120) ?? '');
        watching.shifted.push({ value: entry.value, by });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

/** Expects that the page hardly moved while it loaded. */
export async function expectStill(page: Page, what: string): Promise<void> {
  const shifted = await page.evaluate(async () => {
    // Two frames: what was painted last is reported with the next one.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return (window as unknown as Watching).shifted;
  });
  const sum = shifted.reduce((before, { value }) => before + value, 0);
  expect(sum, `${what} stays where it is:\n${JSON.stringify(shifted, null, 1)}`).toBeLessThanOrEqual(MOST);
}
