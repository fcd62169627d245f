// Prepares the clone and runs the tests. `npm test` runs the first tier, a few tests in a browser, and those of the Python client
// where Python is there; `npm run test:all` (`--all` first) runs everything, also under other run times of JavaScript. `npm test -- <file or option of vitest> …` runs
// some files of either tier. With `--watch` first it runs what each change concerns, until it is stopped.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fail, prepare, ROOT } from './prepare.mjs';
import { testInBrowser } from './test-browser.mjs';
import { testPython } from './test-python.mjs';
import { installRuntimes } from './test-runtimes.mjs';

const FIRST_TIER = `npm test: every guarantee, in about 5 minutes on two quiet cores.
Left out are the dearest proofs, which npm run test:all runs too, in about 15 minutes: kills of processes, starts and backups,
whatever waits long, packed packages and other run times, most tests in a browser, long runs of the property tests.`;
const ALL = 'npm run test:all: everything, in about 15 minutes on two quiet cores.';

/** Runs vitest. Resolves to its exit code, and whether a signal ended it. */
function vitest(args, env = {}) {
  const require = createRequire(join(ROOT, 'package.json'));
  const program = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
  const child = spawn(process.execPath, [program, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code: code ?? (signal === 'SIGINT' ? 130 : 143), is_ended: signal !== null }),
    );
  });
}

/** Runs every test, those of the console in a browser even where some of the others failed. */
async function testAll(args) {
  const runtimes = installRuntimes();
  try {
    const { code, is_ended } = await vitest(['run', ...args], { TESTS: 'all', ...runtimes.env });
    if (is_ended) return code;
    const browser_code = await testInBrowser([]);
    return code || browser_code;
  } finally {
    runtimes.remove();
  }
}

/** Runs the first tier, then a few tests in a browser and those of the Python client, even where some of the first failed. */
async function testFirst() {
  const { code, is_ended } = await vitest(['run'], { TESTS: 'first' });
  if (is_ended) return code;
  // Side by side, as one waits for pages and the other for one processor. With an argument for pytest its checks of types and
  // style are left out.
  const codes = await Promise.all([testInBrowser(['--grep', '@smoke']), testPython(['--if-present', '-q'])]);
  return code || codes.find((each) => each !== 0) || 0;
}

async function main([first, ...rest]) {
  if (first === '--all') console.error(ALL);
  if (first === undefined) console.error(FIRST_TIER);
  await prepare({ with_dev: true });
  if (first === '--all') return testAll(rest);
  if (first === undefined) return testFirst();
  return (await vitest(first === '--watch' ? ['watch', ...rest] : ['run', first, ...rest])).code;
}

process.exit(await main(process.argv.slice(2)).catch(fail));
