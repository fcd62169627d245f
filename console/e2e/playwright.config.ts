import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@playwright/test';
import type { RoleOptions } from './support/test.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** The browser that `scripts/test-browser.mjs` found; without it the one that Playwright installed. */
const executablePath = process.env.CHROMIUM_PATH;
/** Chromium's own sandbox cannot be had by root. */
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const PHONE = { width: 390, height: 844 };

export default defineConfig<RoleOptions>({
  testDir: HERE,
  outputDir: join(HERE, 'results'),
  globalSetup: './support/global-setup.ts',
  // A test that fails now and then is a fault: nothing is tried twice.
  retries: 0,
  // One more than the two cores of a small machine: each waits for its browser and the service as often as it works.
  workers: 3,
  fullyParallel: true,
  forbidOnly: true,
  // No more than a bound for what hangs: on a busy machine anything may take its time.
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
    // Of what failed and is not understood: a trace costs every test a fifth of its time.
    trace: process.env.TRACE ? 'retain-on-failure' : 'off',
    contextOptions: { reducedMotion: 'reduce' },
  },
  projects: [
    // The first administrator can be made once for a service; everybody else comes by invitation.
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
    // Every screen is looked at in light, in dark and on a phone.
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
    // The guide's pictures are made only when they are asked for: fonts differ between machines.
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
