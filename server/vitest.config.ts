import { defineConfig } from 'vitest/config';

/** Test files beside the code that start a PostgreSQL or processes of their own. */
const NEEDS_POSTGRES = ['src/storage/data-directory.test.ts'];

export default defineConfig({
  test: {
    // No more than a bound for what hangs: on a busy machine anything may take its time.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['src/**/*.test.ts'], exclude: NEEDS_POSTGRES },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['tests/**/*.test.ts', ...NEEDS_POSTGRES],
          globalSetup: ['tests/global-setup.ts'],
        },
      },
    ],
  },
});
