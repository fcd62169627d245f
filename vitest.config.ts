import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests beside the code that start a PostgreSQL or processes of their own. */
const NEEDS_POSTGRES = ['server/src/service/installation/data-directory*.test.ts'];
const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * `first` is `npm test`: it leaves out the files of the second tier, named `*.long.test.ts`. `all` is `npm run test:all`.
 * Unset, as for `npm test -- <path>`, a file of either tier can be named.
 */
const TESTS = process.env.TESTS;
const LEFT_OUT = ['**/dist/**', '**/node_modules/**', ...(TESTS === 'first' ? ['**/*.long.test.ts'] : [])];

/** How often each property is tried in the first tier, and in `npm run test:all`. The environment has the last word. */
const RUNS: Record<string, [first: number, all: number]> = {
  ALLOWANCE_END_ROUNDS: [4, 20],
  ALLOWANCE_RUNS: [1, 1],
  AMOUNTS_RUNS: [2_000, 20_000],
  BUDGETS_RUNS: [1, 4],
  CARD_ORDERS_RUNS: [20, 200],
  CARD_RUNS: [30, 60],
  EXPORT_RUNS: [60, 60],
  FAKE_RUNS: [10, 20],
  FAULT_RUNS: [20, 20],
  FIND_RUNS: [15, 25],
  FORGERY_RUNS: [22, 110],
  GATEWAY_RUNS: [60, 600],
  HISTORIES_RUNS: [1, 3],
  HOSTILE_RUNS: [60, 150],
  IMPORT_KILL_ROUNDS: [1, 2],
  KNOWN_ROWS_RUNS: [3, 8],
  LEASE_RUNS: [10, 60],
  MANDATE_ROUNDS: [30, 100],
  MANDATE_RUNS: [40, 200],
  ONE_BATCH_RUNS: [8, 12],
  PURPOSE_CODE_POINTS: [90_001, 9_001],
  PURPOSE_RUNS: [500, 1_000],
  RACES: [20, 100],
  REMEDY_RUNS: [50, 150],
  REPORT_RUNS: [2, 6],
  SCOPE_KINDS: [1, 9],
  SHARED_BUDGET_RUNS: [1, 1],
  SIMULATIONS_RUNS: [1, 4],
  SINCE_RUNS: [20, 1_000],
  SPEND_RUNS: [10, 20],
  STUCK_ROUNDS: [1, 2],
  TAKEOVER_RUNS: [1, 2],
  TAMPER_EDITS: [1, 1],
  WALK_ROUNDS: [4, 20],
  X402_RUNS: [15, 25],
};
const runs = Object.fromEntries(
  Object.entries(RUNS).map(([name, [first, all]]) => [
    name,
    process.env[name] ?? String(TESTS === 'all' ? all : first),
  ]),
);

export default defineConfig({
  // Tests run the sources of all packages, never what was built of them.
  resolve: {
    alias: {
      '@purser/contract': source('./packages/contract/src'),
      '@purser/rules': source('./packages/rules/src'),
      '@purser/rail-events': source('./packages/rail-events/src'),
      '@purser/embedded-postgres': source('./packages/embedded-postgres/src/index.ts'),
      '@purser/purpose-data': source('./packages/purpose-data/src/index.ts'),
      '@purser/mcp/money': source('./mcp/src/money.ts'),
      '@purser/mcp/stdio': source('./mcp/src/stdio.ts'),
      '@purser/mcp': source('./mcp/src/index.ts'),
      '@purser/adapters': source('./adapters/src'),
      '@purser/sdk/webhooks': source('./sdk/src/webhooks.ts'),
      '@purser/sdk/testing': source('./sdk/src/testing/index.ts'),
      '@purser/sdk': source('./sdk/src/index.ts'),
      '@purser/server/tools': source('./server/src/tools.ts'),
    },
  },
  test: {
    // A bound for what hangs. A file whose tests take longer on a busy machine says so with `takesMinutes`.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more than the cores of a small machine, since many tests wait: for PostgreSQL, for processes, for an answer.
    maxWorkers: Math.max(3, availableParallelism()),
    env: runs,
    // A run of a clone that was tested before does not compile its sources again.
    experimental: { fsModuleCache: true },
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
            'gateway/src/**/*.test.ts',
            'cli/src/**/*.test.ts',
            'tools/**/*.test.ts',
            'console/src/**/*.test.ts',
            'console/tests/**/*.test.ts',
          ],
          exclude: [...NEEDS_POSTGRES, ...LEFT_OUT],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: [
            'server/tests/**/*.test.ts',
            'packages/*/tests/**/*.test.ts',
            '{sdk,mcp,agents,adapters,gateway,cli}/tests/**/*.test.ts',
            ...NEEDS_POSTGRES,
          ],
          exclude: LEFT_OUT,
          globalSetup: ['server/tests/support/global-setup.ts'],
        },
      },
    ],
  },
});
