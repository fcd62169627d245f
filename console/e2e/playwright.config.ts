import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@playwright/test';
import type { RoleOptions } from './support/test.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** The browser found by `scripts/test-browser.mjs`. Defaults to Playwright's own. */
const executablePath = process.env.CHROMIUM_PATH;
/** Chromium's sandbox does not work as root. */
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const PHONE = { width: 390, height: 844 };

export default defineConfig<RoleOptions>({
  testDir: HERE,
  outputDir: join(HERE, 'results'),
  globalSetup: './support/global-setup.ts',
  // No retries: a flaky test is a bug.
  retries: 0,
  // One more than the cores of a small machine, since workers often wait for browser and service.
  workers: Math.max(3, availableParallelism()),
  fullyParallel: true,
  forbidOnly: true,
  // Only catches hangs: everything can be slow on a busy machine.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  reporter: [
    ['list'],
    ...(process.env.E2E_JSON ? [['json', { outputFile: process.env.E2E_JSON }] as const] : []),
  ],
  use: {
    browserName: 'chromium',
    launchOptions: { args, ...(executablePath ? { executablePath } : {}) },
    locale: 'en-US',
    timezoneId: 'America/Denver',
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
    // Off by default: a trace slows every test down by a fifth.
    trace: process.env.TRACE ? 'retain-on-failure' : 'off',
    contextOptions: { reducedMotion: 'reduce' },
  },
  projects: [
    // A service has one first administrator. Everybody else joins by invitation.
    { name: 'setup', testDir: join(HERE, 'setup'), use: { role: null } },
    { name: 'signed-out', testDir: join(HERE, 'signed-out'), dependencies: ['setup'], use: { role: null } },
    { name: 'admin', testDir: join(HERE, 'admin'), dependencies: ['setup'], use: { role: 'admin' } },
    { name: 'reviewer', testDir: join(HERE, 'reviewer'), dependencies: ['setup'], use: { role: 'reviewer' } },
    { name: 'viewer', testDir: join(HERE, 'viewer'), dependencies: ['setup'], use: { role: 'viewer' } },
    {
      name: 'keyboard-only',
      testDir: join(HERE, 'keyboard'),
      dependencies: ['setup'],
      use: { role: 'admin' },
    },
    {
      name: 'mobile',
      testDir: join(HERE, 'mobile'),
      dependencies: ['setup'],
      use: { role: 'reviewer', viewport: PHONE, hasTouch: true },
    },
    // Checks every screen in light and dark mode and on a phone.
    { name: 'light', testDir: join(HERE, 'screens'), dependencies: ['setup'], use: { role: 'admin' } },
    {
      name: 'dark',
      testDir: join(HERE, 'screens'),
      dependencies: ['setup'],
      use: { role: 'admin', colorScheme: 'dark' },
    },
    {
      name: 'phone',
      testDir: join(HERE, 'screens'),
      dependencies: ['setup'],
      use: { role: 'admin', viewport: PHONE, hasTouch: true },
    },
    // Creates the guide's pictures only on request, since fonts differ between machines.
    ...(process.env.PICTURES
      ? [
          {
            name: 'pictures',
            testDir: join(HERE, 'pictures'),
            dependencies: ['setup'],
            use: { role: 'admin' as const },
          },
        ]
      : []),
  ],
});
