import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests beside the code that start a PostgreSQL or processes of their own. */
const NEEDS_POSTGRES = ['server/src/service/installation/data-directory*.test.ts'];
const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // Tests run the sources of all packages, never what was built of them.
  resolve: {
    alias: {
      '@purser/contract': source('./packages/contract/src'),
      '@purser/rules': source('./packages/rules/src'),
      '@purser/embedded-postgres': source('./packages/embedded-postgres/src/index.ts'),
      '@purser/purpose-data': source('./packages/purpose-data/src/index.ts'),
      '@purser/mcp/money': source('./mcp/src/money.ts'),
      '@purser/mcp/stdio': source('./mcp/src/stdio.ts'),
      '@purser/mcp': source('./mcp/src/index.ts'),
      '@purser/sdk/webhooks': source('./sdk/src/webhooks.ts'),
      '@purser/sdk/testing': source('./sdk/src/testing/index.ts'),
      '@purser/sdk': source('./sdk/src/index.ts'),
      '@purser/server/tools': source('./server/src/tools.ts'),
    },
  },
  test: {
    // No more than a bound for what hangs: on a busy machine anything may take its time.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // One more than the two cores of a small machine, since many tests wait: for PostgreSQL, for processes, for an answer.
    maxWorkers: 3,
    // Files run one after the other in the same processes: loading the service anew for each cost more than most tests.
    isolate: false,
    setupFiles: ['server/tests/support/process-as-found.ts'],
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'server/src/**/*.test.ts',
            'packages/*/src/**/*.test.ts',
            'mcp/src/**/*.test.ts',
            'cli/src/**/*.test.ts',
            'tools/**/*.test.ts',
            'console/src/**/*.test.ts',
            'console/tests/**/*.test.ts',
          ],
          exclude: [...NEEDS_POSTGRES, '**/dist/**', '**/node_modules/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: [
            'server/tests/**/*.test.ts',
            'packages/*/tests/**/*.test.ts',
            '{sdk,mcp,agents,adapters,cli}/tests/**/*.test.ts',
            ...NEEDS_POSTGRES,
          ],
          globalSetup: ['server/tests/support/global-setup.ts'],
        },
      },
    ],
  },
});
