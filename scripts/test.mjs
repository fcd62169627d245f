// Prepares the clone and runs the tests: `npm test`, and those of the console in a browser after them; or
// `npm test -- <file or option of vitest> …` for some of the first. With `--watch` first it runs what each change concerns,
// until it is stopped.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fail, prepare, ROOT } from './prepare.mjs';
import { testInBrowser } from './test-browser.mjs';

await prepare({ with_dev: true }).catch(fail);
const require = createRequire(join(ROOT, 'package.json'));
const vitest = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
const args = process.argv.slice(2);
const how = args[0] === '--watch' ? ['watch', ...args.slice(1)] : ['run', ...args];
const child = spawn(process.execPath, [vitest, ...how], {
  cwd: ROOT,
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('error', fail);
child.on('close', async (code, signal) => {
  const ended = code ?? (signal === 'SIGINT' ? 130 : 143);
  // Whoever names files or options means those alone. What failed before is told all the same at the end.
  const browser_ended = args.length > 0 || signal !== null ? 0 : await testInBrowser([]).catch(fail);
  process.exit(ended || browser_ended);
});
